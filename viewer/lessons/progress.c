/* progress.c: my/progress.json, {"01-where-am-i": {"done": true, "attempts": 3, "hints": 1}}, and of a lesson with a
 * board "best": [{"used": 757.2, "attempt": 3}]. The file is replaced atomically, so readers need no lock. A change
 * holds the lock of .progress.lock from reading to writing: several commands, `ferry watch` and the page may grade at
 * once. */
#include "progress.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 1000, LOCK_PAUSE_MS = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* where the file system has no locks, of the threads */

/* The descriptor of the locked file; -1, and the change is made without: the file system has no locks, the folder
 * cannot be written, or a process that stands still has held it for ten seconds. */
static int lock_between_processes(const home *h)
{
    char path[PATH_ROOM + 32];
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};
    snprintf(path, sizeof path, "%s/.progress.lock", h->my);
    int fd = folder_make(h->my) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
        if (errno != EWOULDBLOCK && errno != EINTR) break;
        nanosleep(&pause, NULL);
    }
    if (fd >= 0) close(fd);
    return -1;
}

static int change_begin(const home *h)
{
    pthread_mutex_lock(&lock);
    return lock_between_processes(h);
}

static void change_end(int fd)
{
    if (fd >= 0) close(fd); /* which unlocks it */
    pthread_mutex_unlock(&lock);
}

static void path_of(const home *h, char out[PATH_ROOM + 32])
{
    snprintf(out, PATH_ROOM + 32, "%s/progress.json", h->my);
}

/* NULL with errno ENOENT, or with what is wrong with the file in *wrong. The caller deletes it. */
static cJSON *read_file(const char *path, const char **wrong)
{
    *wrong = NULL;
    char *text = file_read(path, NULL);
    if (!text) return NULL;
    cJSON *all = cJSON_ParseWithOpts(text, NULL, true);
    free(text);
    if (cJSON_IsObject(all)) return all;
    *wrong = !all                 ? "is not valid JSON"
             : cJSON_IsArray(all) ? "holds a list, and not an object of lessons"
                                  : "holds a single value, and not an object of lessons";
    cJSON_Delete(all);
    return NULL;
}

/* Renames the damaged file to the first of progress.json.bad, .bad2, .bad3 ... that is not there. */
static void set_aside(const char *path, const char *wrong)
{
    char bad[PATH_ROOM + 64];
    snprintf(bad, sizeof bad, "%s.bad", path);
    for (int n = 2; n < 10000 && access(bad, F_OK) == 0; n++) snprintf(bad, sizeof bad, "%s.bad%d", path, n);
    if (rename(path, bad) == 0)
        fprintf(stderr, "ferry: %s %s; it was renamed to %s, and progress starts over\n", path, wrong, bad);
    else fprintf(stderr, "ferry: %s %s, and cannot be renamed: %s\n", path, wrong, strerror(errno));
}

/* Always an object; the caller, who has begun a change, deletes it. */
static cJSON *load(const home *h)
{
    char path[PATH_ROOM + 32];
    const char *wrong;
    path_of(h, path);
    cJSON *all = read_file(path, &wrong);
    if (wrong) set_aside(path, wrong);
    return all ? all : cJSON_CreateObject();
}

static bool store(const home *h, const cJSON *all)
{
    char path[PATH_ROOM + 32];
    path_of(h, path);
    char *text = cJSON_Print(all);
    bool ok = text && folder_make(h->my) && file_write(path, text, strlen(text));
    free(text);
    if (!ok)
        fprintf(stderr, "ferry: cannot write %s: %s; progress is not saved; %s\n", path, strerror(errno),
                folder_advice(errno));
    return ok;
}

static int count_in(const cJSON *entry, const char *key)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(entry, key);
    return cJSON_IsNumber(n) && n->valueint > 0 ? n->valueint : 0;
}

/* Puts a run where it belongs, the least first, and returns its index; of equal runs the first stays. -1: none of the
 * best. */
static int board_add(board *b, struct board_entry one)
{
    int at = b->count;
    while (at > 0 && b->best[at - 1].used > one.used) at--;
    if (at > 0 && !(b->best[at - 1].used < one.used)) return at - 1;
    if (at == BOARD_MOST) return -1;
    if (b->count < BOARD_MOST) b->count++;
    memmove(&b->best[at + 1], &b->best[at], (size_t)(b->count - at - 1) * sizeof one);
    b->best[at] = one;
    return at;
}

static board read_board(const cJSON *entry)
{
    board b = {.latest = -1};
    const cJSON *one;
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(entry, "best"))
    {
        const cJSON *used = cJSON_GetObjectItemCaseSensitive(one, "used");
        if (cJSON_IsNumber(used)) board_add(&b, (struct board_entry){used->valuedouble, count_in(one, "attempt")});
    }
    return b;
}

static progress read_entry(const cJSON *all, const lesson *l)
{
    const cJSON *entry = cJSON_GetObjectItemCaseSensitive(all, l->id);
    return (progress){.board = read_board(entry),
                      .done = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(entry, "done")),
                      .attempts = count_in(entry, "attempts"),
                      .hints = count_in(entry, "hints")};
}

static void write_entry(cJSON *all, const lesson *l, progress p)
{
    cJSON_DeleteItemFromObjectCaseSensitive(all, l->id);
    cJSON *entry = cJSON_AddObjectToObject(all, l->id);
    cJSON_AddBoolToObject(entry, "done", p.done);
    cJSON_AddNumberToObject(entry, "attempts", p.attempts);
    cJSON_AddNumberToObject(entry, "hints", p.hints);
    cJSON *best = p.board.count ? cJSON_AddArrayToObject(entry, "best") : NULL;
    for (int i = 0; i < p.board.count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "used", p.board.best[i].used);
        cJSON_AddNumberToObject(one, "attempt", p.board.best[i].attempt);
        cJSON_AddItemToArray(best, one);
    }
}

progress progress_of(const home *h, const lesson *l)
{
    char path[PATH_ROOM + 32];
    const char *wrong;
    path_of(h, path);
    cJSON *all = read_file(path, &wrong);
    if (wrong) { /* again, as another process may set it aside as well */
        int fd = change_begin(h);
        all = load(h);
        change_end(fd);
    }
    progress p = read_entry(all, l);
    cJSON_Delete(all);
    return p;
}

progress progress_record(const home *h, const lesson *l, bool pass, const double *used)
{
    int fd = change_begin(h);
    cJSON *all = load(h);
    progress p = read_entry(all, l);
    p.done = p.done || pass;
    p.attempts++;
    if (pass && used) p.board.latest = board_add(&p.board, (struct board_entry){*used, p.attempts});
    write_entry(all, l, p);
    store(h, all);
    cJSON_Delete(all);
    change_end(fd);
    return p;
}

bool progress_record_hint(const home *h, const lesson *l, int n)
{
    int fd = change_begin(h);
    cJSON *all = load(h);
    progress p = read_entry(all, l);
    p.hints = n;
    write_entry(all, l, p);
    bool ok = store(h, all);
    cJSON_Delete(all);
    change_end(fd);
    return ok;
}
