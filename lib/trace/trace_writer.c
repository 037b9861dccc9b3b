/* trace_writer.c: appends events to the log: claim a slot, fill it, publish it. The hot path takes no lock, allocates
 * nothing and formats no text. Data that does not fit a slot is copied to the arena before the slot is published, so a
 * reader of an event sees all of it. A process writes to one log at a time. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "event.h"
#include "lane.h"
#include "log.h"
#include "log_format.h"
#include "session_hooks.h"
#include "site.h"

_Atomic uint32_t fy_log_generation;

static _Atomic(fy_head *) head; /* NULL: not recording */
static fy_slot *slots;
static unsigned char *arena;
static fy_log *mine;
static pid_t owner;              /* the process that has the helper thread */
static _Atomic uint32_t threads; /* threads numbered in this log */
static _Atomic uint64_t lost;    /* events that this log had no room for */

static _Thread_local fy_log_thread self;

static const uint8_t record_sizes[FY_KIND_COUNT] = {
#define KIND(kind, doc) [FY_KIND_##kind] = sizeof(fy_ev_##kind),
#define FIELD(kind, type, name, doc)
#define END(kind)
    FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END
};

#define KIND(kind, doc) _Static_assert(sizeof(fy_ev_##kind) <= FY_RECORD_MAX, "readers have room for a " #kind);
#define FIELD(kind, type, name, doc)
#define END(kind)
FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END

size_t fy_record_size(unsigned kind) { return kind < FY_KIND_COUNT ? record_sizes[kind] : 0; }

/* The current log's head, or NULL. Starts a log if one is due (the first event of a forked child). */
static fy_head *recording(void)
{
    fy_head *h = atomic_load_explicit(&head, memory_order_acquire);
    if (__builtin_expect(h != NULL, 1)) return h;
    return fy_session_start_late() ? atomic_load_explicit(&head, memory_order_acquire) : NULL;
}

bool fy_log_is_on(void)
{
    FY_LANE_TURN(); /* as fy_emit, which a caller that gets false leaves out: lanes take the same turns without a log */
    return recording() != NULL;
}

/* Fills a slot except its time and kind. Thread 0 is the main thread; the others are numbered by their first event. The
 * 16-bit number saturates: all threads from the 65,535th on share the last one. */
static void write_slot(fy_slot *slot, fy_ref site, const void *record, size_t bytes)
{
    uint32_t generation = atomic_load_explicit(&fy_log_generation, memory_order_relaxed);
    if (self.generation != generation) {
        self.generation = generation;
        uint32_t number = getpid() == gettid() ? 0 : atomic_fetch_add(&threads, 1) + 1;
        self.number = number < UINT16_MAX ? (uint16_t)number : UINT16_MAX;
    }
    slot->th = self.number;
    slot->site = site;
    memcpy(slot->record, record, bytes < FY_PAYLOAD_BYTES ? bytes : FY_PAYLOAD_BYTES);
}

fy_log_thread fy_log_thread_swap(fy_log_thread t)
{
    fy_log_thread was = self;
    self = t;
    return was;
}

static void fill(fy_slot *slot, fy_ref site, fy_kind kind, const void *record, size_t bytes)
{
    write_slot(slot, site, record, bytes);
    slot->t = fy_clock_now();
    atomic_store_explicit(&slot->kind, (uint16_t)kind, memory_order_release);
}

void fy_log_put(uint64_t seq, fy_kind kind, const void *record, size_t bytes)
{
    fill(&slots[seq], 0, kind, record, bytes);
}

/* In place of the event's number. */
static uint64_t lose_event(void)
{
    atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
    return 0;
}

uint64_t fy_log_lost(void) { return atomic_load(&lost); }

uint64_t fy_emit(fy_site *at, fy_kind kind, const void *record, size_t bytes)
{
    FY_LANE_TURN();
    fy_head *h = recording();
    if (!h) return 0;
    fy_ref site = fy_site_ref(at), whole;
    if (record_sizes[kind] > FY_PAYLOAD_BYTES) {
        if (!(whole = fy_ref_bytes(record, bytes))) return lose_event();
        record = &whole;
        bytes = sizeof whole;
    }
    uint64_t seq = atomic_fetch_add_explicit(&h->next, 1, memory_order_acq_rel);
    bool ready = seq < atomic_load_explicit(&fy_slot_mark, memory_order_acquire);
    if (__builtin_expect(!ready, 0) && !fy_reserve_slot(seq)) return lose_event();
    fill(&slots[seq], site, kind, record, bytes);
    return seq;
}

/* Not near the mark: the first slot could be the log's last, and the record would be torn. */
bool fy_emit_host_op(fy_site *at, const fy_host_op_record *o)
{
    enum { NEAR = 1024 }; /* more than the threads that are here concurrently */
    FY_LANE_TURN();
    fy_head *h = recording();
    uint64_t mark = atomic_load_explicit(&fy_slot_mark, memory_order_acquire);
    if (!h || atomic_load_explicit(&h->next, memory_order_relaxed) + NEAR >= mark) return false;
    fy_ref site = fy_site_ref(at);
    uint64_t seq = atomic_fetch_add_explicit(&h->next, 2, memory_order_acq_rel);
    if (seq + 1 >= mark && !(fy_reserve_slot(seq) && fy_reserve_slot(seq + 1))) return lose_event(), lose_event(), true;

    /* Both slots are written before either is published, because each needs the other's half of the record. */
    fy_slot *slot = &slots[seq];
    write_slot(slot, site, o, FY_PAYLOAD_BYTES);
    write_slot(slot + 1, site, (const char *)o + FY_PAYLOAD_BYTES, FY_PAYLOAD_BYTES);
    slot[0].t = slot[1].t = fy_clock_now();
    atomic_store_explicit(&slot[1].kind, FY_KIND_complete | FY_PAIRED, memory_order_release);
    atomic_store_explicit(&slot->kind, FY_KIND_op | FY_PAIRED, memory_order_release);
    return true;
}

/* ---- the arena ---- */

void *fy_ref_alloc(size_t bytes, fy_ref *ref)
{
    fy_head *h = recording();
    *ref = 0;
    if (!h || bytes > UINT32_MAX - 16) return NULL;
    uint64_t size = (sizeof(fy_entry) + bytes + 7) & ~7ull;
    uint64_t from = atomic_fetch_add_explicit(&h->arena, size, memory_order_relaxed);
    bool ready = from + size <= atomic_load_explicit(&fy_arena_mark, memory_order_acquire);
    if (__builtin_expect(!ready, 0) && !fy_reserve_arena(from, from + size)) return NULL;
    fy_entry entry = {(uint32_t)bytes, (uint32_t)bytes ^ FY_ENTRY_MARK};
    memcpy(arena + from, &entry, sizeof entry);
    *ref = (fy_ref)(from / 8);
    return arena + from + sizeof entry;
}

fy_ref fy_ref_bytes(const void *p, size_t bytes)
{
    fy_ref ref = 0;
    void *to = p ? fy_ref_alloc(bytes, &ref) : NULL;
    if (to) memcpy(to, p, bytes);
    return ref;
}

/* Strings and shapes are interned by content, in a lock-free open-addressing table. An entry is the log's generation in
 * the upper 32 bits and the reference in the lower, so a new log invalidates them all. After PROBES collisions a value
 * is stored again. */
enum { INTERNED = 4096, PROBES = 8, LONGEST = 256 };
static _Atomic uint64_t interned[INTERNED];

static fy_ref intern(uint64_t hash, const void *p, size_t n)
{
    uint64_t generation = atomic_load(&fy_log_generation);
    fy_ref made = 0;
    hash ^= hash >> 32;
    for (uint64_t i = 0; i < PROBES; i++) {
        _Atomic uint64_t *cell = &interned[(hash + i) % INTERNED];
        uint64_t found = atomic_load_explicit(cell, memory_order_acquire);
        if (found >> 32 != generation) {
            if (!made && !(made = fy_ref_bytes(p, n))) return 0;
            if (atomic_compare_exchange_strong(cell, &found, generation << 32 | made)) return made;
        }
        if (found >> 32 != generation) continue;
        const unsigned char *stored = arena + 8ull * (fy_ref)found;
        fy_entry entry;
        memcpy(&entry, stored, sizeof entry);
        if (entry.size == n && !memcmp(stored + sizeof entry, p, n)) return (fy_ref)found;
    }
    return made ? made : fy_ref_bytes(p, n);
}

#define HASH_BASIS 14695981039346656037u
#define HASH_PRIME 1099511628211u

fy_ref fy_ref_str(const char *s)
{
    if (!s || !fy_log_is_on()) return 0;
    size_t n = strlen(s);
    if (n > LONGEST) return fy_ref_bytes(s, n);
    uint64_t hash = HASH_BASIS;
    for (size_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)s[i]) * HASH_PRIME;
    return intern(hash, s, n);
}

fy_ref fy_ref_dims(const int64_t *dims, int n)
{
    if (!fy_log_is_on()) return 0;
    uint64_t hash = HASH_BASIS;
    for (int i = 0; i < n; i++) hash = (hash ^ (uint64_t)dims[i]) * HASH_PRIME;
    return intern(hash, dims, (size_t)n * sizeof *dims);
}

/* ---- opening and closing ---- */

void fy_log_forked(void)
{
    atomic_store(&head, NULL);
    fy_reserve_forked();
    fy_log_close(mine); /* unmaps it here; the parent keeps its own mapping */
    mine = NULL;
}

static void close_current(void)
{
    if (owner != getpid()) fy_log_forked();
    atomic_store(&head, NULL);
    fy_reserve_end();
    fy_log_close(mine);
    mine = NULL;
    owner = getpid();
}

static bool start_writing(fy_log *log, bool verdicts, char *err, size_t room)
{
    if (!fy_reserve_begin(log, verdicts, err, room)) return false;
    slots = log->slots;
    arena = log->arena;
    atomic_store(&threads, 0);
    atomic_store(&lost, 0);
    atomic_fetch_add(&fy_log_generation, 1);
    atomic_store_explicit(&head, log->head, memory_order_release);
    return true;
}

bool fy_log_adopt(int fd, char *err, size_t room)
{
    close_current();
    fy_log *log = fy_log_open(fd, err, room);
    if (!log) return false;
    if (!log->writable || log->arena_bytes < log->head->arena_bytes + FY_VERDICT_ARENA) {
        snprintf(err, room, "the log on descriptor %d is not writable, or truncated; create it with fy_log_file", fd);
        fy_log_close(log);
        return false;
    }
    const char *number = getenv("FERRY_LOG_PID"); /* as others see it, from outside of this process' namespace */
    atomic_store(&log->head->writer, number && *number ? strtoll(number, NULL, 10) : getpid());
    atomic_store(&log->head->born, fy_process_started(0));
    if (!start_writing(log, false, err, room)) {
        fy_log_close(log);
        return false;
    }
    mine = log;
    return true;
}

/* Slots that the program claimed beyond its limit are dropped; verdicts follow its last valid one. */
void fy_log_write_to(fy_log *log)
{
    char err[256];
    close_current();
    if (!log || !log->writable || log->arena_bytes < log->head->arena_bytes + FY_VERDICT_ARENA) return;
    fy_head *h = log->head;
    uint64_t full = atomic_load(&h->full), next = atomic_load(&h->next);
    atomic_store(&h->next, full ? full : next < h->limit ? next : h->limit);
    atomic_store(&h->full, 0);
    if (atomic_load(&h->arena) > h->arena_bytes) atomic_store(&h->arena, h->arena_bytes);
    fy_session_disable();
    start_writing(log, true, err, sizeof err);
}

fy_log *fy_log_of_process(void) { return mine; }

void fy_log_stop(const fy_head *log)
{
    fy_head *h = (fy_head *)(uintptr_t)log;
    atomic_compare_exchange_strong(&head, &h, NULL);
}

void fy_log_end(void)
{
    fy_head *h = atomic_exchange(&head, NULL);
    if (h) atomic_store_explicit(&h->ended, 1, memory_order_release);
    fy_reserve_end();
}
