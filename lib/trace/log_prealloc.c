/* log_prealloc.c: reserves disk blocks and memory ahead of the writer.
 *
 * The log's file is sparse: on a full disk a store to an unallocated page would raise SIGBUS. So blocks are reserved
 * first, by calls that report a full disk, and writers may write up to a mark. The hot path is one comparison with the
 * mark; only beyond it a lock is taken. A helper thread reserves ahead once half of the initial reservation is used, so
 * small programs have none.
 *
 * If the disk is full or the limit is reached, the last reserved slot becomes log_full, and later slots are invalid:
 * the log is frozen. Slots claimed before it are still written, so there is no gap. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event.h"
#include "log.h"
#include "log_format.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum { FIRST_SLOTS = 512 << 10, FIRST_ARENA = 256 << 10, STEP = 1 << 20, AHEAD = 16 << 20 };

/* The slots or the arena; bytes [0, ready) are reserved. */
typedef struct region {
    unsigned char *base;
    uint64_t cap, ready;
} region;

_Atomic uint64_t fy_slot_mark, fy_arena_mark;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static fy_log *log_;
static region slots, arena;
static bool frozen;
static bool helper_runs;
static bool helper_failed; /* the disk is full, or it could not be started: writers reserve for themselves */
static bool ending;
static pthread_t helper;
static sem_t wakeup;

/* ---- reserving ---- */

/* Reserves blocks by writing zeros, which works on every file system. The range is still unused. */
static bool write_zeros(int fd, off_t from, uint64_t bytes)
{
    static const char zeros[4096];
    while (bytes) {
        size_t n = bytes < sizeof zeros ? bytes : sizeof zeros;
        ssize_t done = pwrite(fd, zeros, n, from);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        from += done;
        bytes -= (uint64_t)done;
    }
    return true;
}

/* For kernels without MADV_POPULATE_WRITE. The program may have closed our descriptor and reused its number. */
static bool reserve_by_file(unsigned char *from, uint64_t bytes)
{
    struct stat s;
    if (fstat(log_->fd, &s) || s.st_dev != log_->device || s.st_ino != log_->number) return false;
    off_t offset = from - (unsigned char *)log_->head;
    int error = posix_fallocate(log_->fd, offset, (off_t)bytes);
    if (error == EOPNOTSUPP || error == EINVAL) {
        if (!write_zeros(log_->fd, offset, bytes)) return false;
    } else if (error) {
        return false;
    }
    for (uint64_t i = 0; i < bytes; i += 4096) ((volatile unsigned char *)from)[i] = 0;
    return true;
}

static bool populate(unsigned char *from, uint64_t bytes)
{
    int result;
    do result = madvise(from, bytes, MADV_POPULATE_WRITE);
    while (result && (errno == EINTR || errno == EAGAIN));
    return !result || (errno == EINVAL && reserve_by_file(from, bytes));
}

/* Reserves [0, upto) of the region, in steps. */
static bool extend(region *r, uint64_t upto)
{
    if (upto > r->cap) upto = r->cap;
    while (r->ready < upto) {
        uint64_t step = r->cap - r->ready < STEP ? r->cap - r->ready : STEP;
        if (!populate(r->base + r->ready, step)) return false;
        r->ready += step;
    }
    return true;
}

/* Number of reserved slots, without the last one, kept for log_full. */
static uint64_t usable_slots(void) { return slots.ready / sizeof(fy_slot) - 1; }

/* A mark is where the helper should be woken or, if it was, the end of the reservation. */
static void set_marks(bool woken)
{
    uint64_t slot = usable_slots(), byte = arena.ready;
    if (!woken && !helper_failed) {
        slot -= slot / 2 < AHEAD / 2 / sizeof(fy_slot) ? slot / 2 : AHEAD / 2 / sizeof(fy_slot);
        byte -= byte / 2 < AHEAD / 2 ? byte / 2 : AHEAD / 2;
    }
    atomic_store_explicit(&fy_slot_mark, slot, memory_order_release);
    atomic_store_explicit(&fy_arena_mark, byte, memory_order_release);
}

/* ---- the helper ---- */

/* Which region has less than AHEAD in reserve, and can grow? NULL: neither. */
static region *to_extend(void)
{
    uint64_t slot_bytes = atomic_load(&log_->head->next) * sizeof(fy_slot);
    uint64_t arena_bytes = atomic_load(&log_->head->arena);
    if (slots.ready < slots.cap && slots.ready < slot_bytes + AHEAD) return &slots;
    return arena.ready < arena.cap && arena.ready < arena_bytes + AHEAD ? &arena : NULL;
}

static void *run_helper(void *unused)
{
    (void)unused;
    for (;;) {
        while (sem_wait(&wakeup) && errno == EINTR) continue;
        for (bool more = true; more;) {
            pthread_mutex_lock(&lock);
            if (ending) {
                pthread_mutex_unlock(&lock);
                return NULL;
            }
            region *r = frozen ? NULL : to_extend();
            more = r && extend(r, r->ready + STEP);
            if (r && !more) helper_failed = true;
            if (!frozen) set_marks(false);
            pthread_mutex_unlock(&lock); /* between steps, so that writers never wait long */
        }
    }
}

static void wake_helper(void)
{
    if (!helper_runs && !helper_failed && !ending) {
        sigset_t all, before;
        sigfillset(&all);
        sigdelset(&all, SIGBUS);                     /* handled by mapping.c */
        pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's threads handle the others */
        helper_runs = !sem_init(&wakeup, 0, 0) && !pthread_create(&helper, NULL, run_helper, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        helper_failed = !helper_runs;
    }
    if (helper_runs && !helper_failed) sem_post(&wakeup);
    set_marks(true);
}

/* ---- the writer's slow path ---- */

/* Makes slot `seq` log_full. */
static void freeze(uint64_t seq)
{
    frozen = true;
    fy_log_put(seq, FY_KIND_log_full, &(fy_ev_log_full){.limit = (int64_t)seq + 1}, sizeof(fy_ev_log_full));
    atomic_store(&log_->head->full, seq + 1);
    atomic_store(&fy_slot_mark, 0);
    atomic_store(&fy_arena_mark, 0);
}

bool fy_reserve_slot(uint64_t seq)
{
    pthread_mutex_lock(&lock);
    if (!frozen && seq >= usable_slots() && !(extend(&slots, (seq + 2) * sizeof(fy_slot)) && seq < usable_slots()))
        freeze(usable_slots());
    else if (!frozen) wake_helper();
    bool mine = frozen ? seq + 1 < atomic_load(&log_->head->full) : true;
    pthread_mutex_unlock(&lock);
    return mine;
}

/* If they do not fit, the event that needs these bytes cannot be recorded, so the log ends before it: the next slot is
 * claimed for log_full, since the event has not claimed its own yet. */
bool fy_reserve_arena(uint64_t from, uint64_t to)
{
    pthread_mutex_lock(&lock);
    bool fits = !frozen && from < to && to <= arena.cap && extend(&arena, to);
    if (!frozen && !fits) {
        atomic_store(&fy_slot_mark, 0);
        uint64_t seq = atomic_fetch_add(&log_->head->next, 1);
        freeze(seq < usable_slots() ? seq : usable_slots());
    }
    if (!frozen) wake_helper();
    pthread_mutex_unlock(&lock);
    return fits;
}

/* ---- begin and end ---- */

/* Reserves blocks without touching pages, if the file system can: small programs use few of them. */
static bool reserve_blocks(unsigned char *from, uint64_t bytes)
{
    off_t offset = from - (unsigned char *)log_->head;
    if (!fallocate(log_->fd, 0, offset, (off_t)bytes)) return true;
    return errno != ENOSPC && populate(from, bytes);
}

static bool reserve_first(void)
{
    uint64_t used_slots = atomic_load(&log_->head->next) * sizeof(fy_slot),
             used_arena = atomic_load(&log_->head->arena);
    uint64_t slot_bytes = used_slots + FIRST_SLOTS < slots.cap ? used_slots + FIRST_SLOTS : slots.cap;
    uint64_t arena_bytes = used_arena + FIRST_ARENA < arena.cap ? used_arena + FIRST_ARENA : arena.cap;
    arena_bytes = arena_bytes / FY_LOG_ALIGN * FY_LOG_ALIGN;
    slot_bytes = slot_bytes < slots.cap ? slot_bytes / FY_LOG_ALIGN * FY_LOG_ALIGN : slot_bytes;
    if (!populate((unsigned char *)log_->head, 4096)) return false;
    if (!reserve_blocks(slots.base, slot_bytes) || !reserve_blocks(arena.base, arena_bytes)) return false;
    slots.ready = slot_bytes;
    arena.ready = arena_bytes;
    return true;
}

bool fy_reserve_begin(fy_log *log, bool verdicts, char *err, size_t room)
{
    const fy_head *h = log->head;
    log_ = log;
    slots = (region){(unsigned char *)log->slots, h->limit * sizeof(fy_slot), 0};
    arena = (region){log->arena, h->arena_bytes, 0};
    if (verdicts) {
        slots.cap = log->slot_count * sizeof(fy_slot);
        arena.cap = log->arena_bytes;
    }
    frozen = helper_runs = ending = false;
    helper_failed = verdicts; /* few events: no helper */
    if (!reserve_first()) {
        snprintf(err, room,
                 "cannot reserve space for the log: %s; free some space, or choose another disk with XDG_STATE_HOME "
                 "or FERRY_TRACE",
                 strerror(errno == EFAULT ? ENOSPC : errno));
        return false;
    }
    set_marks(false);
    return true;
}

void fy_reserve_end(void)
{
    pthread_mutex_lock(&lock);
    bool join = helper_runs;
    ending = true;
    helper_runs = false;
    pthread_mutex_unlock(&lock);
    if (!join) return;
    sem_post(&wakeup);
    pthread_join(helper, NULL);
    sem_destroy(&wakeup);
}

void fy_reserve_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    helper_runs = false;
    log_ = NULL;
}
