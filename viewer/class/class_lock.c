/* class_lock.c: see class_lock.h. The file beside the table has a line for each submission that is begun, "+", and for
 * each that has ended, "-"; names have no control characters. */
#define _GNU_SOURCE 1 /* asprintf */

#include "class_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

static void lock_name(const char *path, char name[PATH_ROOM]) { snprintf(name, PATH_ROOM, "%.3000s.lock", path); }

/* The table itself is replaced. Who unlinks the file holds the lock; a lock on an unlinked file is none. */
int class_lock(const char *path, char *err, size_t room)
{
    char name[PATH_ROOM];
    struct stat mine, there;
    lock_name(path, name);
    for (;;) {
        int fd = open(name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
            snprintf(err, room, "cannot write %.900s: %s; name a file in a folder you may write to, with --csv", path,
                     strerror(errno));
            return -1;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            snprintf(err, room,
                     "%.900s is being written by another ferry grade-class: wait for it, or name another file "
                     "with --csv",
                     path);
            close(fd);
            return -1;
        }
        if (fstat(fd, &mine) == 0 && stat(name, &there) == 0 && mine.st_ino == there.st_ino) return fd;
        close(fd);
    }
}

bool class_lock_note(int lock, const submission *s, bool begins)
{
    char *line = NULL;
    int size = asprintf(&line, "%c%s\t%s\n", begins ? '+' : '-', s->name, s->lesson->id);
    if (size < 0) memory_fail("the name of a submission");
    ssize_t n = write(lock, line, (size_t)size); /* O_APPEND: whole, whoever writes as well */
    free(line);
    if (n >= 0 && n != size) errno = ENOSPC;
    return n == size;
}

static void count_line(char *line, submissions *all)
{
    char *id = strchr(line, '\t');
    if (!id) return;
    *id++ = '\0';
    for (int i = 0; i < all->count; i++) {
        submission *s = &all->list[i];
        if (!strcmp(s->name, line + 1) && !strcmp(s->lesson->id, id)) s->begun = *line == '+' ? s->begun + 1 : 0;
    }
}

void class_lock_read(const char *path, submissions *all)
{
    char name[PATH_ROOM], *rest = NULL;
    lock_name(path, name);
    char *text = access(path, F_OK) == 0 ? file_read(name, NULL) : NULL;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        count_line(line, all);
    free(text);
}

void class_unlock(int lock, const char *path, bool may_be_killed)
{
    char name[PATH_ROOM];
    lock_name(path, name);
    if (!may_be_killed) unlink(name);
    close(lock);
}
