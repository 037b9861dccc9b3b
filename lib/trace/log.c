/* log.c: creates, maps and checks slot log files. A file's contents are not trusted: sizes are limited to the file's
 * real size, and the counters in its head are re-read and clamped at every use (log_reader.c). */
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

static uint64_t round_up(uint64_t bytes) { return (bytes + FY_LOG_ALIGN - 1) / FY_LOG_ALIGN * FY_LOG_ALIGN; }

uint64_t fy_log_slot_bytes(uint64_t limit) { return round_up(limit * sizeof(fy_slot)); }

static uint64_t slots_in_file(const fy_head *h)
{
    return (fy_log_slot_bytes(h->limit) + FY_VERDICT_SLOTS * sizeof(fy_slot)) / sizeof(fy_slot);
}

static uint64_t file_bytes(const fy_head *h)
{
    return FY_LOG_ALIGN + slots_in_file(h) * sizeof(fy_slot) + h->arena_bytes + FY_VERDICT_ARENA;
}

/* ---- creating a file ---- */

/* base/below, created if needed, writable by this user alone; false if that is not possible. */
static bool folder(char *path, size_t room, const char *base, const char *below)
{
    char why[256];
    int n = snprintf(path, room, "%s%s", base, below);
    return n > 0 && (size_t)n < room && fy_folder_make_private(path, why, sizeof why) && !access(path, W_OK | X_OK);
}

/* An unlinked file in the user's state folder: freed when the last process that uses it ends. Falls back to /tmp, which
 * is safe for a file without a name. */
static int create_unnamed(char *err, size_t room)
{
    char dir[3800], path[4096];
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    bool found = (state && *state == '/' && folder(dir, sizeof dir, state, "/ferry")) ||
                 (home && *home == '/' && folder(dir, sizeof dir, home, "/.local/state/ferry"));
    if (!found) strcpy(dir, "/tmp");

    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    snprintf(path, sizeof path, "%s/log-XXXXXX", dir);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    else
        snprintf(err, room, "cannot create a log file in %s: %s; set XDG_STATE_HOME to a folder you may write to", dir,
                 strerror(errno));
    return fd;
}

/* The writer holds this lock while the log is mapped, even if it closes the descriptor. File systems without flock
 * count as locked. */
static bool lock(int fd) { return !flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK; }

static bool is_at(int fd, const char *path)
{
    struct stat file, there;
    return !fstat(fd, &file) && !lstat(path, &there) && file.st_dev == there.st_dev && file.st_ino == there.st_ino;
}

/* Unlinks an old log that is not being written, under its lock; readers that have it mapped keep it. Returns 0 or an
 * errno value: EBUSY while a program writes it. */
static int remove_old(const char *path)
{
    struct stat s;
    if (lstat(path, &s) || !S_ISREG(s.st_mode)) return 0;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), why = 0;
    if (fd >= 0 && !lock(fd)) why = EBUSY;
    else if ((fd < 0 || is_at(fd, path)) && unlink(path) && errno != ENOENT) why = errno;
    if (fd >= 0) close(fd);
    return why;
}

/* Creates a file and locks it. Retries if another program replaces it before it is locked. */
static int create_named(const char *path, char *err, size_t room)
{
    enum { TRIES = 1000 };
    int why = remove_old(path);
    for (int i = 0; !why; why = i++ < TRIES ? remove_old(path) : EBUSY) {
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 && lock(fd) && is_at(fd, path)) return fd;
        if (fd >= 0) close(fd);
        else why = errno;
        struct stat s;
        if (why && (why != EEXIST || lstat(path, &s) || !S_ISREG(s.st_mode))) break;
    }
    if (why == EBUSY) snprintf(err, room, "%s is being written by another program; choose another file", path);
    else
        snprintf(err, room, "cannot write %s: %s; choose a regular file in a folder you may write to", path,
                 why == EEXIST ? "it exists and is not a regular file" : strerror(why));
    errno = why;
    return -1;
}

/* Exceeding RLIMIT_FSIZE (ulimit -f) raises SIGXFSZ, so the log is made to fit: half of the space for slots, half for
 * the arena. False if that is too little. */
static bool fit_file_limit(fy_head *h)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur == RLIM_INFINITY || file_bytes(h) <= most.rlim_cur) return true;
    uint64_t fixed = FY_LOG_ALIGN + FY_VERDICT_SLOTS * sizeof(fy_slot) + FY_VERDICT_ARENA;
    uint64_t room = most.rlim_cur > fixed ? (most.rlim_cur - fixed) / FY_LOG_ALIGN * FY_LOG_ALIGN : 0;
    uint64_t slots = room / 2 / FY_LOG_ALIGN * FY_LOG_ALIGN;
    if (!slots) return false;
    if (slots / sizeof(fy_slot) < h->limit) h->limit = slots / sizeof(fy_slot);
    h->arena_bytes = room - fy_log_slot_bytes(h->limit);
    return true;
}

static bool initialize(int fd, uint64_t limit)
{
    static _Atomic bool warned;
    fy_head h = {.version = FY_LOG_VERSION, .layout = fy_layout_hash(), .limit = limit, .arena = 8};
    memcpy(h.magic, magic, sizeof magic);
    h.arena_bytes = round_up(2 * limit * sizeof(fy_slot)) + 1024 * FY_LOG_ALIGN;
    if (!fit_file_limit(&h)) {
        errno = EFBIG;
        return false;
    }
    if (h.limit < limit && !atomic_exchange(&warned, true))
        fprintf(
            stderr,
            "ferry: the file size limit (ulimit -f) limits the log to %llu events; with `ulimit -f unlimited` it holds "
            "%u\n",
            (unsigned long long)h.limit, FY_LOG_DEFAULT);
    return !ftruncate(fd, (off_t)file_bytes(&h)) && pwrite(fd, &h, sizeof h, 0) == sizeof h;
}

int fy_log_file(const char *path, uint64_t limit, char *err, size_t room)
{
    if (!limit) limit = FY_LOG_DEFAULT;
    if (limit < FY_LOG_MIN) limit = FY_LOG_MIN;
    if (limit > FY_LOG_MAX) limit = FY_LOG_MAX;
    int fd = path ? create_named(path, err, room) : create_unnamed(err, room);
    if (fd < 0 || initialize(fd, limit)) return fd;
    snprintf(err, room, "cannot create the log %s: %s; %s", path ? path : "(in the state folder)", strerror(errno),
             errno == EFBIG ? "the file size limit is too small: raise ulimit -f"
                            : "free some space or choose another disk");
    if (path) unlink(path);
    close(fd);
    return -1;
}

/* ---- opening a file ---- */

bool fy_log_is_log(int fd)
{
    char begin[sizeof magic];
    return pread(fd, begin, sizeof begin, 0) == sizeof begin && !memcmp(begin, magic, sizeof magic);
}

/* Why the head is invalid, or NULL. */
static const char *refusal(int fd, fy_head *h)
{
    if (pread(fd, h, sizeof *h, 0) != sizeof *h || memcmp(h->magic, magic, sizeof magic))
        return "this is not a Ferry log; give a file written by FERRY_TRACE or --trace";
    if (h->version != FY_LOG_VERSION || h->layout != fy_layout_hash())
        return "this log was written by another version of Ferry; open it with that version, or run the program again";
    if (h->limit < FY_LOG_MIN || h->limit > FY_LOG_MAX || h->arena_bytes > (1ull << 34) ||
        h->arena_bytes % FY_LOG_ALIGN)
        return "the header of this log is damaged; run the program again";
    return NULL;
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
    log->head = mmap(NULL, log->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd, 0);
    log->writable = log->head != MAP_FAILED;
    if (!log->writable) log->head = mmap(NULL, log->mapped, PROT_READ, MAP_SHARED, log->fd, 0);
    if (log->head == MAP_FAILED) return fail(log, err, room, "cannot map the log", strerror(errno));
    log->mapping = fy_mapping_add(log->head, log->mapped);
    if (!log->mapping) return fail(log, err, room, "cannot map the log", strerror(ENOMEM));
    log->slots = (fy_slot *)((char *)log->head + FY_LOG_ALIGN);
    log->arena = (unsigned char *)(log->slots + log->slot_count);
    fy_log_check_size(log);
    return log;
}

/* If the program has closed our descriptor, or reused its number, the size is not known: it counts as unchanged. */
void fy_log_check_size(fy_log *log)
{
    struct stat s;
    bool known = !fstat(log->fd, &s) && s.st_dev == log->device && s.st_ino == log->number;
    uint64_t size = known ? (uint64_t)s.st_size : log->mapped, slots = FY_LOG_ALIGN;
    uint64_t arena = slots + (uint64_t)((char *)log->arena - (char *)log->slots);
    uint64_t slot_count = size > slots ? (size - slots) / sizeof(fy_slot) : 0;
    uint64_t arena_bytes = size > arena ? size - arena : 0;
    bool cut = size < sizeof(fy_head) || memcmp(log->head->magic, magic, sizeof magic); /* it may have grown again */
    uint32_t patches = atomic_load(&log->mapping->patches);
    if (slot_count < log->slot_count || arena_bytes < log->arena_bytes || patches != log->patches || cut > log->cut)
        log->cuts++;
    if (slot_count < log->slot_count) log->slot_count = slot_count;
    if (arena_bytes < log->arena_bytes) log->arena_bytes = arena_bytes;
    log->patches = patches;
    log->cut |= cut;
}

bool fy_log_is_truncated(fy_log *log)
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
