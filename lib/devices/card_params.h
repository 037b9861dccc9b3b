/* card_params.h: a card's model parameters by name, for FERRY_SIM, `ferry whatif` and the session event. All are
 * integers below 2^53, so that JSON carries them exactly and a replay uses the same model. */
#ifndef FERRY_CARD_PARAMS_H
#define FERRY_CARD_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Model parameters of a card or of the host, each with its source in card_models.c. */
typedef struct fy_card {
    const char *name;         /* "NVIDIA H200" */
    const char *key;          /* "h200" */
    int64_t capacity;         /* bytes of VRAM, as sold */
    double flops_f32;         /* per second, outside tensor cores */
    double memory_bandwidth;  /* bytes per second, VRAM (RAM for the host) */
    double bus_bandwidth;     /* bytes per second each way, pinned */
    double peer_bandwidth;    /* bytes per second to another card of this model; 0: same as bus_bandwidth */
    double staging_bandwidth; /* bytes per second, memcpy into the pinned staging buffer */
    int64_t staging_chunk;    /* bytes of one staging buffer */
    int64_t bus_latency;      /* ns, one transfer */
    int64_t call_overhead;    /* ns the host spends in a copy, record, query or sync call */
    int64_t launch_overhead;  /* ns the host spends in a launch */
    int64_t kernel_latency;   /* ns from the head of the queue to the first instruction, and for completion */
    int64_t multiprocessors;  /* multiProcessorCount */
    int64_t threads_each;     /* maxThreadsPerMultiProcessor: both determine which thread draws which random number */
    int64_t launch_queue;     /* launches pending in a stream before the host blocks; 0: unlimited */
    int64_t malloc_overhead;  /* ns, cudaMalloc */
    int64_t free_overhead;    /* ns, cudaFree, cudaFreeHost, once the card is idle */
    int64_t pin_overhead;     /* ns, cudaHostAlloc, independent of size */
    double pin_bandwidth;     /* bytes per second page-locked by cudaHostAlloc; 0: takes no time */
    double unpin_bandwidth;   /* likewise for cudaFreeHost */
    double flops_f64;         /* per second; 0: as flops_f32 */
    double flops_f16;         /* per second, achieved by products of 16-bit floats in tensor cores; 0: as flops_f32 */
    double flops_f16_peak;    /* per second, the published figure: shown beside flops_f16, and used for nothing */
} fy_card;

typedef enum fy_unit { FY_UNIT_BYTES, FY_UNIT_RATE, FY_UNIT_FLOPS, FY_UNIT_TIME, FY_UNIT_COUNT } fy_unit;

typedef struct fy_card_param {
    const char *option; /* "bus" in FERRY_SIM */
    const char *name;   /* "bus_bandwidth" in the session event */
    size_t offset;      /* in fy_card */
    fy_unit unit;
    bool real;           /* stored as a double, else as an int64_t */
    bool host;           /* does the host have it too? */
    int64_t least, most; /* valid range */
    const char *example; /* "bus=8GB/s" */
    bool newer;          /* logs of earlier versions lack it: 0 there */
} fy_card_param;

extern const fy_card_param fy_card_params[]; /* ends with a NULL option */

int64_t fy_card_param_get(const fy_card *card, const fy_card_param *f);
void fy_card_param_set(fy_card *card, const fy_card_param *f, int64_t value);
/* Parses n characters, "8GB/s" or "1.5us"; false if malformed or the unit is missing. */
bool fy_card_param_read(const char *text, size_t n, fy_unit unit, int64_t *value);
/* Applies n characters of an option, "bus=8GB/s", to the card; false with the reason in `why`. */
bool fy_card_param_option(fy_card *card, const char *option, size_t n, char *why, size_t room);

/* card_models.c: a card by its key ("h200"), or NULL. The list of keys is for messages. */
const fy_card *fy_card_host(void);
const fy_card *fy_card_find(const char *key);
const char *fy_card_keys(void);
/* card_file.c: a card from a file of name = value lines; its key is `path`, its name in `name`, both kept by the
 * caller. False: `why` names the line, its value and the fix. */
enum { FY_CARD_NAME = 100 };
bool fy_card_file_read(const char *path, fy_card *card, char *name, char *why, size_t room);
#define FY_SIM_CAPACITY ((int64_t)512 << 20) /* default VRAM of a simulated card, the same on every machine */
#define FY_SIM_MOST_CAPACITY ((int64_t)1 << 46)

#endif
