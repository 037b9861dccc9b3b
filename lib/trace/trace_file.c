/* trace_file.c: the file of FERRY_TRACE: a slot log while the program runs, JSON lines after it has ended. Meanwhile
 * other programs may have replaced or truncated the file, so its state is checked again at exit. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "log_format.h"
#include "out_of_memory.h"
#include "text.h"

static char *path; /* absolute; NULL: none */

const char *fy_trace_path(void) { return path; }

/* ---- its name ---- */

/* run.jsonl and 2 give run.2.jsonl; NULL if out of memory. */
static char *numbered(const char *name, int n)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name, *dot = strrchr(base, '.');
    char *made = NULL;
    if (!dot || dot == base) dot = base + strlen(base);
    return asprintf(&made, "%.*s.%d%s", (int)(dot - name), name, n, dot) < 0 ? NULL : made;
}

enum { MOST = 1000 }; /* names to try */

int fy_trace_open(const char *name, char *err, size_t room)
{
    char *cwd = *name == '/' ? NULL : getcwd(NULL, 0), *first;
    if (asprintf(&first, "%s%s%s", cwd ? cwd : "", cwd ? "/" : "", name) < 0) fy_out_of_memory("the path of the trace");
    free(cwd);

    char *next = first, *old = path; /* `name` may be `path`, after a fork */
    int fd = fy_log_file(first, 0, err, room);
    for (int n = 2; fd < 0 && errno == EBUSY && n < MOST; n++) {
        if (next != first) free(next);
        if (!(next = numbered(first, n))) fy_out_of_memory("the path of the trace");
        fd = fy_log_file(next, 0, err, room);
    }
    if (fd >= 0 && next != first)
        fprintf(stderr, "ferry: %s is being written by another program; this run is recorded to %s\n", first, next);
    path = fd >= 0 ? next : NULL;
    if (!path) free(next);
    if (next != first) free(first);
    free(old);
    return fd;
}

void fy_trace_forked(int child)
{
    char *parents = path;
    path = NULL;
    if (parents && asprintf(&path, "%s.child%d", parents, child) < 0) {
        fprintf(stderr, "ferry: out of memory for the path of a child's trace: the child is not recorded\n");
        path = NULL;
    }
    free(parents);
}

/* ---- is the file still ours? ---- */

typedef enum holder { OURS, NOBODY, ANOTHER } holder;

static holder holder_of(const char *name, const fy_log *log)
{
    struct stat s;
    if (lstat(name, &s)) return errno == ENOENT ? NOBODY : ANOTHER;
    return s.st_dev == log->device && s.st_ino == log->number ? OURS : ANOTHER;
}

void fy_trace_forget(bool remove)
{
    const fy_log *log = fy_log_of_process();
    if (path && remove && (!log || holder_of(path, log) == OURS)) unlink(path);
    free(path);
    path = NULL;
}

/* If the file was replaced, the replacement stays, and the next free name is used. */
static void avoid_replaced(const fy_log *log)
{
    for (int n = 2; n < MOST && holder_of(path, log) == ANOTHER; n++) {
        char *next = numbered(path, n);
        struct stat s;
        if (!next || !lstat(next, &s)) {
            free(next);
            continue;
        }
        fprintf(stderr, "ferry: %s was replaced while the program ran; its events are written to %s\n", path, next);
        free(path);
        path = next;
    }
}

/* ---- JSON lines ---- */

static bool write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* Writes all events as JSON lines. Waits up to 0.1 s for a thread that is still emitting. SIGXFSZ is blocked, so that
 * the file size limit is an ordinary write error. */
static bool copy_lines(fy_log *log, int fd)
{
    sigset_t too_large, before;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &before);

    uint64_t cursor = 0;
    fy_text lines = {0};
    bool ok = true;
    for (int patience = 100; ok && cursor < fy_log_count(log);) {
        lines.size = 0;
        if (!fy_log_read(log, &cursor, &lines, 64 << 10)) {
            if (patience-- <= 0) fy_log_writer_died(log);
            usleep(1000);
        }
        if (lines.lost) errno = ENOMEM;
        ok = !lines.lost && write_all(fd, lines.data, lines.size);
    }
    free(lines.data);

    int error = errno;
    if (!sigismember(&before, SIGXFSZ)) sigtimedwait(&too_large, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return ok;
}

static void report_truncated(const fy_log *log)
{
    fprintf(stderr, "ferry: %s was truncated while the program ran; ", path ? path : "the log of this run");
    if (log->cut || !path) fprintf(stderr, "its events are lost\n");
    else fprintf(stderr, "`ferry view %s` reads what is left of it\n", path);
}

static void report_unwritten(const fy_log *log, int error)
{
    fprintf(stderr, "ferry: cannot write %s as JSON lines: %s; %s. ", path, strerror(error),
            error == EFBIG    ? "raise ulimit -f"
            : error == ENOMEM ? "close other programs"
                              : "free some space");
    if (holder_of(path, log) == OURS)
        fprintf(stderr, "%s: the file contains the events in binary form, and `ferry view %s` reads that too\n",
                log->head->full ? "What was recorded before the log was full is kept" : "No event is lost", path);
    else fprintf(stderr, "Its events are lost: the file was renamed, removed or replaced\n");
}

/* A long log takes long to convert, and four times as much space. */
static bool stays_binary(const fy_log *log)
{
    enum { CONVERTED = 1000000 };
    unsigned long long count = fy_log_count(log);
    if (count <= CONVERTED) return false;
    fprintf(
        stderr,
        "ferry: %s has %llu events and stays in binary form, which `ferry view` and the other commands read; `ferry "
        "log %s > lines.jsonl` makes JSON lines of it\n",
        path, count, path);
    return true;
}

void fy_trace_write(fy_log *log)
{
    char *temporary = NULL;
    fy_log_find_file(log, path);
    if (fy_log_is_truncated(log)) {
        report_truncated(log);
        return;
    }
    if (!path) return;
    if (holder_of(path, log) == OURS && stays_binary(log)) return;
    avoid_replaced(log);
    if (asprintf(&temporary, "%s.tmp", path) < 0) {
        report_unwritten(log, ENOMEM);
        return;
    }
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && copy_lines(log, fd);
    int error = errno;
    if (fd >= 0 && close(fd)) ok = false, error = errno;
    bool cut = fy_log_is_truncated(log); /* truncated meanwhile: lines may be missing */
    if (ok && !cut && rename(temporary, path)) ok = false, error = errno;
    if (!ok || cut) unlink(temporary);
    if (cut) report_truncated(log);
    else if (!ok) report_unwritten(log, error);
    free(temporary);
}
