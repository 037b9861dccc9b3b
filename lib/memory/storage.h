/* storage.h: bytes in one memory, counted, and the list of all that live. */
#ifndef FERRY_STORAGE_H
#define FERRY_STORAGE_H

#include "device.h"
#include "event.h"

struct fy_block;
struct fy_access_history;

/* Bytes in one memory, shared by all the tensors that look at them. */
typedef struct fy_storage {
    uint32_t id; /* 0 until it is announced */
    uint32_t refs;
    uint32_t version; /* writes so far: fy_storage_version, fy_storage_written */
    uint32_t tenant;
    fy_dev *dev;
    void *data;    /* host pointer, or the guarded device pointer; NULL where bytes is 0 */
    uint64_t addr; /* modelled address */
    size_t asked, bytes;
    fy_word mem;
    fy_site *born;
    const char *name;       /* of its first handle that has one; may be NULL. Read by fy_storage_name */
    fy_dtype dtype;         /* its first handle's; segv_handler.c counts elements by it */
    fy_deleter deleter;     /* foreign memory alone: called once when nobody looks at it any more */
    void *given, *context;  /* with these */
    struct fy_block *block; /* of the caching allocator (device_allocator.h); NULL: its memory is not from there */
    int stream;             /* of a card: whose block it is */
    uint64_t recorded;      /* bit i: stream i uses it as well, and is waited for */
    struct fy_access_history *history; /* accesses by streams (access_history.h); NULL: none */
    struct fy_storage *next, *prev;    /* all that live, oldest first */
} fy_storage;

/* To reserve takes the bytes and says nothing, so that a call that fails later can cancel
 * and leave no trace; to announce emits the alloc event. */
fy_storage *fy_storage_reserve(fy_site *at, fy_dev *d, size_t bytes); /* NULL after an oom error */
fy_storage *fy_storage_reserve_pinned(fy_site *at, size_t bytes);     /* page-locked, on the CPU; NULL likewise */
void fy_storage_announce(fy_site *at, fy_storage *s);
void fy_storage_cancel(fy_storage *s);
fy_storage *fy_storage_make(fy_site *at, fy_dev *d, size_t bytes); /* both; NULL after an oom error */
/* Host memory of the program's, likewise; the deleter may be NULL. */
fy_storage *fy_storage_foreign(fy_site *at, void *data, size_t bytes, fy_deleter deleter, void *context);
void fy_storage_release(fy_site *at, fy_storage *s); /* one reference less */
static inline const char *fy_storage_name(const fy_storage *s) { return __atomic_load_n(&s->name, __ATOMIC_ACQUIRE); }
/* Threads may write parts of one storage at once: each write has a version of its own, which is returned. */
static inline uint32_t fy_storage_written(fy_storage *s)
{
    return __atomic_add_fetch(&s->version, 1, __ATOMIC_RELAXED);
}
static inline uint32_t fy_storage_version(const fy_storage *s)
{
    return __atomic_load_n(&s->version, __ATOMIC_RELAXED);
}
const fy_storage *fy_storage_holding(const void *p); /* for segv_handler.c; may run in a signal handler */
/* A stream of the card uses s as well (fy_record_stream), or a copy that goes on reads or writes page-locked memory:
 * its bytes are given on only when the stream has got past what it had to do when s was freed. */
void fy_storage_record_stream(fy_storage *s, int stream);
void fy_storage_record_pinned(fy_storage *s, const fy_dev *card, int stream);
fy_ref fy_live_storages(void); /* ids of the storages alive, for the `live` field of the end event */

#endif
