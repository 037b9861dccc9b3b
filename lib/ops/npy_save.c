/* npy_save.c: fy_save_npy. The data goes to a temporary file in the same folder, which is renamed once it is synced to
 * disk: a reader sees the old array or the new one, never a partial file. */
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
    const char *path;    /* as passed */
    char real[PATH_MAX]; /* the path with symbolic links resolved */
    char temp[PATH_MAX]; /* temporary file in the same folder; empty if there is none */
    int fd;
} target;

static bool fail(const target *t, int error)
{
    const char *hint = error == ENOENT                      ? "make the folder first"
                       : error == EACCES || error == EPERM  ? "get write permission there, or save elsewhere"
                       : error == ENOSPC || error == EDQUOT ? "free some space, or save elsewhere"
                       : error == EFBIG                     ? "raise the limit: ulimit -f"
                                                            : "save elsewhere";
    return fy_fail(t->at, "file", hint, "cannot write '%.300s': %s; an existing file is unchanged", t->path,
                   strerror(error));
}

/* ---- where to ---- */

/* Resolves links and checks the target: a regular file that may be replaced, or nothing. */
static bool resolve(target *t, struct stat *about, bool *exists)
{
    if (!t->path || !*t->path)
        return fy_fail(t->at, "value", "fy_save_npy(\"data.npy\", x)", "the path is %s", t->path ? "empty" : "NULL");
    *exists = stat(t->path, about) == 0;
    if (!*exists && errno != ENOENT) return fail(t, errno);
    if (*exists && !S_ISREG(about->st_mode))
        return fy_fail(t->at, "file", "pass a file name, such as \"data.npy\"", "cannot write '%.300s': it is %s",
                       t->path, S_ISDIR(about->st_mode) ? "a folder" : "a pipe or a device");
    if (*exists && access(t->path, W_OK)) return fail(t, errno);
    if (*exists && !realpath(t->path, t->real)) return fail(t, errno);
    if (*exists) return true;
    if (strlen(t->path) >= sizeof t->real) return fail(t, ENAMETOOLONG);
    strcpy(t->real, t->path);
    return true;
}

static bool open_temp(target *t)
{
    static unsigned last;
    const char *slash = strrchr(t->real, '/');
    int folder = slash ? (int)(slash - t->real) + 1 : 0, n;
    do {
        n = snprintf(t->temp, sizeof t->temp, "%.*s.ferry-%d-%u", folder, t->real, (int)getpid(),
                     __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED));
        if (n >= (int)sizeof t->temp) errno = ENAMETOOLONG;
        else t->fd = open(t->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (t->fd < 0 && errno == EEXIST);
    if (t->fd >= 0) return true;
    t->temp[0] = 0;
    return fail(t, errno);
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

/* Reaching the file size limit (ulimit -f) should be an error, so SIGXFSZ is blocked and consumed. */
static bool write_file(int fd, const fy_tensor *x, const void *data)
{
    char header[512];
    fy_shape shape = fy_geometry_of(x).shape;
    size_t n = fy_npy_write_header(x->dtype, &shape, header), bytes = (size_t)fy_numel(x) * x->element_size;
    sigset_t too_large, before;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &before);
    bool ok = write_all(fd, header, n) && write_all(fd, data, bytes) && fsync(fd) == 0;
    int error = errno;
    if (!sigismember(&before, SIGXFSZ)) sigtimedwait(&too_large, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return ok;
}

static bool put(target *t, fy_tensor *x)
{
    struct stat about;
    bool exists = false;
    if (!resolve(t, &about, &exists) || !open_temp(t)) return false;
    if (exists && fchmod(t->fd, about.st_mode & 07777)) return fail(t, errno);
    char *data = fy_copy_to_host(t->at, x, FY_WORD_save);
    if (!data) return false;
    for (int64_t i = 0; i < fy_numel(x) && x->dtype == FY_BOOL; i++) data[i] = data[i] != 0; /* NumPy takes 0 and 1 */

    int error = write_file(t->fd, x, data) ? 0 : errno;
    free(data);
    if (close(t->fd) && !error) error = errno;
    t->fd = -1;
    if (!error && rename(t->temp, t->real)) error = errno;
    if (error) return fail(t, error);
    t->temp[0] = 0;
    return true;
}

bool fy_save_npy_at(fy_site *at, const char *path, fy_tensor *x)
{
    target t = {.at = at, .path = path, .fd = -1};
    fy_session_start();
    if (!fy_check(at, 1, x)) return false;
    if (x->dtype == FY_BFLOAT16)
        return fy_fail_about(at, "dtype", "convert it first: fy_to(x, FY_FLOAT32)", 0, NULL,
                             "Got unsupported ScalarType BFloat16: NumPy has no such type");
    bool ok = put(&t, x);
    if (t.fd >= 0) close(t.fd);
    if (t.temp[0]) unlink(t.temp);
    if (ok) fy_emit_read(at, x, FY_WORD_save);
    if (ok) fy_narrate_flush();
    return ok;
}
