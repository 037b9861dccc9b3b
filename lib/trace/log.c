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

/* How many bytes a log may have: FERRY_LOG_LIMIT, a number with KiB, MiB, GiB or TiB, or else `most`. */
static uint64_t most_bytes(uint64_t most)
{
    static _Atomic bool warned;
    static const char units[] = "KMGT";
    const char *text = getenv("FERRY_LOG_LIMIT");
    char *end;
    if (!text || !*text) return most;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (unit && !strcmp(end + 1, "iB") && *text != '-' && !errno && number && number < 1ull << (62 - shift))
        return number << shift;
    if (!atomic_exchange(&warned, true))
        fprintf(stderr, "ferry: FERRY_LOG_LIMIT=%s is not a size such as 16GiB or 500MiB; the limit is %llu MiB\n",
                text, (unsigned long long)most >> 20);
    return most;
}

/* Exceeding RLIMIT_FSIZE (ulimit -f) raises SIGXFSZ, so the log is made to fit. */
static uint64_t fit_file_limit(uint64_t most)
{
    static _Atomic bool warned;
    struct rlimit file;
    if (getrlimit(RLIMIT_FSIZE, &file) || file.rlim_cur >= most) return most;
    if (file.rlim_cur >= fy_log_base(FY_CHUNK_LEAST) && !atomic_exchange(&warned, true))
        fprintf(stderr,
                "ferry: the file size limit (ulimit -f) limits the log to %llu MiB; with `ulimit -f unlimited` it has "
                "room for %llu\n",
                (unsigned long long)file.rlim_cur >> 20, (unsigned long long)most >> 20);
    return file.rlim_cur;
}

/* Disk space for all that is mapped: on a full disk a store to a page without a block would raise SIGBUS. */
static int reserve(int fd, uint64_t bytes)
{
    if (!fallocate(fd, 0, 0, (off_t)bytes)) return 0;
    return errno == ENOSPC ? ENOSPC : posix_fallocate(fd, 0, (off_t)bytes);
}

/* A few events, or little space, get smaller rings. Returns 0 or an errno value. */
static int initialize(int fd, uint64_t limit, uint64_t most)
{
    enum { FEW = FY_CHUNK_LEAST / sizeof(fy_slot) };
    fy_head h = {.version = FY_LOG_VERSION, .layout = fy_layout_hash(), .limit = limit, .arena = 8};
    memcpy(h.magic, magic, sizeof magic);
    h.most_bytes = fit_file_limit(most_bytes(most));
    h.chunk = limit && limit <= FEW ? FY_CHUNK_LEAST : FY_CHUNK_MOST;
    while (h.chunk > FY_CHUNK_LEAST && 2 * fy_log_base(h.chunk) > h.most_bytes) h.chunk /= 2;
    for (int error; fy_log_base(h.chunk) <= h.most_bytes; h.chunk /= 2) {
        if (!(error = reserve(fd, fy_log_base(h.chunk)))) break;
        if (error != ENOSPC || h.chunk == FY_CHUNK_LEAST) return error;
    }
    if (fy_log_base(h.chunk) > h.most_bytes) return EFBIG;
    if (ftruncate(fd, (off_t)fy_log_base(h.chunk)) || pwrite(fd, &h, sizeof h, 0) != sizeof h) return errno;
    return 0;
}

static int make_file(const char *path, uint64_t limit, uint64_t most, char *err, size_t room)
{
    if (limit && limit < FY_LOG_MIN) limit = FY_LOG_MIN;
    int fd = path ? create_named(path, err, room) : create_unnamed(err, room);
    int error = fd < 0 ? 0 : initialize(fd, limit, most);
    if (!error) return fd;
    snprintf(err, room, "cannot create the log %s: %s; %s", path ? path : "(in the state folder)", strerror(error),
             error == EFBIG ? "the file size limit is too small: raise ulimit -f, or FERRY_LOG_LIMIT"
                            : "free some space, or choose another disk with XDG_STATE_HOME or FERRY_TRACE");
    if (path) unlink(path);
    close(fd);
    errno = error;
    return -1;
}

int fy_log_file(const char *path, uint64_t limit, char *err, size_t room)
{
    return make_file(path, limit, FY_LOG_MOST_BYTES, err, room);
}

int fy_log_file_within(uint64_t bytes, char *err, size_t room) { return make_file(NULL, 0, bytes, err, room); }

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
    bool halved = FY_CHUNK_MOST % (h->chunk ? h->chunk : 1) == 0;
    if (!halved || h->chunk < FY_CHUNK_LEAST || (h->limit && h->limit < FY_LOG_MIN))
        return "the header of this log is damaged; run the program again";
    return NULL;
}

static fy_log *fail(fy_log *log, char *err, size_t room, const char *what, const char *why)
{
    snprintf(err, room, "%s%s%s", what, why ? ": " : "", why ? why : "");
    if (log && log->head && log->head != MAP_FAILED) munmap(log->head, log->mapped);
    if (log && log->fd >= 0) close(log->fd);
    if (log) fy_copies_free(log->copies);
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
    log->copies = fy_copies_make();
    if (!log->copies) return fail(log, err, room, "cannot open the log", strerror(ENOMEM));
    log->chunk = h.chunk;
    log->mapped = fy_log_base(h.chunk);
    log->arena_bytes = fy_ring_bytes(log);
    log->kept = UINT64_MAX;
    log->head = mmap(NULL, log->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd, 0);
    log->writable = log->head != MAP_FAILED;
    if (!log->writable) log->head = mmap(NULL, log->mapped, PROT_READ, MAP_SHARED, log->fd, 0);
    if (log->head == MAP_FAILED) return fail(log, err, room, "cannot map the log", strerror(errno));
    log->mapping = fy_mapping_add(log->head, log->mapped);
    if (!log->mapping) return fail(log, err, room, "cannot map the log", strerror(ENOMEM));
    log->slots = (fy_slot *)((char *)log->head + FY_LOG_ALIGN);
    log->arena = (unsigned char *)log->slots + fy_ring_bytes(log);
    fy_log_check_size(log);
    return log;
}

bool fy_log_has_file(const fy_log *log, uint64_t *size)
{
    struct stat s;
    if (log->fd < 0 || fstat(log->fd, &s) || s.st_dev != log->device || s.st_ino != log->number) return false;
    if (size) *size = (uint64_t)s.st_size;
    return true;
}

void fy_log_find_file(fy_log *log, const char *path)
{
    if (fy_log_has_file(log, NULL)) return;
    log->fd = path ? open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (log->fd < 0 || fy_log_has_file(log, NULL)) return;
    close(log->fd);
    log->fd = -1;
}

/* If the program has closed our descriptor, or reused its number, the size is not known: it counts as unchanged. */
void fy_log_check_size(fy_log *log)
{
    uint64_t least = fy_log_least_bytes(log), size; /* in this order: the file grows before the head says so */
    if (!fy_log_has_file(log, &size)) size = UINT64_MAX;
    bool cut = size < sizeof(fy_head) || memcmp(log->head->magic, magic, sizeof magic); /* it may have grown again */
    uint32_t patches = atomic_load(&log->mapping->patches);
    bool shorter = size < least && size < log->kept;
    if (shorter || patches != log->patches || cut > log->cut) {
        log->cuts++;
        fy_copies_forget(log->copies);
    }
    if (shorter) log->kept = size;
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
    if (fy_log_has_file(log, NULL)) close(log->fd);
    fy_copies_free(log->copies);
    free(log);
}
