/* device.h: devices, and the table of functions that each back end fills.
 *
 * Back ends do the work and return how long it took; they never emit events. Their callers do: memory/ (alloc, release,
 * fills), ops/transfer.c (copy), ops/perform.c (run) and order/ (record, wait, done). Times are ns on the session's
 * clock: modelled for cpu and sim, measured for cuda. */
#ifndef FERRY_DEVICE_H
#define FERRY_DEVICE_H

#include "card_params.h"
#include "event.h"
#include "run_work.h"
#include "text.h"

/* A point in a stream: all work that was queued before it. Recording it sets queue or native; with neither, wait and
 * done take it as the current end of its stream. */
typedef struct fy_point {
    int stream;
    int64_t when;   /* ns when the stream reaches it; -1: unknown */
    uint64_t queue; /* simulated card: number of the last task before it */
    void *native;   /* real card: its event, reused by the next record */
    bool passed;    /* known to have been reached: `done` tells when, and asks the card nothing */
} fy_point;

typedef struct fy_copy_work {
    uint32_t id;   /* work id; 0: no event refers to it */
    int stream;    /* of the card that copies */
    int to_stream; /* between two cards: of the one that receives. It waits for the copy, which waits for it */
    void *dst;
    const void *src; /* NULL: fill dst with fill_byte, in stream order, or at once if not async */
    uint8_t fill_byte;
    fy_races races;
    fy_contents contents;
    size_t bytes;
    fy_word dir;    /* FY_WORD_h2d ... */
    bool pinned;    /* is the host side page-locked? */
    bool async;     /* non_blocking: may return before it is done */
    fy_word route;  /* out: direct, staged, host */
    bool was_async; /* out */
    fy_time time;   /* out */
} fy_copy_work;

/* Why the thread's last back-end call failed; thread-local, like errno. */
struct fy_device_fault {
    char text[256];
    uint32_t work; /* id of earlier work that failed and is reported now; 0: none, or unknown */
};
struct fy_device_fault *fy_fault_location(void);
#define fy_fault (*fy_fault_location())

typedef struct fy_dev fy_dev;

/* No function is optional. `mem` is device, or pinned: page-locked host memory, whose copies need no staging. Work on a
 * card is executed in stream order, at any time up to the wait that covers it; that wait reports its faults. */
typedef struct fy_backend {
    const char *kind;                                /* "cpu", "sim", "real" */
    bool (*open)(fy_dev *d, char *why, size_t room); /* false: `why` is a short reason ("no memory") */
    void (*close)(fy_dev *d);
    bool (*info)(fy_dev *d, char *why, size_t room); /* fills d->card_name, capacity, threads, peers; false: likewise */
    void *(*alloc)(fy_dev *d, size_t bytes, fy_word mem, fy_time *t); /* NULL: out of memory, or fy_fault.text is set */
    void (*release)(fy_dev *d, void *p, size_t bytes, fy_word mem, fy_time *t);
    bool (*copy)(fy_dev *d, fy_copy_work *w);           /* false: the device failed, see fy_fault */
    bool (*run)(fy_dev *d, fy_run_work *w);             /* false: likewise */
    bool (*record)(fy_dev *d, int stream, fy_point *p); /* fills p; stream -1: releases p */
    /* A stream of `waiter`, or the host if waiter is NULL, waits for a point of d; p NULL: for all of d's work. */
    bool (*wait)(fy_dev *d, const fy_point *p, fy_dev *waiter, int stream, fy_time *t);
    /* Has it been reached, and when (ns)? Never waits. False with a text in fy_fault: the card failed. */
    bool (*done)(fy_dev *d, const fy_point *p, int64_t *when);
} fy_backend;

struct fy_dev {
    const fy_backend *backend;
    int number;    /* 0 cpu, 1 cuda:0, 2 cuda:1: what DEV fields hold */
    char name[16]; /* "cpu", "cuda:0" */
    char card_name[128];
    const fy_card *card;                /* model parameters; NULL: times are measured */
    int64_t capacity;                   /* bytes */
    void *state;                        /* private to the back end */
    struct fy_address_space *addresses; /* modelled addresses (address_space.c) */
    int64_t live_bytes;
    struct fy_pool *pool; /* the caching allocator's segments of this card (caching_allocator.h) */
    int64_t threads;      /* resident at once; 0 for the host */
    int physical;         /* simulated card: its index before CUDA_VISIBLE_DEVICES renumbers it */
    int64_t marks;        /* real card: ns between two marks around an empty kernel; 0: not known */
    uint32_t peers;       /* bit i: peer access to the device with number i */
};

extern const fy_backend fy_backend_cpu, fy_backend_sim;
extern const fy_backend fy_backend_cuda; /* in libferry-cuda.so alone: cuda_library.h */

/* device.c: devices are opened once, as FERRY_GPU and FERRY_SIM say; device 0 is the CPU. Any of these calls opens real
 * cards, except fy_dev_at(0), fy_dev_copies_implicitly, fy_dev_uses_blas and fy_dev_why_not_real. */
int fy_dev_count(void);
fy_dev *fy_dev_at(int number);
bool fy_dev_copies_implicitly(void);    /* FERRY_POLICY=silent */
bool fy_dev_uses_blas(void);            /* FERRY_BLAS: does the simulated card use OpenBLAS for matrix products? */
bool fy_dev_model_clock(void);          /* is time modelled? */
const char *fy_dev_why_not_real(void);  /* "no NVIDIA driver was found"; NULL while a real card is still possible */
void fy_dev_note_late_setting(void);    /* says, once, that CUDA_VISIBLE_DEVICES was changed since */
void fy_dev_session_json(fy_text *out); /* the `devices` field of the session event */

/* device_parse.c: "cpu", "cuda", "cuda:1" to a device; NULL after an error, reported at `at` in PyTorch's words. */
fy_dev *fy_dev_parse(fy_site *at, const char *name);
fy_dev *fy_dev_card(fy_site *at, int index);     /* card 0, 1 ...; -1: the thread's current one; NULL after an error */
void fy_dev_set_current(fy_site *at, int index); /* makes it the thread's current card */

fy_dev *fy_dev_default(fy_site *at); /* where factories put a tensor if the call names no device (default_device.c) */

bool fy_sim_owns(const void *p); /* is it a device pointer into simulated VRAM? (sim.c) */

#endif
