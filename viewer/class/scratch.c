/* scratch.c: see scratch.h. Who uses a folder holds a lock on a file in it: a lock ends with its process, in whatever
 * namespace or on whatever machine that runs, and a number of a process may be given again. */
#define _GNU_SOURCE 1

#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name[] = "ferry-class";

/* A folder of this user whose lock nobody holds. One without a lock may be just being made. */
static bool is_abandoned(const char *path)
{
    char lock[PATH_ROOM + 8];
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid()) return false;
    snprintf(lock, sizeof lock, "%.3000s/lock", path);
    int fd = open(lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool is_free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0) close(fd);
    return is_free;
}

static void remove_abandoned(const char *beside)
{
    char folder[PATH_ROOM], path[PATH_ROOM + 272];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(beside, '/') - beside), beside);
    DIR *dir = opendir(*folder ? folder : "/");
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, name, sizeof name - 1) != 0 || e->d_name[sizeof name - 1] != '-') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (strcmp(path, beside) != 0 && strlen(path) < PATH_ROOM && is_abandoned(path)) folder_remove(path);
    }
    if (dir) closedir(dir);
}

int scratch_make(char path[PATH_ROOM])
{
    char lock[PATH_ROOM + 8];
    if (!folder_temporary(name, path)) return -1;
    remove_abandoned(path);
    snprintf(lock, sizeof lock, "%s/lock", path);
    int held = open(lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    /* Other users' programs pass through to their own folders. */
    if (held >= 0 && flock(held, LOCK_EX | LOCK_NB) == 0 && chmod(path, 0711) == 0) return held;
    int error = errno;
    scratch_remove(path, held);
    errno = error;
    return -1;
}

void scratch_remove(const char *path, int held)
{
    folder_remove(path);
    if (held >= 0) close(held);
}
