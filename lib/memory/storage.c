/* storage.c: reference-counted bytes in one memory, and the list of live storages.
 *
 * Device and pinned memory comes from the caching allocators (device_allocator.c), pageable memory from the CPU's back
 * end. Emits alloc and free; nothing else does. */
#include "storage.h"

#include <stdlib.h>

#include "access_history.h"
#include "address_space.h"
#include "device.h"
#include "device_allocator.h"
#include "error.h"
#include "event.h"
#include "launch_record.h"
#include "lock.h"
#include "out_of_memory.h"
#include "run_work.h"
#include "stream.h"

enum { HOST_ALIGN = 64 };

FY_LOCK(lock) /* the list, ids, addresses and live_bytes */
static fy_storage *oldest, *newest;
static uint32_t last_id;

uint64_t fy_address_alloc(const fy_dev *d, int64_t bytes)
{
    fy_lock_take(&lock);
    uint64_t addr = fy_address_space_alloc(d->addresses, (uint64_t)bytes, NULL);
    fy_lock_give(&lock);
    return addr;
}

void fy_address_release(const fy_dev *d, uint64_t addr)
{
    fy_lock_take(&lock);
    fy_address_space_release(d->addresses, addr);
    fy_lock_give(&lock);
}

/* ---- slots: a storage, with inline bytes for a small one ---- */

enum { CHUNK = 64 }; /* slots allocated at a time */

/* A tensor of a few numbers needs no allocation. Not under ASan, which could not detect overflows of inline bytes. */
#ifdef __SANITIZE_ADDRESS__
enum { SMALL = 0 };
#else
enum { SMALL = HOST_ALIGN };
#endif

typedef struct slot {
    _Alignas(HOST_ALIGN) char bytes[HOST_ALIGN];
    fy_storage s; /* free slots are linked by s.next */
} slot;

typedef struct chunk {
    slot slots[CHUNK];
    struct chunk *next;
} chunk;

static chunk *chunks; /* never freed: the SIGSEGV handler walks the list without a lock */
static fy_storage *free_slots;

static bool grow_slots(void)
{
    chunk *c = aligned_alloc(HOST_ALIGN, sizeof *c);
    if (!c) return false;
    c->next = chunks;
    chunks = c;
    for (int i = 0; i < CHUNK; i++) {
        c->slots[i].s.next = free_slots;
        free_slots = &c->slots[i].s;
    }
    return true;
}

static void free_slot(fy_storage *s)
{
    s->next = free_slots;
    free_slots = s;
}

static void *inline_bytes(fy_storage *s) { return (char *)s - offsetof(slot, s); }

/* Allocated by a caching allocator? */
static bool is_cached(const fy_storage *s)
{
    return s->bytes && (s->mem == FY_WORD_device || s->mem == FY_WORD_pinned);
}

/* Within the device's capacity, which the back end checks for bytes that are not inline. */
static bool alloc_host(fy_storage *s)
{
    fy_dev *d = s->dev;
    fy_time t = {0};
    int64_t room = d->capacity - __atomic_load_n(&d->live_bytes, __ATOMIC_RELAXED);
    bool small = s->bytes <= SMALL && (int64_t)s->bytes <= room;
    s->data = small ? inline_bytes(s) : d->backend->alloc(d, s->bytes, s->mem, &t);
    return s->data != NULL;
}

/* Adds a storage to the list; NULL: out of host memory. */
static fy_storage *add_storage(const fy_storage *as)
{
    struct fy_address_space *addresses = as->dev->addresses;
    bool cached = is_cached(as);
    fy_lock_take(&lock);
    fy_storage *s = free_slots || grow_slots() ? free_slots : NULL;
    bool has_address = s;
    if (s) {
        free_slots = s->next;
        *s = *as;
        if (cached) has_address = fy_address_space_reserve(addresses);
        else if (s->bytes) has_address = (s->addr = fy_address_space_alloc(addresses, s->bytes, &s->tenant)) != 0;
    }
    if (has_address) {
        s->prev = newest;
        __atomic_store_n(newest ? &newest->next : &oldest, s, __ATOMIC_RELEASE);
        newest = s;
    } else if (s) {
        free_slot(s);
    }
    fy_lock_give(&lock);
    return has_address ? s : NULL;
}

static void remove_storage(fy_storage *s)
{
    fy_lock_take(&lock);
    if (s->bytes && !is_cached(s)) fy_address_space_release(s->dev->addresses, s->addr);
    if (s->prev) __atomic_store_n(&s->prev->next, s->next, __ATOMIC_RELEASE);
    else __atomic_store_n(&oldest, s->next, __ATOMIC_RELEASE);
    if (s->next) s->next->prev = s->prev;
    else newest = s->prev;
    free_slot(s);
    fy_lock_give(&lock);
}

static fy_storage *reserve(fy_site *at, fy_dev *d, size_t bytes, fy_word mem)
{
    size_t rounded = bytes > SIZE_MAX - HOST_ALIGN ? bytes : (bytes + HOST_ALIGN - 1) / HOST_ALIGN * HOST_ALIGN;
    fy_storage *s = add_storage(&(fy_storage){
        .refs = 1, .made = FY_NOT_MADE, .dev = d, .asked = bytes, .bytes = rounded, .mem = mem, .born = at});
    if (!s) return fy_fail_oom(at, fy_dev_at(0), bytes); /* the storage itself is host memory */
    fy_fault.text[0] = 0;                                /* clear earlier failures */
    s->stream = fy_stream_current(d);
    if (bytes && !(is_cached(s) ? fy_allocator_alloc(at, s) : alloc_host(s))) {
        remove_storage(s);
        fy_dev *card = mem == FY_WORD_pinned ? fy_dev_at(1) : d;
        if (card->number > 0 && fy_fault.text[0]) return fy_fail_device(at, card, "allocate memory");
        return fy_fail_oom(at, d, bytes);
    }
    __atomic_add_fetch(&d->live_bytes, (int64_t)s->bytes, __ATOMIC_RELAXED);
    return s;
}

/* Allocates a modelled address only: the bytes are the program's. */
fy_storage *fy_storage_foreign(fy_site *at, void *data, size_t bytes, fy_deleter deleter, void *context)
{
    fy_dev *host = fy_dev_at(0);
    fy_storage *s = add_storage(&(fy_storage){.refs = 1,
                                              .made = FY_NOT_MADE,
                                              .dev = host,
                                              .asked = bytes,
                                              .bytes = bytes,
                                              .data = bytes ? data : NULL,
                                              .mem = FY_WORD_foreign,
                                              .born = at,
                                              .deleter = deleter,
                                              .given = data,
                                              .context = context});
    return s ? s : fy_fail_oom(at, host, bytes);
}

fy_storage *fy_storage_reserve(fy_site *at, fy_dev *d, size_t bytes)
{
    return reserve(at, d, bytes, d->number == 0 ? FY_WORD_pageable : FY_WORD_device);
}

/* Pinning needs a card, as in PyTorch. */
fy_storage *fy_storage_reserve_pinned(fy_site *at, size_t bytes)
{
    if (fy_dev_count() > 1) return reserve(at, fy_dev_at(0), bytes, FY_WORD_pinned);
    const char *why = fy_dev_why_not_real();
    return fy_fail(at, "device", "do not pin memory: without a card it has no benefit",
                   "Pinned memory requires CUDA. No CUDA GPUs are available (%s)", why ? why : "FERRY_GPU=none");
}

void fy_storage_announce(fy_site *at, fy_storage *s)
{
    if (is_cached(s)) { /* a storage that was reserved and cancelled does not count as a tenant */
        fy_lock_take(&lock);
        s->tenant = fy_address_space_reuse(s->dev->addresses, s->addr);
        fy_lock_give(&lock);
    }
    __atomic_store_n(&s->id, __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    FY_EMIT(at, alloc, .storage = s->id, .device = (uint8_t)s->dev->number, .mem = (uint8_t)s->mem, .addr = s->addr,
            .asked = (int64_t)s->asked, .bytes = (int64_t)s->bytes,
            .stream = s->dev->number == 0 ? FY_ABSENT : s->stream, .tenant = s->tenant);
}

fy_storage *fy_storage_make(fy_site *at, fy_dev *d, size_t bytes)
{
    fy_storage *s = fy_storage_reserve(at, d, bytes);
    if (s) fy_storage_announce(at, s);
    return s;
}

void fy_storage_cancel(fy_storage *s)
{
    fy_time t;
    bool foreign = s->mem == FY_WORD_foreign; /* the program's bytes: never counted */
    if (is_cached(s)) fy_allocator_release(s);
    else if (s->bytes && !foreign && s->data != inline_bytes(s))
        s->dev->backend->release(s->dev, s->data, s->bytes, s->mem, &t);
    if (!foreign) __atomic_sub_fetch(&s->dev->live_bytes, (int64_t)s->bytes, __ATOMIC_RELAXED);
    if (!is_cached(s)) fy_history_free(&s->history, s->dev, s->addr, 0, 0);
    remove_storage(s);
}

void fy_storage_free(fy_storage *s)
{
    fy_deleter deleter = s->deleter;
    void *given = s->given, *context = s->context;
    fy_storage_cancel(s);
    if (deleter) deleter(given, context);
}

/* Lock-free: called by the SIGSEGV handler, perhaps while this thread holds the lock, and while others allocate: a
 * storage whose bytes are not there yet contains nothing. */
const fy_storage *fy_storage_containing(const void *p)
{
    for (const fy_storage *s = __atomic_load_n(&oldest, __ATOMIC_ACQUIRE); s;
         s = __atomic_load_n(&s->next, __ATOMIC_ACQUIRE)) {
        const void *data = __atomic_load_n(&s->data, __ATOMIC_RELAXED);
        if (data && (uintptr_t)p - (uintptr_t)data < s->bytes) return s;
    }
    return NULL;
}

/* Writes up to `most` ids of live storages to ids, unless NULL; returns how many. */
static size_t live(uint32_t *ids, size_t most)
{
    size_t n = 0;
    fy_lock_take(&lock);
    for (fy_storage *s = oldest; s && n < most; s = s->next) {
        uint32_t id = __atomic_load_n(&s->id, __ATOMIC_RELAXED);
        if (!id) continue; /* reserved, not announced */
        if (ids) ids[n] = id;
        n++;
    }
    fy_lock_give(&lock);
    return n;
}

fy_ref fy_live_storages(void)
{
    size_t n = live(NULL, SIZE_MAX);
    uint32_t *ids = n ? malloc(n * sizeof *ids) : NULL;
    if (n && !ids) fy_out_of_memory("the list of storages that are left");
    if (n) n = live(ids, n); /* another thread freed some meanwhile */
    fy_ref list = n ? fy_ref_bytes(ids, n * sizeof *ids) : 0;
    free(ids);
    return list;
}
