/* file_replacement.c: writes go to a temporary file in the same folder, which is renamed once it is synced to disk. */
#include "file_replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "error.h"

static bool fail(const fy_replacement *t, int error)
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
static bool resolve(fy_replacement *t, struct stat *about, bool *exists)
{
    if (!t->path || !*t->path) return fy_fail(t->at, "value", t->example, "the path is %s", t->path ? "empty" : "NULL");
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

static bool open_temp(fy_replacement *t)
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
static bool write_parts(int fd, size_t n, const fy_file_part *parts)
{
    sigset_t too_large, before;
    bool ok = true;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &before);
    for (size_t i = 0; ok && i < n; i++) ok = write_all(fd, parts[i].data, parts[i].bytes);
    ok = ok && fsync(fd) == 0;
    int error = errno;
    if (!sigismember(&before, SIGXFSZ)) sigtimedwait(&too_large, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return ok;
}

/* ---- from begin to end ---- */

bool fy_replacement_begin(fy_replacement *t)
{
    struct stat about;
    bool exists = false;
    t->fd = -1;
    t->temp[0] = 0;
    if (!resolve(t, &about, &exists) || !open_temp(t)) return false;
    if (!exists || fchmod(t->fd, about.st_mode & 07777) == 0) return true;
    fail(t, errno);
    fy_replacement_cancel(t);
    return false;
}

bool fy_replacement_end(fy_replacement *t, size_t n, const fy_file_part *parts)
{
    int error = write_parts(t->fd, n, parts) ? 0 : errno;
    if (close(t->fd) && !error) error = errno;
    t->fd = -1;
    if (!error && rename(t->temp, t->real)) error = errno;
    if (error) fail(t, error);
    else t->temp[0] = 0;
    fy_replacement_cancel(t);
    return !error;
}

void fy_replacement_cancel(fy_replacement *t)
{
    if (t->fd >= 0) close(t->fd);
    if (t->temp[0]) unlink(t->temp);
    t->fd = -1;
    t->temp[0] = 0;
}
