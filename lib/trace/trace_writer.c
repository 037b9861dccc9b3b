/* trace_writer.c: appends events to the log: claim a slot, fill it, publish it. The hot path takes no lock, allocates
 * nothing and formats no text. Data that does not fit a slot is copied to the arena before the slot is published, so a
 * reader of an event sees all of it. What to do at the border of a chunk is in log_ring.c. A process writes to one log
 * at a time. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "event.h"
#include "frame.h"
#include "lane.h"
#include "log.h"
#include "log_format.h"
#include "record_fields.h"
#include "session_hooks.h"

_Atomic uint32_t fy_log_generation;

static _Atomic(fy_head *) head; /* NULL: not recording */
static fy_slot *slots;          /* the rings */
static unsigned char *arena;
static uint64_t chunk; /* bytes */
static uint64_t slot_mask, byte_mask;
static fy_log *mine;
static pid_t owner;              /* the process that writes it */
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

/* Thread 0 is the main thread; the others are numbered by their first event. The 16-bit number saturates: all threads
 * from the 65,535th on share the last one. */
uint16_t fy_log_thread_number(void)
{
    uint32_t generation = atomic_load_explicit(&fy_log_generation, memory_order_relaxed);
    if (self.generation != generation) {
        self.generation = generation;
        uint32_t number = getpid() == gettid() ? 0 : atomic_fetch_add(&threads, 1) + 1;
        self.number = number < UINT16_MAX ? (uint16_t)number : UINT16_MAX;
    }
    return self.number;
}

uint32_t fy_log_new_call(void)
{
    fy_head *h = recording();
    return h ? atomic_fetch_add_explicit(&h->calls, 1, memory_order_relaxed) + 1 : 0;
}

/* Fills a slot except its time and kind. False: it took too long to come here, and the slot may be another event's now.
 */
static bool write_slot(uint64_t seq, fy_ref call, const void *record, size_t bytes)
{
    fy_slot *slot = &slots[seq & slot_mask];
    bool late = __builtin_expect(atomic_load_explicit(&fy_ring_gave_up, memory_order_relaxed), 0) &&
                fy_ring_is_past(FY_SLOTS, seq * sizeof *slot);
    if (late) return false;
    slot->th = fy_log_thread_number();
    slot->call = call;
    memcpy(slot->record, record, bytes < FY_PAYLOAD_BYTES ? bytes : FY_PAYLOAD_BYTES);
    return true;
}

fy_log_thread fy_log_thread_swap(fy_log_thread t)
{
    fy_log_thread was = self;
    self = t;
    return was;
}

/* In place of the event's number. */
static uint64_t lose_event(void)
{
    atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
    return 0;
}

uint64_t fy_log_lost(void) { return atomic_load(&lost); }

/* kind: with how many calls are told. */
static void fill(uint64_t seq, fy_ref call, unsigned kind, const void *record, size_t bytes)
{
    fy_slot *slot = &slots[seq & slot_mask];
    uint16_t stored = (uint16_t)(kind | fy_lap_of(chunk, seq));
    if (!write_slot(seq, call, record, bytes)) {
        lose_event();
        return;
    }
    slot->t = fy_clock_now();
    atomic_store_explicit(&slot->kind, stored, memory_order_release);
}

void fy_log_put(uint64_t seq, fy_kind kind, const void *record, size_t bytes) { fill(seq, 0, kind, record, bytes); }

/* May the slot be filled? */
static bool has_slot(uint64_t seq)
{
    uint64_t end = (seq + 1) * sizeof(fy_slot);
    bool ready = end <= atomic_load_explicit(&fy_ring_mark[FY_SLOTS], memory_order_acquire);
    return __builtin_expect(ready, 1) || fy_ring_has_room(FY_SLOTS, end);
}

uint64_t fy_emit(fy_site *at, fy_kind kind, const void *record, size_t bytes)
{
    FY_LANE_TURN();
    fy_head *h = recording();
    if (!h) return 0;
    unsigned told;
    fy_ref call = fy_call_of_event(at, &told), whole;
    if (record_sizes[kind] > FY_PAYLOAD_BYTES) {
        if (!(whole = fy_ref_bytes(record, bytes))) return lose_event();
        record = &whole;
        bytes = sizeof whole;
    }
    uint64_t seq = atomic_fetch_add_explicit(&h->next, 1, memory_order_acq_rel);
    if (!has_slot(seq)) return lose_event();
    fill(seq, call, kind | told << FY_KIND_BITS, record, bytes);
    return seq;
}

/* Two events that come one after the other take their slots, their time and their call together. Both slots are
 * written before either is published, because each half of an fy_host_op_record needs the other. False: there was no
 * room for both; *seq is the first. */
typedef struct half {
    unsigned kind; /* with its flags */
    const void *record;
    size_t bytes;
} half;

static bool fill_two(fy_head *h, fy_site *at, half first, half second, uint64_t *seq)
{
    unsigned told;
    fy_ref call = fy_call_of_event(at, &told);
    uint64_t n = *seq = atomic_fetch_add_explicit(&h->next, 2, memory_order_acq_rel);
    if (!has_slot(n + 1)) return lose_event(), false;
    fy_slot *one = &slots[n & slot_mask], *two = &slots[(n + 1) & slot_mask];
    if (!write_slot(n, call, first.record, first.bytes) || !write_slot(n + 1, call, second.record, second.bytes))
        return lose_event(), lose_event(), true;
    one->t = two->t = fy_clock_now();
    atomic_store_explicit(&two->kind, (uint16_t)(second.kind | fy_lap_of(chunk, n + 1)), memory_order_release);
    atomic_store_explicit(&one->kind, (uint16_t)(first.kind | told << FY_KIND_BITS | fy_lap_of(chunk, n)),
                          memory_order_release);
    return true;
}

/* If the log ends between the two, the first has nothing. */
bool fy_emit_host_op(fy_site *at, const fy_host_op_record *o)
{
    FY_LANE_TURN();
    fy_head *h = recording();
    uint64_t seq;
    if (!h || atomic_load_explicit(&h->next, memory_order_relaxed) >= FY_REF_PAIRED / 4) return false;
    half op = {FY_KIND_op | FY_PAIRED, o, FY_PAYLOAD_BYTES},
         complete = {FY_KIND_complete | FY_PAIRED, (const char *)o + FY_PAYLOAD_BYTES, FY_PAYLOAD_BYTES};
    if (fill_two(h, at, op, complete, &seq)) return true;
    if (has_slot(seq)) fill(seq, 0, FY_KIND_lost, "", 0);
    else lose_event();
    return true;
}

void fy_emit_drop_free(fy_site *at, const fy_ev_drop *dropped, const fy_ev_free *freed)
{
    FY_LANE_TURN();
    fy_head *h = recording();
    uint64_t seq;
    if (!h) return;
    half first = {FY_KIND_drop, dropped, sizeof *dropped}, second = {FY_KIND_free, freed, sizeof *freed};
    if (fill_two(h, at, first, second, &seq)) return;
    if (has_slot(seq)) fill(seq, 0, FY_KIND_drop, dropped, sizeof *dropped);
    else lose_event();
}

/* ---- the arena ---- */

void fy_entry_put(uint64_t from, const void *p, size_t bytes)
{
    unsigned char *to = arena + (from & byte_mask);
    fy_entry entry = fy_entry_of((uint32_t)bytes, (fy_ref)(from / 8));
    uint64_t word;
    if (atomic_load_explicit(&fy_ring_gave_up, memory_order_relaxed) && fy_ring_is_past(FY_ARENA, from)) return;
    if (p) memcpy(to + sizeof entry, p, bytes);
    memcpy(&word, &entry, sizeof word);
    __atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELEASE);
}

/* A claim across the border of a chunk is filled with two empty entries, and made again. */
fy_ref fy_ref_bytes(const void *p, size_t bytes)
{
    fy_head *h = p ? recording() : NULL;
    if (!h || bytes > UINT32_MAX - 16) return 0;
    uint64_t size = (sizeof(fy_entry) + bytes + 7) & ~7ull;
    if (size > chunk / 4) return fy_ring_store(p, bytes);
    for (;;) {
        uint64_t from = atomic_fetch_add_explicit(&h->arena, size, memory_order_relaxed), to = from + size;
        bool ready = to <= atomic_load_explicit(&fy_ring_mark[FY_ARENA], memory_order_acquire);
        if (__builtin_expect(!ready, 0) && !fy_ring_has_room(FY_ARENA, to)) return 0;
        uint64_t border = (from | (chunk - 1)) + 1;
        if (__builtin_expect(to <= border, 1)) {
            fy_entry_put(from, p, bytes);
            return (fy_ref)(from / 8);
        }
        fy_entry_put(from, NULL, border - from - sizeof(fy_entry));
        fy_entry_put(border, NULL, to - border - sizeof(fy_entry));
    }
}

/* Strings and shapes are interned by content, in a lock-free open-addressing table. Its cells have the log's generation
 * in the upper 32 bits, so a new log invalidates them all, and in the lower the place in the pool of the reference and
 * of a copy: the arena's bytes may have left the ring. After PROBES collisions, or when the pool is full, a value is
 * stored again. */
enum { INTERNED = 4096, PROBES = 8, LONGEST = 256, POOL = 64 * INTERNED / sizeof(uint64_t) };
static _Atomic uint64_t interned[INTERNED];
static uint64_t pool[POOL]; /* {reference, size} and bytes */
static _Atomic uint32_t pool_used;

/* Returns the place of a copy, or POOL. */
static uint32_t keep(fy_ref ref, const void *p, size_t n)
{
    uint32_t words = 1 + (uint32_t)(n + 7) / 8, place = atomic_load(&pool_used);
    do {
        if (place + words > POOL) return POOL;
    } while (!atomic_compare_exchange_weak(&pool_used, &place, place + words));
    pool[place] = ref | (uint64_t)n << 32;
    memcpy(pool + place + 1, p, n);
    return place;
}

static fy_ref intern(uint64_t hash, const void *p, size_t n)
{
    uint64_t generation = atomic_load(&fy_log_generation);
    fy_ref made = 0;
    uint32_t place = POOL;
    hash ^= hash >> 32;
    for (uint64_t i = 0; i < PROBES; i++) {
        _Atomic uint64_t *cell = &interned[(hash + i) % INTERNED];
        uint64_t found = atomic_load_explicit(cell, memory_order_acquire);
        if (found >> 32 != generation) {
            if (!made && !(made = fy_ref_bytes(p, n))) return 0;
            if (place == POOL && (place = keep(made, p, n)) == POOL) return made;
            if (atomic_compare_exchange_strong(cell, &found, generation << 32 | place)) return made;
        }
        if (found >> 32 != generation) continue;
        const uint64_t *kept = pool + (uint32_t)found;
        if (*kept >> 32 == n && !memcmp(kept + 1, p, n)) return (fy_ref)*kept;
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

fy_ref fy_ref_dtype(fy_dtype d)
{
    static _Atomic uint64_t known[FY_WORD_COUNT]; /* by word: the log's generation, and the reference */
    fy_word word = fy_dtype_word(d);
    uint64_t generation = atomic_load_explicit(&fy_log_generation, memory_order_relaxed);
    uint64_t found = atomic_load_explicit(&known[word], memory_order_relaxed);
    if (found >> 32 == generation) return (fy_ref)found;
    fy_ref made = fy_ref_str(fy_word_name(word));
    if (made) atomic_store_explicit(&known[word], generation << 32 | made, memory_order_relaxed);
    return made;
}

/* ---- opening and closing ---- */

void fy_log_forked(void)
{
    atomic_store(&head, NULL);
    fy_ring_forked();
    fy_log_close(mine); /* unmaps it here; the parent keeps its own mapping */
    mine = NULL;
}

static void close_current(void)
{
    if (owner != getpid()) fy_log_forked();
    atomic_store(&head, NULL);
    fy_log_close(mine);
    mine = NULL;
    owner = getpid();
}

static void start_writing(fy_log *log, bool verdicts)
{
    slots = log->slots;
    arena = log->arena;
    chunk = log->chunk;
    byte_mask = fy_ring_bytes(log) - 1;
    slot_mask = fy_ring_bytes(log) / sizeof(fy_slot) - 1;
    fy_ring_begin(log, verdicts);
    atomic_store(&threads, 0);
    atomic_store(&lost, 0);
    atomic_store(&pool_used, 0);
    atomic_fetch_add(&fy_log_generation, 1);
    atomic_store_explicit(&head, log->head, memory_order_release);
}

bool fy_log_adopt(int fd, char *err, size_t room)
{
    close_current();
    fy_log *log = fy_log_open(fd, err, room);
    if (!log) return false;
    if (!log->writable || log->cuts) {
        snprintf(err, room, "the log on descriptor %d is not writable, or truncated; create it with fy_log_file", fd);
        fy_log_close(log);
        return false;
    }
    const char *number = getenv("FERRY_LOG_PID"); /* as others see it, from outside of this process' namespace */
    atomic_store(&log->head->writer, number && *number ? strtoll(number, NULL, 10) : getpid());
    atomic_store(&log->head->born, fy_process_started(0));
    start_writing(log, false);
    mine = log;
    return true;
}

void fy_log_write_to(fy_log *log)
{
    close_current();
    if (!log || !log->writable || fy_log_is_truncated(log)) return;
    fy_session_disable();
    start_writing(log, true);
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
}
