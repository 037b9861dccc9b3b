/* log_ring.c: the writer's two rings: of slots, and of the arena. Whoever claims across the border of a chunk writes
 * the chunks before it to their places at the file's end, if all in them is there. The hot path is one comparison with
 * a mark, the next border; only beyond it a lock is taken.
 *
 * While a chunk cannot be written, the ring goes on filling: the disk is full, the limit reached, or another thread is
 * between its claim and its publication. Only a full ring waits, for that thread. If it is a signal that interrupted
 * it, or a debugger that holds it, what it claimed is given up after some seconds, and reads as lost.
 *
 * If a full ring cannot be written, its last slot becomes log_full, and later slots are invalid: the log is frozen.
 * Slots claimed before it are still written, so there is no gap. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "event.h"
#include "log.h"
#include "log_format.h"

enum { PATIENCE = 5000, POLL_US = 1000 }; /* how often a full ring looks again */

/* Why a chunk is not in the file. */
typedef enum trouble { NONE, UNFILLED, COUNT, REFERENCES, BYTES, LAST_TENTH, FILE_LIMIT, DISK, CLOSED, CUT } trouble;

typedef struct ring {
    unsigned char *base;
    _Atomic uint64_t end; /* claims up to here may be filled */
    uint64_t most;        /* which is at most this */
    uint64_t reserved;    /* bytes of the ring: for log_full and for verdicts */
    uint64_t given_up;    /* this chunk is written as it is; UINT64_MAX: none */
    trouble why;
} ring;

_Atomic uint64_t fy_ring_mark[2];
_Atomic bool fy_ring_gave_up;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below, but for `end` and `frozen` */
static fy_log *log_;
static ring rings[2];
static _Atomic bool frozen;
static bool of_verdicts;
static trouble why_full;

/* No signal handler runs while the lock is held: it might emit. SIGBUS is mapping.c's. */
static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

static void unblock_signals(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }

/* ---- bytes of the ring ---- */

static _Atomic uint64_t *written_of(fy_part part) { return &log_->head->written[part]; }

static uint64_t claimed(fy_part part)
{
    return part == FY_SLOTS ? atomic_load(&log_->head->next) * sizeof(fy_slot) : atomic_load(&log_->head->arena);
}

static unsigned char *at(fy_part part, uint64_t from) { return rings[part].base + from % fy_ring_bytes(log_); }

static fy_slot *slot_at(uint64_t from) { return (fy_slot *)at(FY_SLOTS, from); }

static uint16_t kind_at(uint64_t from)
{
    uint16_t stored = atomic_load_explicit(&slot_at(from)->kind, memory_order_acquire);
    return fy_kind_in_slot(log_->chunk, from / sizeof(fy_slot), stored);
}

/* A chunk lies in one piece in the ring, and all its slots are of one lap. */
static bool slots_are_complete(uint64_t from)
{
    uint16_t lap = fy_lap_of(log_->chunk, from / sizeof(fy_slot));
    const fy_slot *slot = slot_at(from), *end = slot + log_->chunk / sizeof *slot;
    for (; slot < end; slot++) {
        uint16_t stored = atomic_load_explicit(&slot->kind, memory_order_acquire);
        if ((stored & FY_LAP) != lap || (stored & FY_KIND_MASK) == FY_KIND_unpublished) return false;
    }
    return true;
}

/* From entry to entry, up to the next border: none lies across it. */
static bool entries_are_complete(uint64_t from)
{
    uint64_t begin = from, end = from + log_->chunk;
    unsigned char *chunk = at(FY_ARENA, from);
    for (from = from ? from : 8; from < end;) { /* byte 0 has no entry */
        uint64_t word = __atomic_load_n((uint64_t *)(void *)(chunk + from - begin), __ATOMIC_ACQUIRE);
        fy_entry entry;
        memcpy(&entry, &word, sizeof entry);
        if (!fy_entry_is_at(entry, (fy_ref)(from / 8))) return false;
        from += (sizeof entry + entry.size + 7ull) & ~7ull;
    }
    return true;
}

static bool is_complete(fy_part part, uint64_t from)
{
    if (rings[part].given_up == from) return true;
    return part == FY_SLOTS ? slots_are_complete(from) : entries_are_complete(from);
}

/* ---- the file ---- */

static bool in_last_tenth(uint64_t bytes)
{
    struct statvfs disk;
    if (fstatvfs(log_->fd, &disk) || !disk.f_blocks) return false;
    return (uint64_t)disk.f_bavail * disk.f_frsize < (uint64_t)disk.f_blocks * disk.f_frsize / 10 + bytes;
}

static trouble why_unwritten(uint64_t place, uint64_t bytes)
{
    uint64_t size;
    fy_log_find_file(log_, fy_trace_path());
    if (!fy_log_has_file(log_, &size)) return CLOSED;
    if (size < fy_log_least_bytes(log_)) return CUT;
    if (place + bytes > log_->head->most_bytes) return BYTES;
    return in_last_tenth(bytes) ? LAST_TENTH : NONE;
}

/* SIGXFSZ is blocked, so that the file size limit is an ordinary error; it was raised, unless the program ignores it. */
static void discard_size_signal(void)
{
    sigset_t too_large;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    sigtimedwait(&too_large, NULL, &(struct timespec){0, 0});
}

static trouble write_bytes(uint64_t place, const void *from, uint64_t bytes)
{
    trouble why = why_unwritten(place, bytes);
    for (const char *p = from; why == NONE && bytes;) {
        ssize_t n = pwrite(log_->fd, p, bytes, (off_t)place);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) why = n < 0 && errno == EFBIG ? FILE_LIMIT : DISK;
        if (why == FILE_LIMIT) discard_size_signal();
        if (n <= 0) break;
        p += n;
        place += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return why;
}

/* ---- draining ---- */

/* The bytes before `written` are in their chunks. */
static void set_written(fy_part part, uint64_t written)
{
    ring *r = &rings[part];
    uint64_t end = written + fy_ring_bytes(log_) - r->reserved;
    atomic_store_explicit(written_of(part), written, memory_order_release);
    atomic_store_explicit(&r->end, end < r->most ? end : r->most, memory_order_release);
}

/* The next border, or the end. */
static void set_mark(fy_part part)
{
    uint64_t end = atomic_load(&rings[part].end), border = (claimed(part) / log_->chunk + 1) * log_->chunk;
    atomic_store_explicit(&fy_ring_mark[part], border < end ? border : end, memory_order_release);
}

/* Writes what can be written, oldest first. Meanwhile other threads need not come here. */
static void drain(fy_part part)
{
    ring *r = &rings[part];
    uint64_t written = atomic_load(written_of(part)), border = claimed(part) / log_->chunk * log_->chunk;
    atomic_store_explicit(&fy_ring_mark[part], atomic_load(&r->end), memory_order_release);
    for (r->why = of_verdicts ? BYTES : NONE; r->why == NONE && written < border;) {
        if (!is_complete(part, written)) r->why = UNFILLED;
        else r->why = write_bytes(fy_chunk_place(log_, part, written), at(part, written), log_->chunk);
        if (r->why == NONE) set_written(part, written += log_->chunk);
    }
    set_mark(part);
}

/* The ring waited for too long: what is missing in its oldest chunk is given up. */
static void give_up(fy_part part)
{
    uint64_t from = atomic_load(written_of(part)), end = from + log_->chunk;
    rings[part].given_up = from;
    atomic_store(&fy_ring_gave_up, true);
    for (; part == FY_SLOTS && from < end; from += sizeof(fy_slot)) {
        fy_slot *slot = slot_at(from);
        uint16_t lap = fy_lap_of(log_->chunk, from / sizeof(fy_slot)), stale = atomic_load(&slot->kind);
        if (kind_at(from) != FY_KIND_unpublished) continue;
        slot->th = 0, slot->call = 0, slot->t = 0;
        atomic_compare_exchange_strong(&slot->kind, &stale, (uint16_t)(FY_KIND_lost | lap));
    }
}

bool fy_ring_is_past(fy_part part, uint64_t from) { return from < atomic_load(written_of(part)); }

/* ---- the log's end ---- */

/* The slot behind the last usable one becomes log_full. If it is the arena that has no room, the event that needs it
 * cannot be recorded, so the log ends before it: the next slot is claimed for log_full, since the event has not claimed
 * its own yet. A file that was truncated gets none. */
static void freeze(fy_part part)
{
    ring *r = &rings[part];
    uint64_t seq = atomic_load(&rings[FY_SLOTS].end) / sizeof(fy_slot);
    atomic_store(&frozen, true);
    for (fy_part each = FY_SLOTS; each <= FY_ARENA; each++) atomic_store(&fy_ring_mark[each], 0);
    bool at_most = atomic_load(&r->end) >= r->most;
    atomic_store(&rings[FY_ARENA].end, 0);
    if (r->why == CUT) {
        fy_log_stop(log_->head);
        return;
    }
    why_full = !at_most ? r->why : part == FY_SLOTS ? COUNT : REFERENCES;
    if (part == FY_ARENA) {
        uint64_t next = atomic_fetch_add(&log_->head->next, 1);
        if (next < seq) seq = next;
        atomic_store(&rings[FY_SLOTS].end, seq * sizeof(fy_slot));
    }
    fy_log_put(seq, FY_KIND_log_full, &(fy_ev_log_full){.limit = (int64_t)seq + 1}, sizeof(fy_ev_log_full));
    atomic_store(&log_->head->full, seq + 1);
}

const char *fy_log_why_full(char *text, size_t room)
{
    static const char closed[] = "the program closed the descriptor of its log";
    struct rlimit file;
    unsigned long long mib = log_ ? log_->head->most_bytes >> 20 : 0, limit = log_ ? log_->head->limit : 0;
    switch (why_full) {
    case COUNT: snprintf(text, room, "trace fewer steps: a log has room for %llu events", limit); break;
    case BYTES:
        if (getrlimit(RLIMIT_FSIZE, &file) || file.rlim_cur > log_->head->most_bytes)
            snprintf(text, room, "trace fewer steps: a log has room for %llu MiB, or more with FERRY_LOG_LIMIT=%lluMiB",
                     mib, 4 * mib);
        else
            snprintf(text, room, "trace fewer steps: a log has room for %llu MiB, or more if you raise ulimit -f", mib);
        break;
    case REFERENCES: snprintf(text, room, "trace fewer steps: a log has room for 16 GiB of text and lists"); break;
    case FILE_LIMIT: snprintf(text, room, "raise ulimit -f, or trace fewer steps"); break;
    case CLOSED: snprintf(text, room, "%s", closed); break;
    case LAST_TENTH:
        snprintf(text, room, "the last tenth of its disk is not used: free some space there, or trace fewer steps");
        break;
    default: snprintf(text, room, "free some space on its disk, or trace fewer steps");
    }
    return text;
}

/* ---- room for a claim ---- */

/* One look at a full ring. True: there is room up to `to`, or never will be. */
static bool is_settled(fy_part part, uint64_t to, bool patient)
{
    ring *r = &rings[part];
    if (!atomic_load(&frozen)) drain(part);
    if (atomic_load(&frozen) || to <= atomic_load(&r->end)) return true;
    if (r->why == UNFILLED && to <= r->most) {
        if (!patient) give_up(part);
        return false;
    }
    freeze(part);
    return true;
}

/* Waits for a full ring. */
static void wait_for_room(fy_part part, uint64_t to)
{
    sigset_t before;
    for (int left = PATIENCE;; left--) {
        block_signals(&before);
        pthread_mutex_lock(&lock);
        bool settled = is_settled(part, to, left > 0);
        pthread_mutex_unlock(&lock);
        unblock_signals(&before);
        if (settled) return;
        usleep(POLL_US);
    }
}

/* At a border only: if another thread is draining, this one need not wait for it. */
static void try_to_drain(fy_part part)
{
    sigset_t before;
    block_signals(&before);
    if (!pthread_mutex_trylock(&lock)) {
        if (!atomic_load(&frozen)) drain(part);
        pthread_mutex_unlock(&lock);
    }
    unblock_signals(&before);
}

bool fy_ring_has_room(fy_part part, uint64_t to)
{
    bool has = to <= atomic_load_explicit(&rings[part].end, memory_order_acquire);
    if (atomic_load(&frozen)) return has;
    if (!has) wait_for_room(part, to);
    else try_to_drain(part);
    return to <= atomic_load_explicit(&rings[part].end, memory_order_acquire);
}

/* ---- large entries ---- */

/* Claims whole chunks. What remains of the chunk before them has no entry. */
static uint64_t claim_chunks(uint64_t bytes)
{
    uint64_t chunk = log_->chunk, from = atomic_load(&log_->head->arena), first, end;
    do {
        first = (from + chunk - 1) / chunk * chunk;
        end = first + (bytes + chunk - 1) / chunk * chunk;
    } while (!atomic_compare_exchange_weak(&log_->head->arena, &from, end));
    if (from < first && fy_ring_has_room(FY_ARENA, first)) fy_entry_put(from, NULL, first - from - sizeof(fy_entry));
    return first;
}

/* An entry's bytes: its head, then p, in chunks that lie apart; and the last byte of the last chunk. */
static trouble write_entry(uint64_t first, const void *p, uint64_t size)
{
    fy_entry entry = fy_entry_of((uint32_t)size, (fy_ref)(first / 8));
    uint64_t chunk = log_->chunk, end = first + sizeof entry + size, at = first + sizeof entry;
    trouble why = write_bytes(fy_chunk_place(log_, FY_ARENA, first), &entry, sizeof entry);
    for (uint64_t n; why == NONE && at < end; at += n) {
        n = chunk - at % chunk < end - at ? chunk - at % chunk : end - at;
        why = write_bytes(fy_chunk_place(log_, FY_ARENA, at), (const char *)p + (at - first - sizeof entry), n);
    }
    uint64_t last = (end + chunk - 1) / chunk * chunk - 1;
    return why == NONE && end <= last ? write_bytes(fy_chunk_place(log_, FY_ARENA, last), "", 1) : why;
}

/* All before it must be in the file first. True: it is done, or never will be. */
static bool store_chunks(uint64_t first, const void *p, uint64_t size, bool patient, bool *stored)
{
    ring *r = &rings[FY_ARENA];
    if (atomic_load(&frozen)) return true;
    drain(FY_ARENA);
    uint64_t written = atomic_load(written_of(FY_ARENA));
    if (written > first) return true; /* given up */
    if (written < first && r->why == UNFILLED) {
        if (!patient) give_up(FY_ARENA);
        return false;
    }
    uint64_t end = (first + sizeof(fy_entry) + size + log_->chunk - 1) / log_->chunk * log_->chunk;
    if (written == first) r->why = end > r->most ? REFERENCES : of_verdicts ? BYTES : write_entry(first, p, size);
    if (r->why != NONE) {
        freeze(FY_ARENA);
        return true;
    }
    set_written(FY_ARENA, end);
    set_mark(FY_ARENA);
    return *stored = true;
}

fy_ref fy_ring_store(const void *p, size_t bytes)
{
    sigset_t before;
    bool settled = false, stored = false;
    uint64_t first = claim_chunks(sizeof(fy_entry) + bytes);
    for (int left = PATIENCE; !settled; left--) {
        block_signals(&before);
        pthread_mutex_lock(&lock);
        settled = store_chunks(first, p, bytes, left > 0, &stored);
        pthread_mutex_unlock(&lock);
        unblock_signals(&before);
        if (!settled) usleep(POLL_US);
    }
    return stored ? (fy_ref)(first / 8) : 0;
}

/* ---- begin and end ---- */

/* Slots that the program claimed beyond its limit are dropped; verdicts follow its last valid one. */
static void drop_beyond(fy_head *h)
{
    uint64_t full = atomic_load(&h->full), next = atomic_load(&h->next);
    uint64_t end = atomic_load(&rings[FY_SLOTS].end) / sizeof(fy_slot), byte = atomic_load(&rings[FY_ARENA].end);
    if (next > end) next = end;
    atomic_store(&h->next, full ? full : next);
    atomic_store(&h->full, 0);
    if (atomic_load(&h->arena) > byte) atomic_store(&h->arena, byte);
}

void fy_ring_begin(fy_log *log, bool verdicts)
{
    const fy_head *h = log->head;
    uint64_t limit = h->limit ? (h->limit - 1) * sizeof(fy_slot) : UINT64_MAX;
    log_ = log;
    why_full = NONE;
    of_verdicts = false;
    atomic_store(&frozen, false);
    atomic_store(&fy_ring_gave_up, false);
    rings[FY_SLOTS] = (ring){.base = (unsigned char *)log->slots, .most = limit, .given_up = UINT64_MAX};
    rings[FY_ARENA] = (ring){.base = log->arena, .most = FY_LOG_MOST_ARENA, .given_up = UINT64_MAX};
    rings[FY_SLOTS].reserved = (FY_VERDICT_SLOTS + 1) * sizeof(fy_slot);
    rings[FY_ARENA].reserved = FY_VERDICT_ARENA;
    for (fy_part part = FY_SLOTS; part <= FY_ARENA; part++) {
        uint64_t written = atomic_load(written_of(part)) / log->chunk * log->chunk;
        set_written(part, written);
    }
    if (verdicts) {
        drop_beyond(log->head);
        of_verdicts = true;
        for (fy_part part = FY_SLOTS; part <= FY_ARENA; part++) {
            rings[part].most = UINT64_MAX;
            rings[part].reserved = part == FY_SLOTS ? sizeof(fy_slot) : 0;
            set_written(part, atomic_load(written_of(part)));
        }
    }
    for (fy_part part = FY_SLOTS; part <= FY_ARENA; part++) set_mark(part);
}

void fy_ring_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    log_ = NULL;
}
