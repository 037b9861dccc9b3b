/* card_models.c: the parameters of the timing model, each with its source.
 *
 * "data sheet": the vendor's published figure. "assumed": our choice of a round number in the range of such machines.
 * "measured": by the source that is named, not by Ferry. A new card is a new row. tests/timetable_test.c compares
 * modelled copies with the measurements named here. */
#include <strings.h>

#include "card_params.h"

static const fy_card host = {
    .name = "CPU (modelled)",
    .key = "host",
    .capacity = (int64_t)16 << 30, /* assumed; the same on every machine, so that logs are too */
    .flops_f32 = 100e9,            /* assumed: one core with 256-bit vectors */
    .memory_bandwidth = 20e9,      /* assumed: one core's share of DDR5 */
    .bus_bandwidth = 20e9,         /* host-to-host copies run at RAM bandwidth */
    .staging_bandwidth = 20e9,
    .staging_chunk = 4 << 20,
    .bus_latency = 0,
    .call_overhead = 500, /* assumed: a library call with its argument checks */
    .launch_overhead = 500,
    .kernel_latency = 0,
};

static const fy_card cards[] = {
    {
        .name = "NVIDIA H200",
        .key = "h200",
        .capacity = 141000000000,   /* data sheet, H200 SXM: 141 GB HBM3e */
        .flops_f32 = 67e12,         /* data sheet: 67 TFLOPS FP32, outside tensor cores */
        .flops_f64 = 34e12,         /* data sheet: 34 TFLOPS FP64, outside tensor cores */
        .flops_f16 = 790e12,        /* measured: 769 to 798 TFLOPS of bfloat16 products on an H200 */
        .flops_f16_peak = 989e12,   /* data sheet: 1,979 TFLOPS with sparsity, half of that without */
        .memory_bandwidth = 4.8e12, /* data sheet: 4.8 TB/s */
        .bus_bandwidth = 50e9,      /* assumed, for PCIe Gen5 x16; data sheet: 128 GB/s both ways. NVIDIA's blog on
                                       nvbandwidth shows 55.63 GB/s host to device, possibly on another card */
        .peer_bandwidth = 390e9,    /* assumed; NVLink has 450 GB/s each way (data sheet: 900 both ways). Measured on
                                       the H100, same NVLink: 380 GB/s one way, github.com/NVIDIA/nccl/issues/1264 */
        .staging_bandwidth = 10e9,  /* assumed: one core copying into pinned memory */
        .staging_chunk = 4 << 20,   /* assumed; the driver's own figure is not published */
        .bus_latency = 2000,        /* assumed: setup of one DMA transfer */
        .call_overhead = 3000,      /* assumed: host time of a copy or a wait */
        .launch_overhead = 4000,    /* assumed: host time of a launch */
        .kernel_latency = 3000,     /* assumed: head of the queue to first instruction, and completion */
        .launch_queue = 1024,       /* assumed: a loop of launches blocks after about this many; undocumented */
        .malloc_overhead = 100000,  /* assumed: cudaMalloc */
        .free_overhead = 100000,    /* assumed: cudaFree */
        .pin_overhead = 50000,      /* assumed: cudaHostAlloc of a small size */
        .pin_bandwidth = 2.8e9,     /* measured: 32 MB in 11.6 ms, github.com/rapidsai/dask-cuda/issues/106 */
        .unpin_bandwidth = 11e9,    /* assumed: four times as fast as pinning */
        .multiprocessors = 132,     /* data sheet of the H100 SXM, the same chip */
        .threads_each = 2048,       /* CUDA programming guide, compute capability 9.0 */
    },
    {
        .name = "NVIDIA GeForce RTX 4060 Laptop GPU",
        .key = "laptop",
        .capacity = (int64_t)8 << 30, /* data sheet: 8 GB GDDR6 */
        .flops_f32 = 9e12,      /* data sheet: 3072 cores, boost from 1.47 GHz (35 W); 14.6e12 at 2.37 GHz (115 W) */
        .flops_f64 = 9e12 / 64, /* whitepaper of the Ada architecture: 1/64 of the rate of float32 */
        .flops_f16 = 18e12,     /* from there: with float32 sums 165.2 TFLOPS to 82.6 outside tensor cores (RTX 4090) */
        .flops_f16_peak = 18e12,   /* the same: no measurement is known */
        .memory_bandwidth = 256e9, /* data sheet: 128 bits of 16 Gbps */
        .bus_bandwidth = 12.2e9,   /* PCIe 4.0 x8, as fast as 3.0 x16: 15.75 GB/s less packet headers. Measured on a
                                      laptop, pinned: 11.4 GiB/s, github.com/tracel-ai/cubecl/issues/539; on 3.0 x16
                                      with a P100: 12.15 and 12.89 GB/s, github.com/mpicbg-scicomp/gearshifft/pull/82 */
        .staging_bandwidth = 6e9,  /* measured on 3.0 x16: 5 to 6 GB/s pageable, 11 to 12 pinned,
                                      github.com/rapidsai/dask-cuda/pull/98 */
        .staging_chunk = 1 << 20,  /* assumed */
        .bus_latency = 3000,       /* from here on: assumed, as for the H200, with a slower host */
        .call_overhead = 5000,
        .launch_overhead = 5000,
        .kernel_latency = 4000,
        .launch_queue = 1024,
        .malloc_overhead = 150000,
        .free_overhead = 150000,
        .pin_overhead = 80000,
        .pin_bandwidth = 2.8e9, /* measured, as for the H200 */
        .unpin_bandwidth = 11e9,
        .multiprocessors = 24, /* data sheet: 3072 cores, 128 each */
        .threads_each = 1536,  /* compute capability 8.9 */
    },
    {
        .name = "NVIDIA GeForce GTX 680",
        .key = "old",
        .capacity = (int64_t)2 << 30, /* data sheet, 2012: 2 GB GDDR5 */
        .flops_f32 = 3.09e12,         /* data sheet: 1536 cores, two operations per clock at 1006 MHz */
        .flops_f64 = 3.09e12 / 24,    /* CUDA programming guide, compute capability 3.0: 8 results a clock to 192 */
        .flops_f16 = 3.09e12,         /* no tensor cores: products of 16-bit floats are computed in float32 */
        .flops_f16_peak = 3.09e12,
        .memory_bandwidth = 192.2e9, /* data sheet: 192.2 GB/s */
        .bus_bandwidth = 6.4e9,     /* measured, pinned, 16 MiB: 6.19 GB/s there, 6.67 back, and pageable 5.37 and 5.63:
                                       "How to Optimize Data Transfers in CUDA C/C++", NVIDIA's developer blog, 2012 */
        .staging_bandwidth = 5.6e9, /* from the same measurements */
        .staging_chunk = 512 << 10, /* assumed */
        .bus_latency = 5000,        /* from here on: assumed; older drivers and hosts are slower */
        .call_overhead = 8000,
        .launch_overhead = 8000,
        .kernel_latency = 6000,
        .launch_queue = 1024,
        .malloc_overhead = 200000,
        .free_overhead = 200000,
        .pin_overhead = 100000,
        .pin_bandwidth = 2e9,
        .unpin_bandwidth = 8e9,
        .multiprocessors = 8, /* data sheet: 1536 cores, 192 each */
        .threads_each = 2048, /* compute capability 3.0 */
    },
};

const fy_card *fy_card_host(void) { return &host; }

const fy_card *fy_card_find(const char *key)
{
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        if (strcasecmp(cards[i].key, key) == 0) return &cards[i];
    return NULL;
}

const char *fy_card_keys(void) { return "h200, laptop, old"; }
