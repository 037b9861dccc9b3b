/* folder.c: is a folder this user's alone? In /tmp, anybody may have made the one that we would. */
#include "folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UNMAPPED = 65534 }; /* in a user namespace, whoever has no number there: root, for what lies above */

static bool make(const char *path)
{
    char part[PATH_MAX];
    if (*path != '/' || strlen(path) >= sizeof part) return errno = ENAMETOOLONG, false;
    strcpy(part, path);
    for (char *slash = part + 1; *slash; slash++) {
        if (*slash != '/') continue;
        *slash = '\0';
        mkdir(part, 0700); /* what matters is whether the last one can be made */
        *slash = '/';
    }
    return !mkdir(part, 0700) || errno == EEXIST;
}

/* One on the way to the folder, a link included: its owner, and who may write there, could lead us elsewhere. In a
 * sticky folder nobody renames what is another's. */
static const char *wrong_on_the_way(const struct stat *s)
{
    if (s->st_uid != geteuid() && s->st_uid != 0 && s->st_uid != UNMAPPED) return "belongs to another user";
    if (S_ISDIR(s->st_mode) && (s->st_mode & S_IWOTH) && !(s->st_mode & S_ISVTX)) return "can be written by everybody";
    return NULL;
}

static const char *wrong_with_it(const struct stat *s)
{
    if (!S_ISDIR(s->st_mode)) return "is no folder";
    if (s->st_uid != geteuid()) return "belongs to another user";
    return s->st_mode & (S_IWGRP | S_IWOTH) ? "can be written by others (chmod go-w takes that away)" : NULL;
}

/* Every part of a path as it is written; false after saying which is wrong. */
static bool way_is_safe(const char *path, char *err, size_t room)
{
    char part[PATH_MAX];
    struct stat s;
    for (const char *end = path; *end; end += *end == '/') {
        end += strcspn(end, "/");
        snprintf(part, sizeof part, "%.*s", end == path ? 1 : (int)(end - path), path);
        const char *wrong = lstat(part, &s) ? strerror(errno) : wrong_on_the_way(&s);
        if (wrong) return snprintf(err, room, "%s %s", part, wrong), false;
    }
    return true;
}

bool fy_folder_own(const char *path, char *err, size_t room)
{
    struct stat s;
    char *real = make(path) ? realpath(path, NULL) : NULL;
    if (!real) return snprintf(err, room, "%s cannot be made: %s", path, strerror(errno)), false;
    bool ok = way_is_safe(path, err, room) && way_is_safe(real, err, room);
    const char *wrong = !ok ? NULL : stat(real, &s) ? strerror(errno) : wrong_with_it(&s);
    if (wrong) snprintf(err, room, "%s %s", path, wrong);
    free(real);
    return ok && !wrong;
}
