/* log.c: files of slot logs: made, mapped, checked. What a file says is believed only as far as its
 * size allows; the counters in its head are read again, and clamped, at every use (log_reader.c). */
#define _GNU_SOURCE
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log_format.h"
#include "folder.h"

static const char magic[8] = {'F', 'E', 'R', 'R', 'Y', 'L', 'O', 'G'};

static uint64_t pieces(uint64_t bytes) { return (bytes + FY_LOG_PIECE - 1) / FY_LOG_PIECE * FY_LOG_PIECE; }

uint64_t fy_log_slot_bytes(uint64_t limit) { return pieces(limit * sizeof(fy_slot)); }

static uint64_t slots_in_file(const fy_head *h)
{
    return (fy_log_slot_bytes(h->limit) + FY_VERDICT_SLOTS * sizeof(fy_slot)) / sizeof(fy_slot);
}

static uint64_t file_bytes(const fy_head *h)
{
    return FY_LOG_PIECE + slots_in_file(h) * sizeof(fy_slot) + h->arena_bytes + FY_VERDICT_ARENA;
}

static bool read_head(int fd, fy_head *h)
{
    return pread(fd, h, sizeof *h, 0) == sizeof *h && !memcmp(h->magic, magic, sizeof magic);
}

/* ---- making a file ---- */

/* base/below as a folder of this user's alone; false if it cannot be had. */
static bool folder(char *path, size_t room, const char *base, const char *below)
{
    char why[256];
    int n = snprintf(path, room, "%s%s", base, below);
    return n > 0 && (size_t)n < room && fy_folder_own(path, why, sizeof why) && !access(path, W_OK | X_OK);
}

/* Else /tmp itself, whoever may write there: the file has no name that anybody could take. */
static bool state_folder(char *path, size_t room)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state == '/' && folder(path, room, state, "/ferry")) return true;
    if (home && *home == '/' && folder(path, room, home, "/.local/state/ferry")) return true;
    return (size_t)snprintf(path, room, "/tmp") < room;
}

/* A file without a name: it goes with its last user. */
static int nameless(char *err, size_t room)
{
    char dir[3800], path[4096];
    state_folder(dir, sizeof dir);
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    snprintf(path, sizeof path, "%s/log-XXXXXX", dir);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    else
        snprintf(err, room, "cannot make a log file in %s: %s; set XDG_STATE_HOME to a folder you may write to", dir,
                 strerror(errno));
    return fd;
}

/* The writer of a named log holds this as long as it has that mapped, whichever descriptors it closes. A file system
 * without locks has none to offer. */
static bool lock(int fd) { return !flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK; }

static bool is_at(int fd, const char *path)
{
    struct stat file, there;
    return !fstat(fd, &file) && !lstat(path, &there) && file.st_dev == there.st_dev && file.st_ino == there.st_ino;
}

/* Takes the name from a file that is not being written: whoever has that mapped keeps it. Only who holds the
 * file's lock may. 0, or why the name is not to be had: EBUSY while a program writes there. */
static int take_name(const char *path)
{
    struct stat s;
    if (lstat(path, &s) || !S_ISREG(s.st_mode)) return 0;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), why = 0;
    if (fd >= 0 && !lock(fd)) why = EBUSY;
    else if ((fd < 0 || is_at(fd, path)) && unlink(path) && errno != ENOENT) why = errno;
    if (fd >= 0) close(fd);
    return why;
}

/* A new file, locked. Another program may come between the making and the lock: then it is tried again. */
static int named(const char *path, char *err, size_t room)
{
    enum { TRIES = 1000 };
    int why = take_name(path);
    for (int i = 0; !why; why = i++ < TRIES ? take_name(path) : EBUSY) {
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 && lock(fd) && is_at(fd, path)) return fd;
        if (fd >= 0) close(fd);
        else why = errno;
        struct stat s;
        if (why && (why != EEXIST || lstat(path, &s) || !S_ISREG(s.st_mode))) break;
    }
    if (why == EBUSY) snprintf(err, room, "%s is being written by another program; name another file", path);
    else
        snprintf(err, room, "cannot write %s: %s; name a plain file in a folder you may write to", path,
                 why == EEXIST ? "it is there and is no plain file" : strerror(why));
    errno = why;
    return -1;
}

/* Beyond the largest file that this process may make (ulimit -f) a program is killed, not told: the log is
 * made to fit. Half of what is left goes to slots, half to the arena. False when that is too little. */
static bool fit_file_limit(fy_head *h)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur == RLIM_INFINITY || file_bytes(h) <= most.rlim_cur) return true;
    uint64_t fixed = FY_LOG_PIECE + FY_VERDICT_SLOTS * sizeof(fy_slot) + FY_VERDICT_ARENA;
    uint64_t room = most.rlim_cur > fixed ? (most.rlim_cur - fixed) / FY_LOG_PIECE * FY_LOG_PIECE : 0;
    uint64_t slots = room / 2 / FY_LOG_PIECE * FY_LOG_PIECE;
    if (!slots) return false;
    if (slots / sizeof(fy_slot) < h->limit) h->limit = slots / sizeof(fy_slot);
    h->arena_bytes = room - fy_log_slot_bytes(h->limit);
    return true;
}

static void say_less_room(uint64_t limit)
{
    static _Atomic bool said;
    if (atomic_exchange(&said, true)) return;
    fprintf(stderr,
            "ferry: files may not grow as a log wants (ulimit -f), so it holds %llu events; "
            "`ulimit -f unlimited` makes room for %u\n",
            (unsigned long long)limit, FY_LOG_DEFAULT);
}

static bool lay_out(int fd, uint64_t limit)
{
    fy_head h = {.version = FY_LOG_VERSION, .layout = fy_layout_hash(), .limit = limit, .arena = 8};
    memcpy(h.magic, magic, sizeof magic);
    h.arena_bytes = pieces(2 * limit * sizeof(fy_slot)) + 1024 * FY_LOG_PIECE;
    if (!fit_file_limit(&h)) {
        errno = EFBIG;
        return false;
    }
    if (h.limit < limit) say_less_room(h.limit);
    return !ftruncate(fd, (off_t)file_bytes(&h)) && pwrite(fd, &h, sizeof h, 0) == sizeof h;
}

int fy_log_file(const char *path, uint64_t limit, char *err, size_t room)
{
    if (!limit) limit = FY_LOG_DEFAULT;
    if (limit < FY_LOG_LEAST) limit = FY_LOG_LEAST;
    if (limit > FY_LOG_MOST) limit = FY_LOG_MOST;
    int fd = path ? named(path, err, room) : nameless(err, room);
    if (fd < 0 || lay_out(fd, limit)) return fd;
    snprintf(err, room, "cannot lay out the log %s: %s; %s", path ? path : "(in the state folder)", strerror(errno),
             errno == EFBIG ? "files may hardly grow here: raise ulimit -f" : "free some space or choose another disk");
    if (path) unlink(path);
    close(fd);
    return -1;
}

/* ---- opening one ---- */

bool fy_log_is_log(int fd)
{
    char begin[sizeof magic];
    return pread(fd, begin, sizeof begin, 0) == sizeof begin && !memcmp(begin, magic, sizeof magic);
}

/* NULL if the head can be used, else what is wrong with it. */
static const char *refusal(int fd, fy_head *h)
{
    if (!read_head(fd, h)) return "this is not a Ferry log; give a file written by FERRY_TRACE or --trace";
    if (h->version != FY_LOG_VERSION || h->layout != fy_layout_hash())
        return "this log was left by another version of Ferry; open it with that version, or run the program again";
    if (h->limit < FY_LOG_LEAST || h->limit > FY_LOG_MOST || h->arena_bytes > (1ull << 34) ||
        h->arena_bytes % FY_LOG_PIECE)
        return "the head of this log is damaged; run the program again";
    return NULL;
}

static void *map(int fd, size_t bytes, bool *writable)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *writable = p != MAP_FAILED;
    return *writable ? p : mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
}

static fy_log *fail(fy_log *log, char *err, size_t room, const char *what, const char *why)
{
    snprintf(err, room, "%s%s%s", what, why ? ": " : "", why ? why : "");
    if (log && log->head && log->head != MAP_FAILED) munmap(log->head, log->mapped);
    if (log && log->fd >= 0) close(log->fd);
    free(log);
    return NULL;
}

fy_log *fy_log_open(int fd, char *err, size_t room)
{
    fy_head h;
    const char *why = refusal(fd, &h);
    if (why) return fail(NULL, err, room, why, NULL);
    fy_log *log = calloc(1, sizeof *log);
    if (!log) return fail(NULL, err, room, "cannot open the log", strerror(errno));
    log->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (log->fd < 0) return fail(log, err, room, "cannot open the log", strerror(errno));
    struct stat s;
    if (fstat(log->fd, &s)) return fail(log, err, room, "cannot open the log", strerror(errno));
    log->device = s.st_dev;
    log->number = s.st_ino;
    log->mapped = file_bytes(&h);
    log->slot_count = slots_in_file(&h);
    log->arena_bytes = h.arena_bytes + FY_VERDICT_ARENA;
    log->head = map(log->fd, log->mapped, &log->writable);
    if (log->head == MAP_FAILED) return fail(log, err, room, "cannot map the log", strerror(errno));
    log->mapping = fy_mapping_add(log->head, log->mapped);
    if (!log->mapping) return fail(log, err, room, "cannot map the log", strerror(ENOMEM));
    log->slots = (fy_slot *)((char *)log->head + FY_LOG_PIECE);
    log->arena = (unsigned char *)(log->slots + log->slot_count);
    fy_log_check_size(log);
    return log;
}

/* What the file still holds; all of it where the descriptor no longer tells: the program may have closed it. */
static uint64_t bytes_left(const fy_log *log)
{
    struct stat s;
    if (fstat(log->fd, &s) || s.st_dev != log->device || s.st_ino != log->number) return log->mapped;
    return (uint64_t)s.st_size;
}

void fy_log_check_size(fy_log *log)
{
    uint64_t size = bytes_left(log), slots = FY_LOG_PIECE;
    uint64_t arena = slots + (uint64_t)((char *)log->arena - (char *)log->slots);
    uint64_t whole = size > slots ? (size - slots) / sizeof(fy_slot) : 0;
    uint64_t kept = size > arena ? size - arena : 0;
    bool cut = size < sizeof(fy_head) || memcmp(log->head->magic, magic, sizeof magic); /* it may have grown again */
    uint32_t patches = atomic_load(&log->mapping->patches);
    if (whole < log->slot_count || kept < log->arena_bytes || patches != log->patches || cut > log->cut) log->cuts++;
    if (whole < log->slot_count) log->slot_count = whole;
    if (kept < log->arena_bytes) log->arena_bytes = kept;
    log->patches = patches;
    log->cut |= cut;
}

bool fy_log_is_cut(fy_log *log)
{
    fy_log_check_size(log);
    return log->cuts > 0;
}

void fy_log_close(fy_log *log)
{
    if (!log) return;
    fy_mapping_drop(log->mapping);
    munmap(log->head, log->mapped);
    close(log->fd);
    free(log);
}
