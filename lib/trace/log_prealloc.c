/* log_prealloc.c: room ahead of the writer, on the disk and in memory.
 *
 * The log's file is sparse: a store into a page for which the disk has no block would kill the program
 * with SIGBUS. So room is reserved first, with a call that reports a full disk, and writers go up to a
 * mark. One compare with the mark is all that the hot path pays; beyond it, and only there, a lock is
 * taken. A helper thread reserves ahead once half of the first room is used: small programs have none.
 *
 * When no room can be had, or the limit is reached, the last slot that was reserved becomes log_full,
 * and nothing later counts: the log is frozen. Claims below that slot are still honoured, so there is
 * no hole. */
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

/* The slots or the arena: bytes [0, ready) of it may be written. */
typedef struct region {
    unsigned char *base;
    uint64_t cap, ready;
} region;

_Atomic uint64_t fy_slot_mark, fy_arena_mark;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static fy_log *log_;
static region slots, arena;
static bool frozen;
static bool helped;   /* the helper runs */
static bool hopeless; /* the helper met a full disk, or could not be started: writers help themselves */
static bool ending;
static pthread_t helper;
static sem_t wanted;

/* ---- reserving ---- */

/* Reserve blocks by writing zeros: works on every file system. Nothing was written there before. */
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

/* For kernels without MADV_POPULATE_WRITE. The program may have closed our descriptor, and its number may
 * mean another file by now. */
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

/* Make [0, upto) of the region writable; a step at a time. */
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

/* Slots that may be written, the last one kept for log_full. */
static uint64_t usable(void) { return slots.ready / sizeof(fy_slot) - 1; }

/* Marks lie where the helper should be woken, or at the end of what is ready. */
static void set_marks(bool woken)
{
    uint64_t slot = usable(), byte = arena.ready;
    if (!woken && !hopeless) {
        slot -= slot / 2 < AHEAD / 2 / sizeof(fy_slot) ? slot / 2 : AHEAD / 2 / sizeof(fy_slot);
        byte -= byte / 2 < AHEAD / 2 ? byte / 2 : AHEAD / 2;
    }
    atomic_store_explicit(&fy_slot_mark, slot, memory_order_release);
    atomic_store_explicit(&fy_arena_mark, byte, memory_order_release);
}

/* ---- the helper ---- */

static bool behind(void)
{
    uint64_t slot_bytes = atomic_load(&log_->head->next) * sizeof(fy_slot);
    uint64_t arena_bytes = atomic_load(&log_->head->arena);
    return (slots.ready < slots.cap && slots.ready < slot_bytes + AHEAD) ||
           (arena.ready < arena.cap && arena.ready < arena_bytes + AHEAD);
}

/* One step for whoever needs it more; false when the disk is full. */
static bool step_ahead(void)
{
    uint64_t slot_bytes = atomic_load(&log_->head->next) * sizeof(fy_slot);
    bool of_slots = slots.ready < slots.cap && slots.ready < slot_bytes + AHEAD;
    region *r = of_slots ? &slots : &arena;
    return extend(r, r->ready + STEP);
}

static void *help(void *unused)
{
    (void)unused;
    for (;;) {
        while (sem_wait(&wanted) && errno == EINTR) continue;
        for (bool more = true; more;) {
            pthread_mutex_lock(&lock);
            if (ending) {
                pthread_mutex_unlock(&lock);
                return NULL;
            }
            more = !frozen && behind();
            if (more && !step_ahead()) hopeless = true, more = false;
            if (!frozen) set_marks(false);
            pthread_mutex_unlock(&lock); /* between steps, so that a writer never waits long */
        }
    }
}

static void start_helper(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);                     /* mapping.c's */
    pthread_sigmask(SIG_SETMASK, &all, &before); /* other signals are the program's */
    helped = !sem_init(&wanted, 0, 0) && !pthread_create(&helper, NULL, help, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    hopeless = !helped;
}

static void wake_helper(void)
{
    if (!helped && !hopeless && !ending) start_helper();
    if (helped && !hopeless) sem_post(&wanted);
    set_marks(true);
}

/* ---- the writer's slow path ---- */

/* Slot `seq` becomes log_full. */
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
    if (!frozen && seq >= usable() && !(extend(&slots, (seq + 2) * sizeof(fy_slot)) && seq < usable()))
        freeze(usable());
    else if (!frozen) wake_helper();
    bool mine = frozen ? seq + 1 < atomic_load(&log_->head->full) : true;
    pthread_mutex_unlock(&lock);
    return mine;
}

/* The event that needed these bytes cannot be recorded whole, so the log ends before it: the next slot
 * is claimed for log_full, and whoever lacks bytes claims later. */
static void freeze_here(void)
{
    atomic_store(&fy_slot_mark, 0);
    uint64_t seq = atomic_fetch_add(&log_->head->next, 1);
    freeze(seq < usable() ? seq : usable());
}

bool fy_reserve_arena(uint64_t from, uint64_t to)
{
    pthread_mutex_lock(&lock);
    bool fits = !frozen && from < to && to <= arena.cap && extend(&arena, to);
    if (!frozen && !fits) freeze_here();
    if (!frozen) wake_helper();
    pthread_mutex_unlock(&lock);
    return fits;
}

/* ---- begin and end ---- */

/* Blocks alone, where the file system gives them: a small program touches few of its pages. */
static bool reserve_blocks(unsigned char *from, uint64_t bytes)
{
    off_t offset = from - (unsigned char *)log_->head;
    if (!fallocate(log_->fd, 0, offset, (off_t)bytes)) return true;
    return errno != ENOSPC && populate(from, bytes);
}

static bool first_room(void)
{
    uint64_t used_slots = atomic_load(&log_->head->next) * sizeof(fy_slot),
             used_arena = atomic_load(&log_->head->arena);
    uint64_t slot_bytes = used_slots + FIRST_SLOTS < slots.cap ? used_slots + FIRST_SLOTS : slots.cap;
    uint64_t arena_bytes = used_arena + FIRST_ARENA < arena.cap ? used_arena + FIRST_ARENA : arena.cap;
    arena_bytes = arena_bytes / FY_LOG_PIECE * FY_LOG_PIECE;
    slot_bytes = slot_bytes < slots.cap ? slot_bytes / FY_LOG_PIECE * FY_LOG_PIECE : slot_bytes;
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
    frozen = helped = ending = false;
    hopeless = verdicts; /* few events: no thread for them */
    if (!first_room()) {
        snprintf(err, room,
                 "no room for the log: %s; free some space, or choose another disk with XDG_STATE_HOME "
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
    bool join = helped;
    ending = true;
    helped = false;
    pthread_mutex_unlock(&lock);
    if (!join) return;
    sem_post(&wanted);
    pthread_join(helper, NULL);
    sem_destroy(&wanted);
}

void fy_reserve_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    helped = false;
    log_ = NULL;
}
