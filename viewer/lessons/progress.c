/* progress.c: my/progress.json, {"01-where-am-i": {"done": true, "attempts": 3, "hints": 1}}, and of a lesson with a
 * board "best": [{"used": 757.2, "attempt": 3}]. A mutex serializes the threads of `ferry serve`; between processes the
 * last writer wins, and the file is replaced atomically. */
#include "progress.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void path_of(const home *h, char out[PATH_ROOM + 32])
{
    snprintf(out, PATH_ROOM + 32, "%s/progress.json", h->my);
}

/* Always an object; the caller deletes it. A file that is not valid JSON is kept under another name. */
static cJSON *load(const home *h)
{
    char path[PATH_ROOM + 32], bad[PATH_ROOM + 64];
    path_of(h, path);
    char *text = file_read(path, NULL);
    if (!text) return cJSON_CreateObject();
    cJSON *all = cJSON_Parse(text);
    free(text);
    if (cJSON_IsObject(all)) return all;

    cJSON_Delete(all);
    snprintf(bad, sizeof bad, "%s.bad", path);
    if (rename(path, bad) == 0)
        fprintf(stderr, "ferry: %s is not valid JSON; it was renamed to %s, and progress starts over\n", path, bad);
    return cJSON_CreateObject();
}

static bool store(const home *h, const cJSON *all)
{
    char path[PATH_ROOM + 32];
    path_of(h, path);
    char *text = cJSON_Print(all);
    bool ok = text && folder_make(h->my) && file_write(path, text, strlen(text));
    free(text);
    if (!ok) fprintf(stderr, "ferry: cannot write %s: %s; progress is not saved\n", path, strerror(errno));
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
    pthread_mutex_lock(&lock);
    cJSON *all = load(h);
    progress p = read_entry(all, l);
    cJSON_Delete(all);
    pthread_mutex_unlock(&lock);
    return p;
}

progress progress_record(const home *h, const lesson *l, bool pass, const double *used)
{
    pthread_mutex_lock(&lock);
    cJSON *all = load(h);
    progress p = read_entry(all, l);
    p.done = p.done || pass;
    p.attempts++;
    if (pass && used) p.board.latest = board_add(&p.board, (struct board_entry){*used, p.attempts});
    write_entry(all, l, p);
    store(h, all);
    cJSON_Delete(all);
    pthread_mutex_unlock(&lock);
    return p;
}

bool progress_record_hint(const home *h, const lesson *l, int n)
{
    pthread_mutex_lock(&lock);
    cJSON *all = load(h);
    progress p = read_entry(all, l);
    p.hints = n;
    write_entry(all, l, p);
    bool ok = store(h, all);
    cJSON_Delete(all);
    pthread_mutex_unlock(&lock);
    return ok;
}
