/* storage.c: bytes in one memory, counted, and the list of all that live.
 *
 * Memory of cards, and page-locked memory, comes from the caching allocators (device_allocator.c); the rest from the
 * CPU's back end, here. The only emitter of alloc and free. */
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
#include "run_work.h"
#include "stream.h"

enum { HOST_ALIGN = 64 };

FY_LOCK(lock) /* the list, ids, addresses and live_bytes */
static fy_storage *oldest, *newest;
static uint32_t last_id;

uint64_t fy_address_take(const fy_dev *d, int64_t bytes)
{
    fy_lock_take(&lock);
    uint64_t addr = fy_address_space_take(d->addresses, (uint64_t)bytes, NULL);
    fy_lock_give(&lock);
    return addr;
}

void fy_address_give(const fy_dev *d, uint64_t addr)
{
    fy_lock_take(&lock);
    fy_address_space_give(d->addresses, addr);
    fy_lock_give(&lock);
}

static void link_out(fy_storage *s)
{
    if (s->prev) __atomic_store_n(&s->prev->next, s->next, __ATOMIC_RELEASE);
    else __atomic_store_n(&oldest, s->next, __ATOMIC_RELEASE);
    if (s->next) s->next->prev = s->prev;
    else newest = s->prev;
}

/* ---- slots: a storage, and the bytes of a small one beside it ---- */

enum { CHUNK = 64 }; /* slots taken at a time */

/* A tensor of a few numbers costs no allocation. Not under ASan, which could not watch over such bytes. */
#ifdef __SANITIZE_ADDRESS__
enum { SMALL = 0 };
#else
enum { SMALL = HOST_ALIGN };
#endif

typedef struct slot {
    _Alignas(HOST_ALIGN) char bytes[HOST_ALIGN];
    fy_storage s; /* next: among the free ones */
} slot;

typedef struct chunk {
    slot slots[CHUNK];
    struct chunk *next;
} chunk;

static chunk *chunks; /* kept for good: a fault may be explained by a storage that is gone */
static fy_storage *free_slots;

static bool add_slots(void)
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

static void give_slot(fy_storage *s)
{
    s->next = free_slots;
    free_slots = s;
}

static void *bytes_beside(fy_storage *s) { return (char *)s - offsetof(slot, s); }
static bool is_beside(fy_storage *s) { return s->data == bytes_beside(s); }

/* Is there room by the device's count? Real memory is asked after that. */
static bool has_room(const fy_dev *d, size_t bytes)
{
    int64_t live = __atomic_load_n(&d->live_bytes, __ATOMIC_RELAXED);
    return bytes <= (size_t)d->capacity && (int64_t)bytes <= d->capacity - live;
}

/* From a caching allocator? */
static bool is_cached(const fy_storage *s)
{
    return s->bytes && (s->mem == FY_WORD_device || s->mem == FY_WORD_pinned);
}

static bool host_memory(fy_storage *s)
{
    fy_time t = {0};
    bool small = s->bytes <= SMALL && has_room(s->dev, s->bytes);
    s->data = small ? bytes_beside(s) : s->dev->backend->alloc(s->dev, s->bytes, s->mem, &t);
    return s->data != NULL;
}

static void give_back(fy_storage *s)
{
    fy_time t;
    if (is_cached(s)) fy_allocator_give(s);
    else if (!is_beside(s) && s->mem != FY_WORD_foreign)
        s->dev->backend->release(s->dev, s->data, s->bytes, s->mem, &t);
}

/* A slot and a place in the list; NULL when there is no memory for them. */
static fy_storage *enter(const fy_storage *as)
{
    fy_lock_take(&lock);
    fy_storage *s = free_slots || add_slots() ? free_slots : NULL;
    struct fy_address_space *addresses = as->dev->addresses;
    bool placed = s;
    if (s) {
        free_slots = s->next;
        *s = *as;
        if (is_cached(s)) placed = fy_address_space_ready(addresses);
        else if (s->bytes) placed = (s->addr = fy_address_space_take(addresses, s->bytes, &s->tenant)) != 0;
    }
    if (placed) {
        s->prev = newest;
        __atomic_store_n(newest ? &newest->next : &oldest, s, __ATOMIC_RELEASE);
        newest = s;
    } else if (s) {
        give_slot(s);
    }
    fy_lock_give(&lock);
    return placed ? s : NULL;
}

static void leave(fy_storage *s)
{
    fy_lock_take(&lock);
    if (s->bytes && !is_cached(s)) fy_address_space_give(s->dev->addresses, s->addr);
    link_out(s);
    give_slot(s);
    fy_lock_give(&lock);
}

/* What the card says that is more than "full". */
static void *fail(fy_site *at, fy_dev *d, fy_word mem, size_t bytes)
{
    fy_dev *card = mem == FY_WORD_pinned ? fy_dev_at(1) : d;
    if (card->number > 0 && fy_fault.text[0]) return fy_fail_device(at, card, "make room");
    return fy_fail_full(at, d, bytes);
}

static fy_storage *reserve(fy_site *at, fy_dev *d, size_t bytes, fy_word mem)
{
    size_t rounded = bytes > SIZE_MAX - HOST_ALIGN ? bytes : (bytes + HOST_ALIGN - 1) / HOST_ALIGN * HOST_ALIGN;
    fy_storage *s = enter(&(fy_storage){.refs = 1, .dev = d, .asked = bytes, .bytes = rounded, .mem = mem, .born = at});
    if (!s) return fy_fail_full(at, fy_dev_at(0), bytes); /* its own books lie in the host's memory */
    fy_fault.text[0] = 0;                                 /* what failed before this */
    s->stream = fy_stream_current(d);
    if (bytes && !(is_cached(s) ? fy_allocator_take(at, s) : host_memory(s))) {
        leave(s);
        return fail(at, d, mem, bytes);
    }
    __atomic_add_fetch(&d->live_bytes, (int64_t)s->bytes, __ATOMIC_RELAXED);
    return s;
}

/* Nothing is taken but a modelled address: the bytes are there. */
fy_storage *fy_storage_foreign(fy_site *at, void *data, size_t bytes, fy_deleter deleter, void *context)
{
    fy_dev *host = fy_dev_at(0);
    fy_storage *s = enter(&(fy_storage){.refs = 1,
                                        .dev = host,
                                        .asked = bytes,
                                        .bytes = bytes,
                                        .data = bytes ? data : NULL,
                                        .mem = FY_WORD_foreign,
                                        .born = at,
                                        .deleter = deleter,
                                        .given = data,
                                        .context = context});
    return s ? s : fy_fail_full(at, host, bytes);
}

fy_storage *fy_storage_reserve(fy_site *at, fy_dev *d, size_t bytes)
{
    return reserve(at, d, bytes, d->number == 0 ? FY_WORD_pageable : FY_WORD_device);
}

/* Without a card there is nobody to pin for. */
fy_storage *fy_storage_reserve_pinned(fy_site *at, size_t bytes)
{
    if (fy_dev_count() > 1) return reserve(at, fy_dev_at(0), bytes, FY_WORD_pinned);
    const char *why = fy_dev_why_not_real();
    return fy_fail(at, "device", "leave the memory pageable: without a card nothing is gained by pinning it",
                   "Pinned memory requires CUDA. No CUDA GPUs are available (%s)", why ? why : "FERRY_GPU=none");
}

void fy_storage_announce(fy_site *at, fy_storage *s)
{
    if (is_cached(s)) { /* who only reserved a block was no tenant of it */
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
    if (s->bytes) give_back(s);
    if (s->mem != FY_WORD_foreign) /* those are the program's bytes */
        __atomic_sub_fetch(&s->dev->live_bytes, (int64_t)s->bytes, __ATOMIC_RELAXED);
    if (!is_cached(s)) fy_history_leave(&s->history, s->dev, s->addr, 0, 0);
    leave(s);
}

void fy_storage_release(fy_site *at, fy_storage *s)
{
    if (__atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    FY_EMIT(at, free, .storage = s->id, .bytes = (int64_t)s->bytes, .deferred = s->recorded != 0);
    fy_deleter deleter = s->deleter;
    void *given = s->given, *context = s->context;
    fy_storage_cancel(s);
    if (deleter) deleter(given, context);
}

/* No lock: the caller may be the handler of the very fault that it explains. */
const fy_storage *fy_storage_holding(const void *p)
{
    for (const fy_storage *s = __atomic_load_n(&oldest, __ATOMIC_ACQUIRE); s;
         s = __atomic_load_n(&s->next, __ATOMIC_ACQUIRE))
        if ((uintptr_t)p - (uintptr_t)s->data < s->bytes) return s;
    return NULL;
}

/* Their ids, unless NULL; at most so many. How many there are. */
static size_t live(uint32_t *ids, size_t most)
{
    size_t n = 0;
    fy_lock_take(&lock);
    for (fy_storage *s = oldest; s && n < most; s = s->next) {
        uint32_t id = __atomic_load_n(&s->id, __ATOMIC_RELAXED);
        if (!id) continue; /* it is only reserved */
        if (ids) ids[n] = id;
        n++;
    }
    fy_lock_give(&lock);
    return n;
}

fy_ref fy_live_storages(void)
{
    size_t n = live(NULL, SIZE_MAX);
    fy_ref list = 0;
    uint32_t *ids = n ? fy_ref_room(n * sizeof *ids, &list) : NULL;
    size_t found = ids ? live(ids, n) : 0;
    return found < n ? fy_ref_bytes(ids, found * sizeof *ids) : list; /* another thread freed some meanwhile */
}
