/* card.c: the figures that modelled times are made of, each with its source.
 *
 * "data sheet" means the vendor's published figure. "assumed" means our choice of a round number in
 * the range that such machines show; nothing here was measured by Ferry. The figures are data: a new
 * card is a new row. */
#include <strings.h>

#include "device.h"

static const fy_card host = {
    .name = "CPU (modelled)",
    .key = "host",
    .capacity = (int64_t)16 << 30, /* assumed; the same on every machine, so that logs are too */
    .flops_f32 = 100e9,            /* assumed: one core with 256-bit vectors */
    .memory_bandwidth = 20e9,      /* assumed: one core's share of DDR5 */
    .bus_bandwidth = 20e9,         /* copies from RAM to RAM go at RAM's speed */
    .staging_bandwidth = 20e9,
    .staging_chunk = 4 << 20,
    .bus_latency = 0,
    .call_overhead = 500, /* assumed: a library call with its checks */
    .launch_overhead = 500,
    .kernel_latency = 0,
};

static const fy_card cards[] = {
    {
        .name = "NVIDIA H200",
        .key = "h200",
        .capacity = 141000000000,   /* data sheet, H200 SXM: 141 GB HBM3e */
        .flops_f32 = 67e12,         /* data sheet: 67 TFLOPS FP32, outside tensor cores */
        .memory_bandwidth = 4.8e12, /* data sheet: 4.8 TB/s */
        .bus_bandwidth = 50e9,      /* assumed: of PCIe Gen5 x16, 128 GB/s both ways by the data sheet */
        .staging_bandwidth = 10e9,  /* assumed: one core copying into page-locked memory */
        .staging_chunk = 4 << 20,   /* assumed; the driver's own figure is not published */
        .bus_latency = 2000,        /* assumed: start of one DMA transfer */
        .call_overhead = 3000,      /* assumed: a copy, an allocation or a wait as the host sees it */
        .launch_overhead = 4000,    /* assumed: a launch as the host sees it */
        .kernel_latency = 3000,     /* assumed: head of the queue to first instruction, and back */
        .peer_bandwidth = 450e9,    /* data sheet: NVLink, 900 GB/s, both ways together */
        .launch_queue = 1024,       /* assumed: what launch loops show on CUDA cards; not documented */
        .malloc_overhead = 100000,  /* assumed: cudaMalloc, 0.1 ms */
        .free_overhead = 100000,    /* assumed: cudaFree */
        .pin_overhead = 50000,      /* assumed: cudaHostAlloc, one call into the kernel */
        .pin_bandwidth = 4e9,       /* assumed: 1 us for each page of 4 KiB: to fault it in, clear and map it */
        .unpin_bandwidth = 16e9,    /* assumed: a quarter of that to let it go */
    },
};

const fy_card *fy_card_host(void) { return &host; }

const fy_card *fy_card_find(const char *key)
{
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        if (strcasecmp(cards[i].key, key) == 0) return &cards[i];
    return NULL;
}

const char *fy_card_keys(void) { return "h200"; }
