/* storage.h: reference-counted bytes in one memory, and the list of live storages. */
#ifndef FERRY_STORAGE_H
#define FERRY_STORAGE_H

#include "device.h"
#include "event.h"

struct fy_block;
struct fy_access_history;

/* Shared by all tensors that are views of it. */
typedef struct fy_storage {
    uint32_t id; /* 0 until it is announced */
    uint32_t refs;
    uint32_t version; /* number of writes: fy_storage_version, fy_storage_written */
    uint32_t made;    /* the version that the program got; FY_NOT_MADE: it has not got it yet */
    uint32_t tenant;  /* how many storages had this address before */
    fy_dev *dev;
    void *data;    /* host or device pointer; NULL if bytes is 0 */
    uint64_t addr; /* modelled address */
    size_t asked, bytes;
    fy_word mem;
    fy_site *born;
    const char *name;                  /* of its first named handle, or NULL; read it with fy_storage_name */
    fy_dtype dtype;                    /* of its first handle; segv_handler.c computes an element index with it */
    fy_deleter deleter;                /* foreign memory: called once, after the last reference is gone */
    void *given, *context;             /* its arguments */
    _Atomic bool writable;             /* foreign memory: known to be (blob.c) */
    struct fy_block *block;            /* of a caching allocator (device_allocator.h), or NULL */
    int stream;                        /* that owns the block */
    uint64_t recorded;                 /* bit i: stream i uses it too, and delays its reuse */
    fy_point filled;                   /* real card: when its fresh bytes have been filled; native NULL: not filled */
    uint64_t awaits;                   /* bit i: stream i comes after that */
    struct fy_access_history *history; /* accesses by streams (access_history.h); NULL: none */
    uint32_t saves;                    /* how many nodes of the autograd graph read it later */
    fy_site *saved_by;                 /* the newest call of those */
    uint16_t writer;                   /* the newest call in place that the graph recorded (graph.c); 0: none */
    struct fy_storage *next, *prev;    /* live storages, oldest first */
} fy_storage;

enum { FY_NOT_MADE = UINT32_MAX };

/* reserve allocates the bytes without an event, so that a call that fails later can cancel it and leave no trace in the
 * log; announce emits alloc. All are thread-safe. */
fy_storage *fy_storage_reserve(fy_site *at, fy_dev *d, size_t bytes); /* NULL after an oom error */
fy_storage *fy_storage_reserve_pinned(fy_site *at, size_t bytes);     /* page-locked, on the CPU; NULL likewise */
void fy_storage_announce(fy_site *at, fy_storage *s);
void fy_storage_cancel(fy_storage *s);
fy_storage *fy_storage_make(fy_site *at, fy_dev *d, size_t bytes); /* both; NULL after an oom error */
/* Reserves a storage over the program's own host memory; the deleter may be NULL. */
fy_storage *fy_storage_foreign(fy_site *at, void *data, size_t bytes, fy_deleter deleter, void *context);
void fy_storage_free(fy_storage *s); /* its last reference was dropped, and that was recorded */
static inline const char *fy_storage_name(const fy_storage *s) { return __atomic_load_n(&s->name, __ATOMIC_ACQUIRE); }
/* Returns the version of this write; unique, though threads may write parts of one storage concurrently. */
static inline uint32_t fy_storage_written(fy_storage *s)
{
    return __atomic_add_fetch(&s->version, 1, __ATOMIC_RELAXED);
}
static inline uint32_t fy_storage_version(const fy_storage *s)
{
    return __atomic_load_n(&s->version, __ATOMIC_RELAXED);
}
const fy_storage *fy_storage_containing(const void *p); /* the storage that contains p, or NULL; async-signal-safe */
/* Another stream of the card uses s (fy_record_stream), or an asynchronous copy accesses pinned memory: after s is
 * freed, its block is reused only once that stream has reached the point where it was at the free. */
void fy_storage_record_stream(fy_storage *s, int stream);
void fy_storage_record_pinned(fy_storage *s, const fy_dev *card, int stream);
/* For what nothing writes: a real card fills it as the simulated one fills all that is allocated, queued in the block's
 * stream, unless FERRY_FILL=0. A launch in another stream comes after that by await_fill, where `filled` is set. fill:
 * false if the card failed. */
bool fy_storage_fill(fy_storage *s);
void fy_storage_await_fill(fy_storage *s, fy_dev *card, int stream);
fy_ref fy_live_storages(void); /* ids of the live storages, for the `live` field of the end event */

#endif
