/* device.h: devices and the table of ten functions that each back end fills.
 *
 * Back ends do the work and say how long it took; they never emit events. Only storage.c (alloc,
 * release), move.c (copy) and dispatch.c (run) call them, and those emit. Times are ns on the
 * session's clock: modelled for cpu and sim, measured for cuda. */
#ifndef FERRY_DEVICE_H
#define FERRY_DEVICE_H

#include "event.h"

/* The figures of a card or of the host, each with its source in card.c. */
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
    int64_t launch_queue;     /* pieces of work of a stream that may be to come; 0: any number */
    int64_t malloc_overhead;  /* ns, cudaMalloc */
    int64_t free_overhead;    /* ns, cudaFree, cudaFreeHost, once the card is idle */
    int64_t pin_overhead;     /* ns, cudaHostAlloc of any size */
    double pin_bandwidth;     /* bytes per second that it page-locks; 0: that costs nothing */
    double unpin_bandwidth;   /* and gives free; 0 likewise */
} fy_card;

typedef struct fy_time {
    int64_t start, end;              /* when the work itself began and ended; -1: not known yet (finished.h) */
    int64_t held;                    /* how long the host was held by the call */
    int64_t wire, staging, overhead; /* parts of a copy's cost */
    void *begun, *ended;             /* natives of the points that will tell of -1; NULL: nobody will */
} fy_time;

/* A strided array: what kernels and host loops walk. Strides in elements. */
typedef struct fy_layout {
    int32_t ndim;
    int32_t pad_;
    int64_t numel;
    int64_t shape[FY_MAX_DIMS], strides[FY_MAX_DIMS];
} fy_layout;

typedef struct fy_operand {
    void *data; /* element 0 of the view, in the device's memory; NULL: a number (op.h) */
    fy_dtype dtype;
    fy_layout layout;
} fy_operand;

/* Accesses of a piece of work that nothing orders with those of earlier work (hazard.c). On the simulated card
 * they find poison, whatever the timetable says. Bit i of a mask: input i (0 is a copy's source); FY_RACE_OUT:
 * the output. `earlier`: works that may not have been done yet, by their numbers. */
enum { FY_RACE_OUT = 1 << 7, FY_MOST_RACES = 8 };
typedef struct fy_races {
    uint8_t own;
    uint8_t n;
    struct {
        uint32_t id;
        uint8_t bits;
    } earlier[FY_MOST_RACES];
} fy_races;

/* Streams are numbered within their card: 0 is the default stream, 1 to 32 are PyTorch's pool. */
enum { FY_STREAMS = 33 };

/* A place in a stream: all work that was queued before it. One that no record has filled (queue 0, native NULL)
 * stands for all of its stream so far, in wait and in done; record leaves one or the other set. */
typedef struct fy_point {
    int stream;
    int64_t when;   /* when the stream gets there, where that is known; -1 */
    uint64_t queue; /* the back end's own: the simulated card's place in its queue */
    void *native;   /* and the real card's event, used again by the next record */
} fy_point;

typedef struct fy_copy_work {
    uint32_t id; /* number of the work; 0: nobody will name it */
    int stream;  /* of the card that copies; between two cards of both */
    void *dst;
    const void *src; /* NULL: nothing moves, dst's contents become junk: in the stream's order, or, not async, at once */
    uint8_t junk;    /* the byte that fills it then */
    fy_races races;
    size_t bytes;
    fy_word dir;    /* FY_WORD_h2d ... */
    bool pinned;    /* is the host side page-locked? */
    bool async;     /* may return before it is done */
    fy_word route;  /* out: direct, staged, host */
    bool was_async; /* out */
    fy_time time;   /* out */
} fy_copy_work;

enum { FY_MAX_INPUTS = 3, FY_MAX_SCALARS = 4 };

typedef struct fy_run_work {
    uint32_t id; /* number of the work */
    int stream;
    fy_races races;
    int op; /* index into fy_ops (op.h) */
    int nin;
    fy_dtype dtype;                    /* the type that the op computes in; for cast the operand's */
    int reduced;                       /* dimensions of in[0] that are gone through for one element (op.h) */
    fy_operand in[FY_MAX_INPUTS], out; /* inputs already have the op's dtype */
    double real[FY_MAX_SCALARS];       /* op.h says what they mean */
    int64_t integer[FY_MAX_SCALARS];
    int64_t flops, bytes;       /* cost, from the op table */
    const char *kernel, *blas;  /* out: what did it */
    uint32_t grid[3], block[3]; /* out */
    fy_time time;               /* out */
} fy_run_work;

typedef struct fy_dev fy_dev;

/* Ten functions; none is optional. `mem` is device, or pinned: page-locked memory on the host, for copies that
 * need no staging. Work on a card may be done at any time up to the wait that covers it, in the order of its
 * stream; a fault in it is told by that wait. */
typedef struct fy_backend {
    const char *kind;                                /* "cpu", "sim", "real" */
    bool (*open)(fy_dev *d, char *why, size_t room); /* false: why not, in a few words ("no driver") */
    void (*close)(fy_dev *d);
    void (*info)(fy_dev *d);                                          /* fill d->card_name, capacity, free_bytes */
    void *(*alloc)(fy_dev *d, size_t bytes, fy_word mem, fy_time *t); /* NULL: full, or what d->fault says */
    void (*release)(fy_dev *d, void *p, size_t bytes, fy_word mem, fy_time *t);
    bool (*copy)(fy_dev *d, fy_copy_work *w);           /* false: the device failed; d->fault says how */
    bool (*run)(fy_dev *d, fy_run_work *w);             /* false: likewise */
    bool (*record)(fy_dev *d, int stream, fy_point *p); /* fill p; stream -1: p is needed no more */
    /* A stream of `waiter` waits for a point of d, or the host does (waiter NULL); p NULL: for all of d's work. */
    bool (*wait)(fy_dev *d, const fy_point *p, fy_dev *waiter, int stream, fy_time *t);
    bool (*done)(fy_dev *d, const fy_point *p,
                 int64_t *when); /* has it passed, and when? Does not wait; false and d->fault: the card failed */
} fy_backend;

struct fy_dev {
    const fy_backend *backend;
    int number;    /* 0 cpu, 1 cuda:0, 2 cuda:1: what DEV fields hold */
    char name[16]; /* "cpu", "cuda:0" */
    char card_name[128];
    char fault[256];             /* why the last call failed */
    uint32_t fault_work;         /* the work at fault, where a later call tells of it; 0 */
    const fy_card *card;         /* figures of the model; NULL where times are measured */
    int64_t capacity;            /* bytes */
    void *state;                 /* the back end's own */
    struct fy_ranges *addresses; /* modelled addresses (range.c) */
    int64_t live_bytes;
    struct fy_pool *pool; /* the caching allocator's segments of this card (pool.h) */
    int physical;         /* the simulated card's number in the machine: CUDA_VISIBLE_DEVICES may give it another */
    uint32_t peers;       /* bit i: the card with number i can be read and written directly */
};

extern const fy_backend fy_backend_cpu, fy_backend_sim, fy_backend_cuda;

/* device.c: opened once, by FERRY_GPU and FERRY_SIM; device 0 is the CPU. */
int fy_dev_count(void);
fy_dev *fy_dev_at(int number);
bool fy_dev_copies_unasked(void);      /* FERRY_POLICY=silent */
bool fy_dev_model_clock(void);         /* is time modelled? */
const char *fy_dev_why_not_real(void); /* "no driver", "built without nvcc" ...; NULL when a real card is used */
struct fy_text;
void fy_dev_session_json(struct fy_text *out); /* the `devices` field of the session event */

/* "cpu", "cuda", "cuda:1" to a device; NULL, "" and mistakes report at `at` with PyTorch's words. */
fy_dev *fy_dev_parse(fy_site *at, const char *name);
fy_dev *fy_dev_card(fy_site *at, int index); /* card 0, 1 ...; -1: the thread's current one; NULL after an error */

/* clock.c: the host's time on the session's clock. Under the model it moves only by fy_clock_spend. */
int64_t fy_clock_now(void);
void fy_clock_spend(int64_t ns);
void fy_clock_at_least(int64_t t); /* the host waited until t */
void fy_clock_measure(void);       /* from now on time is read from the machine (a real card is used) */
void fy_say_modelled(void);        /* wait.c: on stderr, to whoever reads times that nobody measured */

/* card.c: figures by key ("h200"); NULL if there are none. The list of keys is for messages. */
const fy_card *fy_card_host(void);
const fy_card *fy_card_find(const char *key);
const char *fy_card_keys(void);
#define FY_SIM_CAPACITY ((int64_t)512 << 20) /* VRAM of a simulated card unless told, the same everywhere */

/* range.c: first fit over an address range that need not exist; for VRAM and for modelled addresses. */
struct fy_ranges *fy_ranges_make(uint64_t base, uint64_t bytes, uint64_t align);
/* Is there memory for the books of one more piece, or tenant? Then take fails for want of room alone. */
bool fy_ranges_ready(struct fy_ranges *r);
/* 0: no room. *tenant: how many had that address before; NULL: this one is none. */
uint64_t fy_ranges_take(struct fy_ranges *r, uint64_t bytes, uint32_t *tenant);
uint32_t fy_ranges_tenant(struct fy_ranges *r,
                          uint64_t addr); /* one more at an address within a piece: the same; after ready */
void fy_ranges_give(struct fy_ranges *r, uint64_t addr);
uint64_t fy_ranges_largest(const struct fy_ranges *r);
void fy_ranges_free(struct fy_ranges *r);

/* guard.c: explains a host access to VRAM; asks the sim back end for the range and storage.c for the tensor. */
void fy_guard_start(void);
bool fy_sim_owns(const void *p); /* inside simulated VRAM's guarded addresses? */

#endif
