/* npy_save.c: fy_save_npy. The file is written beside its name and takes it when every byte is on the disk:
 * whoever opens it sees the old array or the new one, never half of one. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "event.h"
#include "npy.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"
#include "transfer.h"

/* A file that is being written. */
typedef struct target {
    fy_site *at;
    const char *path;      /* as told */
    char real[PATH_MAX];   /* where links lead */
    char beside[PATH_MAX]; /* in the same folder, until it is whole; empty when there is none */
    int fd;
} target;

static bool fail(const target *t, const char *doing, int error)
{
    const char *hint = error == ENOENT                      ? "make the folder first"
                       : error == EACCES || error == EPERM  ? "ask for permission to write there, or save elsewhere"
                       : error == ENOSPC || error == EDQUOT ? "free some space, or save elsewhere"
                       : error == EFBIG                     ? "raise the limit: ulimit -f"
                                                            : "save elsewhere";
    return fy_fail(t->at, "file", hint, "cannot %s '%.300s': %s; %s", doing, t->path, strerror(error),
                   "what was there is unchanged");
}

/* ---- where to ---- */

static bool fail_kind(const target *t, const struct stat *about)
{
    return fy_fail(t->at, "file", "name a file, as \"data.npy\"", "cannot write '%.300s': it is %s", t->path,
                   S_ISDIR(about->st_mode) ? "a folder" : "a pipe or a device");
}

/* Follow links, and look at what is there: a file that may be replaced, or nothing. */
static bool find(target *t, struct stat *about, bool *there)
{
    if (!t->path || !*t->path)
        return fy_fail(t->at, "value", "fy_save_npy(\"data.npy\", x)", "the path is %s", t->path ? "empty" : "NULL");
    *there = stat(t->path, about) == 0;
    if (!*there && errno != ENOENT) return fail(t, "write", errno);
    if (*there && !S_ISREG(about->st_mode)) return fail_kind(t, about);
    if (*there && access(t->path, W_OK)) return fail(t, "write", errno);
    if (*there && !realpath(t->path, t->real)) return fail(t, "write", errno);
    if (*there) return true;
    if (strlen(t->path) >= sizeof t->real) return fail(t, "write", ENAMETOOLONG);
    strcpy(t->real, t->path);
    return true;
}

static bool open_beside(target *t)
{
    static unsigned last;
    const char *slash = strrchr(t->real, '/');
    int folder = slash ? (int)(slash - t->real) + 1 : 0, n;
    do {
        n = snprintf(t->beside, sizeof t->beside, "%.*s.ferry-%d-%u", folder, t->real, (int)getpid(),
                     __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED));
        if (n >= (int)sizeof t->beside) errno = ENAMETOOLONG;
        else t->fd = open(t->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (t->fd < 0 && errno == EEXIST);
    if (t->fd >= 0) return true;
    t->beside[0] = 0;
    return fail(t, "write", errno);
}

static bool open_target(target *t)
{
    struct stat about;
    bool there = false;
    if (!find(t, &about, &there) || !open_beside(t)) return false;
    return !there || fchmod(t->fd, about.st_mode & 07777) == 0 || fail(t, "write", errno);
}

/* ---- writing ---- */

static bool write_all(int fd, const void *from, size_t n)
{
    for (size_t put = 0; put < n;) {
        ssize_t now = write(fd, (const char *)from + put, n - put);
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) return false;
        put += (size_t)now;
    }
    return true;
}

static bool write_file(target *t, fy_tensor *x, void *home)
{
    char header[512];
    fy_shape shape = fy_geometry_of(x).shape;
    size_t n = fy_npy_write_header(x->dtype, &shape, header), bytes = (size_t)fy_numel(x) * x->element_size;
    return write_all(t->fd, header, n) && write_all(t->fd, home, bytes) && fsync(t->fd) == 0;
}

/* A file that may not grow further is an error like others, not a signal that kills. */
static bool write_unharmed(target *t, fy_tensor *x, void *home)
{
    sigset_t too_large, before;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &before);
    bool good = write_file(t, x, home);
    int error = errno;
    if (!sigismember(&before, SIGXFSZ)) sigtimedwait(&too_large, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return good;
}

/* NumPy's bytes: the lowest first; a bool is 0 or 1. */
static void settle(const fy_tensor *x, void *home)
{
    if (x->dtype != FY_BOOL) return;
    for (int64_t i = 0; i < fy_numel(x); i++) ((char *)home)[i] = ((char *)home)[i] != 0;
}

static bool put(target *t, fy_tensor *x)
{
    void *home = open_target(t) ? fy_copy_to_host(t->at, x, FY_WORD_save) : NULL;
    if (!home) return false;
    settle(x, home);
    bool good = write_unharmed(t, x, home);
    int error = errno;
    free(home);
    if (close(t->fd) && good) good = false, error = errno;
    t->fd = -1;
    if (good && rename(t->beside, t->real)) good = false, error = errno;
    if (good) t->beside[0] = 0;
    return good || fail(t, "write", error);
}

bool fy_save_npy_at(fy_site *at, const char *path, fy_tensor *x)
{
    target t = {.at = at, .path = path, .fd = -1};
    fy_session_start();
    if (!fy_check(at, 1, x)) return false;
    if (x->dtype == FY_BFLOAT16)
        return fy_fail_about(at, "dtype", "convert it first: fy_to(x, FY_FLOAT32)", 0, NULL,
                             "Got unsupported ScalarType BFloat16: NumPy has no such type");
    bool good = put(&t, x);
    if (t.fd >= 0) close(t.fd);
    if (t.beside[0]) unlink(t.beside);
    if (good) fy_emit_read(at, x, FY_WORD_save);
    if (good) fy_narrate_flush();
    return good;
}
