/* device.h: devices and the table of ten functions that each back end fills.
 *
 * Back ends do the work and say how long it took; they never emit events. Only storage.c (alloc,
 * release), move.c (copy) and dispatch.c (run) call them, and those emit. Times are ns on the
 * session's clock: modelled for cpu and sim, measured for cuda. */
#ifndef FERRY_DEVICE_H
#define FERRY_DEVICE_H

#include "card_params.h"
#include "event.h"
#include "run_work.h"
#include "text.h"

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
    const void *src;   /* NULL: nothing moves, dst is filled: in the stream's order, or, not async, at once */
    uint8_t fill_byte; /* with this */
    fy_races races;
    size_t bytes;
    fy_word dir;    /* FY_WORD_h2d ... */
    bool pinned;    /* is the host side page-locked? */
    bool async;     /* may return before it is done */
    fy_word route;  /* out: direct, staged, host */
    bool was_async; /* out */
    fy_time time;   /* out */
} fy_copy_work;

/* Why the thread's last call of a back end failed. Like errno it is each thread's own: two threads may use one card. */
struct fy_device_fault {
    char text[256];
    uint32_t work; /* the work at fault, where a later call tells of it; 0 */
};
struct fy_device_fault *fy_fault_location(void);
#define fy_fault (*fy_fault_location())

typedef struct fy_dev fy_dev;

/* Ten functions; none is optional. `mem` is device, or pinned: page-locked memory on the host, for copies that
 * need no staging. Work on a card may be done at any time up to the wait that covers it, in the order of its
 * stream; a fault in it is told by that wait. */
typedef struct fy_backend {
    const char *kind;                                /* "cpu", "sim", "real" */
    bool (*open)(fy_dev *d, char *why, size_t room); /* false: why not, in a few words ("no driver") */
    void (*close)(fy_dev *d);
    void (*info)(fy_dev *d);                                          /* fill d->card_name, capacity, free_bytes */
    void *(*alloc)(fy_dev *d, size_t bytes, fy_word mem, fy_time *t); /* NULL: full, or what fy_fault says */
    void (*release)(fy_dev *d, void *p, size_t bytes, fy_word mem, fy_time *t);
    bool (*copy)(fy_dev *d, fy_copy_work *w);           /* false: the device failed; fy_fault says how */
    bool (*run)(fy_dev *d, fy_run_work *w);             /* false: likewise */
    bool (*record)(fy_dev *d, int stream, fy_point *p); /* fill p; stream -1: p is needed no more */
    /* A stream of `waiter` waits for a point of d, or the host does (waiter NULL); p NULL: for all of d's work. */
    bool (*wait)(fy_dev *d, const fy_point *p, fy_dev *waiter, int stream, fy_time *t);
    bool (*done)(
        fy_dev *d, const fy_point *p,
        int64_t *when); /* has it passed, and when? Does not wait; false and a word in fy_fault: the card failed */
} fy_backend;

struct fy_dev {
    const fy_backend *backend;
    int number;    /* 0 cpu, 1 cuda:0, 2 cuda:1: what DEV fields hold */
    char name[16]; /* "cpu", "cuda:0" */
    char card_name[128];
    const fy_card *card;                /* figures of the model; NULL where times are measured */
    int64_t capacity;                   /* bytes */
    void *state;                        /* the back end's own */
    struct fy_address_space *addresses; /* modelled addresses (address_space.c) */
    int64_t live_bytes;
    struct fy_pool *pool; /* the caching allocator's segments of this card (caching_allocator.h) */
    int64_t threads;      /* that the card holds at once; the host: 0 */
    int physical;         /* the simulated card's number in the machine: CUDA_VISIBLE_DEVICES may give it another */
    uint32_t peers;       /* bit i: the card with number i can be read and written directly */
};

extern const fy_backend fy_backend_cpu, fy_backend_sim;
extern const fy_backend fy_backend_cuda; /* in libferry-cuda.so alone: cuda_library.h */

/* device.c: opened once, by FERRY_GPU and FERRY_SIM; device 0 is the CPU. Real cards are opened by the first of
 * these calls that hangs on them: not by fy_dev_at(0), fy_dev_copies_unasked and fy_dev_why_not_real. */
int fy_dev_count(void);
fy_dev *fy_dev_at(int number);
bool fy_dev_copies_unasked(void);       /* FERRY_POLICY=silent */
bool fy_dev_uses_blas(void);            /* FERRY_BLAS: are a simulated card's matrix products OpenBLAS's? */
bool fy_dev_model_clock(void);          /* is time modelled? */
const char *fy_dev_why_not_real(void);  /* "no driver", "no card" ...; NULL while a real card is not ruled out */
void fy_dev_session_json(fy_text *out); /* the `devices` field of the session event */

/* device_parse.c: "cpu", "cuda", "cuda:1" to a device; NULL, "" and mistakes report at `at` with PyTorch's words. */
fy_dev *fy_dev_parse(fy_site *at, const char *name);
fy_dev *fy_dev_card(fy_site *at, int index);     /* card 0, 1 ...; -1: the thread's current one; NULL after an error */
void fy_dev_set_current(fy_site *at, int index); /* from now on this is the card that the thread's calls mean */

bool fy_sim_owns(const void *p); /* inside simulated VRAM's guarded addresses? (sim.c) */

#endif
