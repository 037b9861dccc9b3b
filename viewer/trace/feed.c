/* feed.c: the lines of a run. A slot log may still grow, and is read under a lock; a saved file of JSON lines is read
 * and validated completely when it is opened, and never changes. A cursor equals the `seq` of its line. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event_json.h"
#include "feed.h"
#include "log.h"
#include "memory.h"
#include "text.h"
#include "trace.h"

#define LONGEST_LINE (16u << 20)

struct feed {
    pthread_mutex_t lock;
    fy_log *log; /* NULL: a file, in `text` */
    int fd;
    char *text;
    size_t *ends; /* the offset behind each line of `text` and its newline */
    uint64_t count;
    uint8_t last_kind;
    char note[160];
};

static feed *feed_new(char *err, size_t room)
{
    feed *f = memory_zeroed(1, sizeof *f, "a run");
    if (!pthread_mutex_init(&f->lock, NULL)) {
        f->fd = -1;
        return f;
    }
    free(f);
    snprintf(err, room, "cannot create a mutex for a run; close other programs");
    return NULL;
}

void feed_free(feed *f)
{
    if (!f) return;
    if (f->log) fy_log_close(f->log);
    if (f->fd >= 0) close(f->fd);
    pthread_mutex_destroy(&f->lock);
    free(f->text);
    free(f->ends);
    free(f);
}

feed *feed_of_log(int fd, char *err, size_t room)
{
    feed *f = feed_new(err, room);
    if (!f) {
        close(fd);
        return NULL;
    }
    f->fd = fd;
    f->log = fy_log_open(fd, err, room);
    if (!f->log) {
        feed_free(f);
        return NULL;
    }
    if (fy_log_is_truncated(f->log))
        snprintf(f->note, sizeof f->note, "the file was truncated; the events before that are shown");
    return f;
}

/* ---- opening a file: validated once ---- */

/* The state of reading a file. */
typedef struct reading {
    const char *path;
    char *err;
    size_t room;
    feed *f;
    size_t size, ends_room;
    event_visit *visit; /* called for each event, or NULL */
    void *user;
    event_arena *arena; /* of the current event */
} reading;

static bool bad_line(const reading *r, const char *what, const char *fix)
{
    snprintf(r->err, r->room, "%s, line %llu: %s; %s", r->path, (unsigned long long)r->f->count + 1, what, fix);
    return false;
}

static bool check_event(const reading *r, line_says says, const fy_event *e, const char *wrong)
{
    char what[200];
    bool first = !r->f->count;
    if (says == LINE_NO_JSON || says == LINE_NO_OBJECT)
        return bad_line(r, wrong,
                        first ? "name a file that FERRY_TRACE wrote"
                              : "the file was edited or damaged: record the run again");
    if (first && e->kind != FY_KIND_session)
        return bad_line(r, "the first event of a log must be a session event",
                        "open the complete file that FERRY_TRACE wrote");
    if (first && e->is.session.schema != FY_SCHEMA_VERSION) {
        int64_t schema = e->is.session.schema;
        snprintf(what, sizeof what, "the schema is version %lld, this ferry reads version %d",
                 (long long)(schema == FY_ABSENT ? -1 : schema), FY_SCHEMA_VERSION);
        return bad_line(r, what, "open it with the ferry version that wrote it, or a newer one");
    }
    if (e->seq != r->f->count) {
        snprintf(what, sizeof what, "seq is %lld and should be %llu", (long long)e->seq,
                 (unsigned long long)r->f->count);
        return bad_line(r, what, "lines are missing, repeated or out of order; open the complete file");
    }
    if (says == LINE_EVENT) return true;
    return bad_line(r, wrong, "the file was edited or written by another version; record the run again");
}

static bool check_line(const reading *r, const char *line, size_t size)
{
    fy_event e;
    char wrong[200];
    if (size > LONGEST_LINE)
        return bad_line(r, "the line is longer than 16 MiB",
                        "this is probably not a log of Ferry; name a file that FERRY_TRACE wrote");
    if (!fy_utf8_is_valid(line, size))
        return bad_line(r, "this is not UTF-8 text", "name a file that FERRY_TRACE wrote");
    event_arena_empty(r->arena);
    line_says says = event_of_line(r->arena, line, size, &e, wrong, sizeof wrong);
    if (!check_event(r, says, &e, wrong)) return false;
    r->f->last_kind = e.kind;
    if (r->visit) r->visit(r->user, &e);
    return true;
}

static bool check_lines(reading *r)
{
    feed *f = r->f;
    for (size_t from = 0, end; from < r->size; from = end) {
        const char *newline = memchr(f->text + from, '\n', r->size - from);
        size_t length = newline ? (size_t)(newline - f->text) - from : r->size - from;
        if (!check_line(r, f->text + from, length)) {
            if (newline || !f->count) return false;
            snprintf(f->note, sizeof f->note, "line %llu, the last one, is incomplete and was left out",
                     (unsigned long long)f->count + 1);
            r->err[0] = 0;
            return true;
        }
        end = from + length + 1;
        if (!newline)
            f->text[r->size++] = '\n'; /* the program was killed, or the file truncated, after a complete line */
        if (f->count == r->ends_room) {
            r->ends_room = r->ends_room ? 2 * r->ends_room : 256;
            f->ends = memory_realloc(f->ends, r->ends_room, sizeof *f->ends, "the lines of a log");
        }
        f->ends[f->count++] = end;
    }
    if (f->count) return true;
    snprintf(r->err, r->room, "%s is empty; record a run with FERRY_TRACE=%s", r->path, r->path);
    return false;
}

static feed *feed_of_lines(reading r, int fd, size_t size)
{
    feed *f = r.f = feed_new(r.err, r.room);
    if (!f) return NULL;
    f->text = memory_realloc(NULL, size + 1, 1, r.path); /* + 1: for a missing last newline */
    ssize_t n = 1;
    while (r.size < size && n > 0)
        if ((n = pread(fd, f->text + r.size, size - r.size, (off_t)r.size)) > 0) r.size += (size_t)n;
    if (n < 0) snprintf(r.err, r.room, "cannot read %s: %s", r.path, strerror(errno));
    else if (check_lines(&r)) return f;
    feed_free(f);
    return NULL;
}

static feed *open_file(const char *path, event_visit *visit, void *user, char *err, size_t room)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &s)) {
        snprintf(err, room, "cannot open %s: %s; name a file that FERRY_TRACE wrote", path, strerror(errno));
    } else if (!S_ISREG(s.st_mode)) {
        snprintf(err, room, "%s is %s; name a file that FERRY_TRACE wrote", path,
                 S_ISDIR(s.st_mode) ? "a folder" : "not a regular file");
    } else if (fy_log_is_log(fd)) {
        char why[256];
        feed *f = feed_of_log(fd, why, sizeof why);
        if (!f) snprintf(err, room, "%s: %s", path, why);
        return f;
    } else {
        reading r = {
            .path = path, .err = err, .room = room, .visit = visit, .user = user, .arena = event_arena_make(false)};
        feed *f = feed_of_lines(r, fd, (size_t)s.st_size);
        event_arena_free(r.arena);
        close(fd);
        return f;
    }
    if (fd >= 0) close(fd);
    return NULL;
}

/* What follows the limit, or a full disk, is lost without an event that says what. */
static void note_full(feed *f, fy_kind last)
{
    if (last == FY_KIND_log_full && !*f->note)
        snprintf(f->note, sizeof f->note, "the log was full, and later events are missing");
}

feed *feed_of_file(const char *path, char *err, size_t room)
{
    feed *f = open_file(path, NULL, NULL, err, room);
    if (f) note_full(f, feed_last_kind(f));
    return f;
}

bool feed_each(const char *path, event_visit *visit, void *user, char *note, size_t note_room, char *err, size_t room)
{
    feed *f = open_file(path, visit, user, err, room);
    if (!f) return false;
    fy_event e = {.kind = f->last_kind};
    for (uint64_t cursor = 0; f->log && fy_event_next(f->log, &cursor, &e);) visit(user, &e);
    note_full(f, e.kind);
    snprintf(note, note_room, "%s", f->note);
    feed_free(f);
    return true;
}

/* ---- reading; a file's lines are immutable and need no lock ---- */

static size_t read_lines(const feed *f, uint64_t *cursor, fy_text *out, size_t bytes)
{
    uint64_t first = *cursor, at = first;
    size_t start = first && first <= f->count ? f->ends[first - 1] : 0;
    while (at < f->count && (at == first || out->size + (f->ends[at] - start) <= bytes)) at++;
    if (at <= first) return 0;
    fy_text_add(out, f->text + start, f->ends[at - 1] - start);
    *cursor = at;
    return (size_t)(at - first);
}

size_t feed_read(feed *f, uint64_t *cursor, fy_text *out, size_t bytes)
{
    if (!f->log) return read_lines(f, cursor, out, bytes);
    pthread_mutex_lock(&f->lock);
    size_t n = fy_log_read(f->log, cursor, out, bytes);
    pthread_mutex_unlock(&f->lock);
    return n;
}

uint64_t feed_count(feed *f)
{
    if (!f->log) return f->count;
    pthread_mutex_lock(&f->lock);
    uint64_t n = fy_log_count(f->log);
    pthread_mutex_unlock(&f->lock);
    return n;
}

fy_kind feed_last_kind(feed *f)
{
    if (!f->log) return f->last_kind;
    pthread_mutex_lock(&f->lock);
    fy_event e = {.kind = FY_KIND_unpublished};
    uint64_t count = fy_log_count(f->log), cursor = count ? count - 1 : 0;
    bool any = fy_event_next(f->log, &cursor, &e);
    pthread_mutex_unlock(&f->lock);
    return any ? e.kind : FY_KIND_unpublished;
}

bool feed_drained(feed *f, uint64_t cursor)
{
    if (!f->log) return cursor >= f->count;
    pthread_mutex_lock(&f->lock);
    bool drained = fy_log_drained(f->log, cursor);
    pthread_mutex_unlock(&f->lock);
    return drained;
}

bool feed_ended(feed *f)
{
    if (!f->log) return true;
    pthread_mutex_lock(&f->lock);
    bool ended = fy_log_drained(f->log, fy_log_count(f->log));
    pthread_mutex_unlock(&f->lock);
    return ended;
}

bool feed_is_truncated(feed *f)
{
    if (!f->log) return false;
    pthread_mutex_lock(&f->lock);
    bool cut = fy_log_is_truncated(f->log);
    pthread_mutex_unlock(&f->lock);
    return cut;
}

void feed_writer_ended(feed *f)
{
    if (!f->log) return;
    pthread_mutex_lock(&f->lock);
    fy_log_writer_died(f->log);
    pthread_mutex_unlock(&f->lock);
}

const char *feed_warning(const feed *f) { return f->note[0] ? f->note : NULL; }
