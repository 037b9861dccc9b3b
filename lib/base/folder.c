/* folder.c: creates folders that only this user can write. In /tmp another user may have created the folder first. */
#include "folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UNMAPPED = 65534 }; /* in a user namespace, the owner id of all unmapped users: root, for the system's folders */

static bool make(const char *path)
{
    char part[PATH_MAX];
    if (*path != '/' || strlen(path) >= sizeof part) return errno = ENAMETOOLONG, false;
    strcpy(part, path);
    for (char *slash = part + 1; *slash; slash++) {
        if (*slash != '/') continue;
        *slash = '\0';
        mkdir(part, 0700); /* errors show in the last one */
        *slash = '/';
    }
    return !mkdir(part, 0700) || errno == EEXIST;
}

/* A parent folder or a symbolic link: its owner, and everybody who may write to it, could replace what is below. In a
 * sticky folder (/tmp) users can only rename their own files. */
static const char *parent_problem(const struct stat *s)
{
    if (s->st_uid != geteuid() && s->st_uid != 0 && s->st_uid != UNMAPPED) return "belongs to another user";
    if (S_ISDIR(s->st_mode) && (s->st_mode & S_IWOTH) && !(s->st_mode & S_ISVTX)) return "can be written by everybody";
    return NULL;
}

/* Checks every component of a path; false with the problem in err. */
static bool parents_are_safe(const char *path, char *err, size_t room)
{
    char part[PATH_MAX];
    struct stat s;
    for (const char *end = path; *end; end += *end == '/') {
        end += strcspn(end, "/");
        snprintf(part, sizeof part, "%.*s", end == path ? 1 : (int)(end - path), path);
        const char *problem = lstat(part, &s) ? strerror(errno) : parent_problem(&s);
        if (problem) return snprintf(err, room, "%s %s", part, problem), false;
    }
    return true;
}

bool fy_folder_make_private(const char *path, char *err, size_t room)
{
    struct stat s;
    char *real = make(path) ? realpath(path, NULL) : NULL;
    if (!real) return snprintf(err, room, "cannot create %s: %s", path, strerror(errno)), false;
    bool ok = parents_are_safe(path, err, room) && parents_are_safe(real, err, room);
    const char *problem = NULL;
    if (ok) {
        if (stat(real, &s)) problem = strerror(errno);
        else if (!S_ISDIR(s.st_mode)) problem = "is not a folder";
        else if (s.st_uid != geteuid()) problem = "belongs to another user";
        else if (s.st_mode & (S_IWGRP | S_IWOTH))
            problem = "can be written by others (chmod go-w removes that permission)";
    }
    if (problem) snprintf(err, room, "%s %s", path, problem);
    free(real);
    return ok && !problem;
}
