/* card_params.h: the figures of a card by their names: in FERRY_SIM and `ferry whatif`, and in the session event. All
 * are whole numbers below 2^53, so that a log gives back exactly what the model was run with. */
#ifndef FERRY_FIGURE_H
#define FERRY_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The figures of a card or of the host, each with its source in card_models.c. */
typedef struct fy_card {
    const char *name;         /* "NVIDIA H200" */
    const char *key;          /* "h200" */
    int64_t capacity;         /* bytes of VRAM on the product */
    double flops_f32;         /* per second, outside tensor cores */
    double memory_bandwidth;  /* bytes per second, VRAM (RAM for the host) */
    double bus_bandwidth;     /* bytes per second each way, pinned */
    double peer_bandwidth;    /* bytes per second to another card of the kind; 0: the bus's */
    double staging_bandwidth; /* bytes per second, memcpy into the pinned staging buffer */
    int64_t staging_chunk;    /* bytes of one staging buffer */
    int64_t bus_latency;      /* ns, one transfer */
    int64_t call_overhead;    /* ns the host spends in a copy, record, query or sync call */
    int64_t launch_overhead;  /* ns the host spends in a launch */
    int64_t kernel_latency;   /* ns from the head of the queue to the first instruction, and back */
    int64_t multiprocessors;  /* CUDA's multiProcessorCount, */
    int64_t threads_each;     /* and maxThreadsPerMultiProcessor: how random numbers are shared out hangs on them */
    int64_t launch_queue;     /* pieces of work of a stream that may be to come; 0: any number */
    int64_t malloc_overhead;  /* ns, cudaMalloc */
    int64_t free_overhead;    /* ns, cudaFree, cudaFreeHost, once the card is idle */
    int64_t pin_overhead;     /* ns, cudaHostAlloc of any size */
    double pin_bandwidth;     /* bytes per second that it page-locks; 0: that costs nothing */
    double unpin_bandwidth;   /* and gives free; 0 likewise */
} fy_card;

typedef enum fy_unit { FY_UNIT_BYTES, FY_UNIT_RATE, FY_UNIT_FLOPS, FY_UNIT_TIME, FY_UNIT_COUNT } fy_unit;

typedef struct fy_card_param {
    const char *option; /* "bus" in FERRY_SIM */
    const char *name;   /* "bus_bandwidth" in the session event */
    size_t offset;      /* in fy_card */
    fy_unit unit;
    bool real;           /* a double there, else an int64_t */
    bool host;           /* has the host it too? */
    int64_t least, most; /* what may be asked for */
    const char *example; /* "bus=8GB/s" */
} fy_card_param;

extern const fy_card_param fy_card_params[]; /* ends with a NULL option */

int64_t fy_card_param_get(const fy_card *card, const fy_card_param *f);
void fy_card_param_set(fy_card *card, const fy_card_param *f, int64_t value);
/* n characters, "8GB/s" or "1.5us", to a whole number; false if it is none, or has no unit where one is due. */
bool fy_card_param_read(const char *text, size_t n, fy_unit unit, int64_t *value);
/* n characters of an option, "bus=8GB/s", into the card's figures; false after saying why not. */
bool fy_card_param_option(fy_card *card, const char *option, size_t n, char *why, size_t room);

/* card_models.c: figures by key ("h200"); NULL if there are none. The list of keys is for messages. */
const fy_card *fy_card_host(void);
const fy_card *fy_card_find(const char *key);
const char *fy_card_keys(void);
#define FY_SIM_CAPACITY ((int64_t)512 << 20) /* VRAM of a simulated card unless told, the same everywhere */
#define FY_SIM_MOST_CAPACITY ((int64_t)1 << 46)

#endif
