/* output.c: a full disk or a killed export leaves the file that was there before. */
#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(const output *o, int error, char *err, size_t room)
{
    const char *fix = error == ENOSPC || error == EDQUOT ? "free some space, or name another place with -o FILE"
                                                         : "name another place with -o FILE";
    snprintf(err, room, "cannot write %s: %s; %s", o->path, strerror(error), fix);
    return false;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool output_open(output *o, const char *path, const char *log, char *err, size_t room)
{
    struct stat there, from;
    *o = (output){0};
    snprintf(o->path, sizeof o->path, "%s", path);
    if (!strcmp(path, "-")) {
        o->file = stdout;
        return true;
    }
    bool exists = stat(path, &there) == 0;
    if (exists && stat(log, &from) == 0 && is_same(&there, &from)) {
        snprintf(err, room, "%s is the log itself; name another file with -o FILE", path);
        return false;
    }
    if (exists && S_ISDIR(there.st_mode)) return refuse(o, EISDIR, err, room);
    if (exists && !S_ISREG(there.st_mode)) { /* a pipe, a device */
        o->file = fopen(path, "we");
        return o->file ? true : refuse(o, errno, err, room);
    }
    if (exists && access(path, W_OK)) return refuse(o, errno, err, room);
    char *real = exists ? realpath(path, NULL) : NULL; /* a link stays one */
    if (real) snprintf(o->path, sizeof o->path, "%s", real);
    free(real);
    snprintf(o->beside, sizeof o->beside, "%s.XXXXXX", o->path);
    int fd = mkostemp(o->beside, O_CLOEXEC);
    mode_t mask = umask(0);
    umask(mask);
    if (fd >= 0) fchmod(fd, exists ? there.st_mode & 07777 : 0666 & ~mask);
    if (fd >= 0) o->file = fdopen(fd, "w");
    return o->file ? true : refuse(o, errno, err, room);
}

bool output_close(output *o, bool ok, char *err, size_t room)
{
    int error = 0;
    if (ferror(o->file) || fflush(o->file)) error = errno ? errno : EIO;
    if (o->file != stdout && fclose(o->file) && !error) error = errno;
    if (*o->beside && ok && !error && rename(o->beside, o->path)) error = errno;
    if (*o->beside && (!ok || error)) unlink(o->beside);
    return error ? refuse(o, error, err, room) : true;
}
