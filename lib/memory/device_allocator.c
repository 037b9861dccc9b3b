/* device_allocator.c: the pools of this process, on top of the back ends. Emits segment, segment_free, and syncs with
 * reason oom, and nothing else does. */
#include "device_allocator.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access_history.h"
#include "caching_allocator.h"
#include "device.h"
#include "event.h"
#include "lane.h"
#include "out_of_memory.h"
#include "run_work.h"
#include "storage.h"
#include "stream.h"
#include "vector_clock.h"

enum { MOST_DEVICES = 9, FRESH = 0xff, FREED = 0xf5 };

static struct cache {
    pthread_mutex_t lock;
    fy_pool *pool;
    fy_dev *dev; /* the CPU: pinned memory */
    fy_site *at; /* of the current call */
} caches[MOST_DEVICES];

typedef struct cache cache;

/* ---- locks ---- */

static void lock_all(void)
{
    for (int i = 0; i < MOST_DEVICES; i++) pthread_mutex_lock(&caches[i].lock);
}

static void unlock_all(void)
{
    for (int i = 0; i < MOST_DEVICES; i++) pthread_mutex_unlock(&caches[i].lock);
}

/* Other locks (lock.h, the simulated card's) are taken while one of these is held, so a fork must take these first:
 * pthread_atfork runs its prepare handlers in reverse order of registration. */
static void make_locks(void)
{
    for (int i = 0; i < MOST_DEVICES; i++) pthread_mutex_init(&caches[i].lock, NULL);
    pthread_atfork(lock_all, unlock_all, unlock_all);
}

static bool is_pinned(const cache *c) { return c->dev->number == 0; }
static fy_word memory(const cache *c) { return is_pinned(c) ? FY_WORD_pinned : FY_WORD_device; }
static fy_dev *allocating_device(const cache *c) { return is_pinned(c) ? fy_dev_at(1) : c->dev; } /* a card pins */

/* ---- segments ---- */

static fy_segment_result take(void *self, fy_segment *s)
{
    cache *c = self;
    fy_dev *d = allocating_device(c);
    bool pinned = is_pinned(c);
    int64_t taken = pinned ? __atomic_load_n(&c->dev->live_bytes, __ATOMIC_RELAXED) : fy_pool_reserved(c->pool);
    fy_time t = {0};
    if (s->bytes > c->dev->capacity - taken) return FY_SEGMENT_OOM;
    fy_fault.text[0] = 0;
    s->data = d->backend->alloc(d, (size_t)s->bytes, memory(c), &t);
    if (!s->data) return fy_fault.text[0] ? FY_SEGMENT_ERROR : FY_SEGMENT_OOM;
    s->addr = fy_address_alloc(c->dev, s->bytes);
    if (!s->addr) return d->backend->release(d, s->data, (size_t)s->bytes, memory(c), &t), FY_SEGMENT_OOM;

    fy_word pool = pinned ? 0 : s->small ? FY_WORD_small : FY_WORD_large;
    bool kept = fy_lane_keep(true); /* holds the lock: no other lane may run */
    FY_EMIT(c->at, segment, .device = (uint8_t)c->dev->number, .mem = (uint8_t)memory(c), .addr = s->addr,
            .bytes = s->bytes, .pool = (uint8_t)pool, .stream = pinned ? FY_ABSENT : s->stream, .held = t.held);
    fy_lane_keep(kept);
    return FY_SEGMENT_OK;
}

static void give(void *self, fy_segment *s, bool for_room)
{
    cache *c = self;
    fy_dev *d = allocating_device(c);
    fy_time t = {0};
    d->backend->release(d, s->data, (size_t)s->bytes, memory(c), &t);
    if (!is_pinned(c)) fy_order_wait_card(d->number);
    bool kept = fy_lane_keep(true);
    FY_EMIT(c->at, segment_free, .device = (uint8_t)c->dev->number, .addr = s->addr, .bytes = s->bytes,
            .why = for_room ? FY_WORD_oom : FY_WORD_user, .held = t.held);
    fy_lane_keep(kept);
    fy_address_release(c->dev, s->addr);
}

/* ---- points in streams ---- */

/* `where`: a card's pool uses the stream number; pinned memory is used by every card: card * 64 + stream. */
static fy_dev *card_of(const cache *c, int where) { return is_pinned(c) ? fy_dev_at(where / 64) : c->dev; }
static int stream_of(int where) { return where % 64; }

static bool record(void *self, int where, fy_point *at)
{
    fy_dev *d = card_of(self, where);
    return d->backend->record(d, stream_of(where), at);
}

static bool passed(void *self, int where, fy_point *at)
{
    fy_dev *d = card_of(self, where);
    int64_t when;
    if (!d->backend->done(d, at, &when)) return false;
    d->backend->record(d, -1, at);
    return true;
}

static void wait_for(void *self, int where, fy_point *at)
{
    cache *c = self;
    fy_dev *d = card_of(c, where);
    fy_time t = {0};
    bool kept = fy_lane_keep(true);
    if (d->backend->wait(d, at, NULL, 0, &t))
        FY_EMIT(c->at, sync, .scope = FY_WORD_event, .device = (uint8_t)d->number, .stream = stream_of(where),
                .why = FY_WORD_oom, .held = t.held);
    fy_lane_keep(kept);
    d->backend->record(d, -1, at);
}

static void record_use(fy_storage *s, int where)
{
    cache *c = &caches[s->dev->number];
    pthread_mutex_lock(&c->lock);
    bool ok = fy_pool_use(c->pool, s->block, where);
    if (ok) s->recorded |= (uint64_t)1 << stream_of(where);
    pthread_mutex_unlock(&c->lock);
    if (!ok) fy_out_of_memory("the streams that use a tensor");
}

void fy_storage_record_stream(fy_storage *s, int stream)
{
    if (s->block && stream != s->stream) record_use(s, stream);
}

void fy_storage_record_pinned(fy_storage *s, const fy_dev *card, int stream)
{
    if (s->block && s->mem == FY_WORD_pinned) record_use(s, card->number * 64 + stream);
}

/* ---- take and give ---- */

fy_pool *fy_allocator_open(const fy_dev *d)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    cache *c = &caches[d->number];
    pthread_once(&once, make_locks);
    pthread_mutex_lock(&c->lock);
    if (c->pool) return c->pool;
    fy_pool_source source = {c, take, give, record, passed, wait_for};
    c->dev = fy_dev_at(d->number);
    c->pool = c->dev->pool = fy_pool_make(&source, memory(c));
    if (c->pool) return c->pool;
    pthread_mutex_unlock(&c->lock);
    fy_out_of_memory("a card's caching allocator");
}

void fy_allocator_close(const fy_dev *d) { pthread_mutex_unlock(&caches[d->number].lock); }

/* Fills a block with a pattern, synchronously, and so only if the host has waited for all accesses to it. A fill queued
 * in the block's stream could overwrite what another stream, correctly ordered, writes to it. Not on a real card: the
 * host would have to wait, and most of it is written by the next launch (fy_storage_fill fills the rest). */
static bool fill(const fy_storage *s, uint8_t fill_byte)
{
    fy_dev *d = s->dev;
    fy_copy_work w = {
        .dst = s->data, .fill_byte = fill_byte, .bytes = s->bytes, .dir = FY_WORD_d2d, .stream = s->stream};
    bool waited = !s->history || fy_history_is_over(s->history);
    return s->mem == FY_WORD_pinned || !d->card || !waited || d->backend->copy(d, &w);
}

bool fy_storage_fill(fy_storage *s)
{
    fy_dev *d = s->dev;
    fy_copy_work w = {
        .dst = s->data, .fill_byte = FRESH, .bytes = s->bytes, .dir = FY_WORD_d2d, .stream = s->stream, .async = true};
    const char *asked = getenv("FERRY_FILL");
    if (!s->block || s->mem == FY_WORD_pinned || d->card || (asked && strcmp(asked, "0") == 0)) return true;
    return d->backend->copy(d, &w) && d->backend->record(d, s->stream, &s->filled);
}

/* If it fails, so does the launch that follows. */
void fy_storage_await_fill(fy_storage *s, fy_dev *card, int stream)
{
    fy_time t;
    uint64_t bit = (uint64_t)1 << stream;
    if (card == s->dev && stream == s->stream) return;
    if (card == s->dev && __atomic_fetch_or(&s->awaits, bit, __ATOMIC_RELAXED) & bit) return;
    s->dev->backend->wait(s->dev, &s->filled, card, stream, &t);
}

bool fy_allocator_alloc(fy_site *at, fy_storage *s)
{
    fy_pool *pool = fy_allocator_open(s->dev);
    cache *c = &caches[s->dev->number];
    c->at = at;
    int64_t asked = s->asked < (size_t)FY_POOL_EXABYTE ? (int64_t)s->asked : FY_POOL_EXABYTE;
    fy_block *b = fy_pool_alloc(pool, asked, s->stream, s);
    if (b) {
        s->block = b;
        s->bytes = (size_t)b->bytes;
        s->addr = b->segment->addr + (uint64_t)b->offset;
        s->stream = b->segment->stream;
        __atomic_store_n(&s->data, (char *)b->segment->data + b->offset, __ATOMIC_RELEASE);
    } else if (fy_pool_out_of_host_memory(pool))
        snprintf(fy_fault.text, sizeof fy_fault.text, "out of host memory for its caching allocator");
    fy_allocator_close(s->dev);
    if (!b) return false;
    fy_history_inherit(&s->history, s->dev, s->addr, s->bytes);
    if (fill(s, FRESH)) return true;
    fy_allocator_release(s);
    return false;
}

/* Fills the block before another thread can get it. */
void fy_allocator_release(fy_storage *s)
{
    if (!s->recorded) fill(s, FREED);
    if (s->filled.native) s->dev->backend->record(s->dev, -1, &s->filled);
    fy_history_free(&s->history, s->dev, s->addr, s->stream, s->recorded);
    fy_pool *pool = fy_allocator_open(s->dev);
    fy_pool_release(pool, s->block);
    fy_allocator_close(s->dev);
    s->block = NULL;
}

void fy_allocator_empty(fy_site *at)
{
    for (int i = fy_dev_count() > 1 ? 0 : 1; i < fy_dev_count(); i++) {
        const fy_dev *d = fy_dev_at(i);
        fy_pool *pool = fy_allocator_open(d);
        caches[i].at = at;
        fy_pool_empty(pool);
        fy_allocator_close(d);
    }
}

const char *fy_allocator_name(const fy_block *b, char *buf, size_t room)
{
    const fy_storage *s = b->owner;
    const char *file = s->born && s->born->file ? s->born->file : "", *base = strrchr(file, '/');
    size_t n = (size_t)snprintf(buf, room, "%.80s", fy_storage_name(s) ? fy_storage_name(s) : "a tensor");
    if (*file && n < room)
        n += (size_t)snprintf(buf + n, room - n, " (%.80s:%d)", base ? base + 1 : file, s->born->line);
    const fy_site *by = __atomic_load_n(&s->saves, __ATOMIC_RELAXED) ? s->saved_by : NULL;
    if (by && n < room) snprintf(buf + n, room - n, ", saved by %.40s, line %d", by->call, by->line);
    return buf;
}
