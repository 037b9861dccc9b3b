/* page_stream.c: the runs that pages follow, and the messages to all pages. The program that writes a log never
 * waits for this: each client reads the log through its own cursor (client.c). */
#include "page_stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory.h"
#include "text.h"

bool hub_start(hub *h, const char *mode, const char *why, const char *folder)
{
    *h = (hub){.mode = mode, .why = why, .folder = folder};
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic)) return false;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    bool ok = !pthread_mutex_init(&h->lock, NULL) && !pthread_cond_init(&h->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return ok;
}

void hub_end(hub *h)
{
    for (int i = 0; i < h->run_count; i++) run_stream_release(h->runs[i]);
    free(h->last_status);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
}

/* ---- runs ---- */

static char *copy_of(const char *s) { return s ? memory_copy(s, "a run") : NULL; }

void run_stream_release(stream *r)
{
    if (--r->refcount) return;
    feed_free(r->feed);
    free(r->lesson);
    free(r->what);
    free(r->label);
    free(r->by);
    free(r);
}

stream *hub_newest(hub *h) { return h->run_count ? h->runs[h->run_count - 1] : NULL; }

stream *hub_find(hub *h, int number)
{
    for (int i = 0; i < h->run_count; i++)
        if (h->runs[i]->number == number) return h->runs[i];
    return NULL;
}

int hub_add_run(hub *h, feed *f, const char *lesson, const char *what, const char *label, const char *by)
{
    stream *r = memory_zeroed(1, sizeof *r, "a run");
    *r = (stream){.refcount = 1,
                  .feed = f,
                  .lesson = copy_of(lesson),
                  .what = copy_of(what),
                  .label = copy_of(label),
                  .by = copy_of(by)};
    pthread_mutex_lock(&h->lock);
    int number = r->number = ++h->last_number;
    if (h->run_count == RUNS_KEPT) {
        run_stream_release(h->runs[0]);
        memmove(h->runs, h->runs + 1, sizeof h->runs - sizeof h->runs[0]);
        h->run_count--;
    }
    h->runs[h->run_count++] = r;
    char *announcement = run_stream_announcement(r);
    for (client *c = h->clients; c; c = client_next(c)) {
        client_send(c, announcement);
        if (!by) client_follow(c, r, 0); /* else the tab that asked for it says so itself, and no other moves */
    }
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
    free(announcement);
    return number;
}

void hub_run_ended(hub *h, int number)
{
    pthread_mutex_lock(&h->lock);
    stream *r = hub_find(h, number);
    if (r) {
        feed_writer_ended(r->feed);
        r->ended = true;
        pthread_cond_broadcast(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
}

stream *hub_retain_run(hub *h, int number)
{
    pthread_mutex_lock(&h->lock);
    stream *r = hub_find(h, number);
    if (r) r->refcount++;
    pthread_mutex_unlock(&h->lock);
    return r;
}

void hub_release_run(hub *h, stream *r)
{
    pthread_mutex_lock(&h->lock);
    run_stream_release(r);
    pthread_mutex_unlock(&h->lock);
}

bool hub_run_is_over(hub *h, const stream *r)
{
    pthread_mutex_lock(&h->lock);
    bool over = r->ended;
    pthread_mutex_unlock(&h->lock);
    return over || feed_ended(r->feed);
}

int hub_count_clients(hub *h)
{
    pthread_mutex_lock(&h->lock);
    int n = h->client_count;
    pthread_mutex_unlock(&h->lock);
    return n;
}

/* ---- messages ---- */

static void add_text(cJSON *o, const char *name, const char *value)
{
    if (value) cJSON_AddStringToObject(o, name, value);
}

static void add_run_fields(cJSON *o, const stream *r)
{
    cJSON_AddNumberToObject(o, "run", r->number);
    add_text(o, "lesson", r->lesson);
    add_text(o, "what", r->what);
    add_text(o, "label", r->label);
    add_text(o, "by", r->by);
}

/* Replaces bytes that are not ASCII in invalid UTF-8, in place: a browser closes the connection at invalid UTF-8,
 * and a learner's program may have printed anything. */
static char *make_utf8(char *s)
{
    if (s && !fy_utf8_is_valid(s, strlen(s)))
        for (char *p = s; *p; p++)
            if (*p & 0x80) *p = '?';
    return s;
}

static char *print_and_free(cJSON *o)
{
    char *text = cJSON_PrintUnformatted(o);
    cJSON_Delete(o);
    return make_utf8(text);
}

char *run_stream_announcement(const stream *r)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "type", "run");
    add_run_fields(o, r);
    return print_and_free(o);
}

char *hub_hello(hub *h)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "type", "hello");
    cJSON_AddStringToObject(o, "mode", h->mode);
    add_text(o, "why", h->why);
    add_text(o, "folder", h->folder);
    cJSON *runs = cJSON_AddArrayToObject(o, "runs");
    for (int i = 0; i < h->run_count; i++) {
        cJSON *one = cJSON_CreateObject();
        add_run_fields(one, h->runs[i]);
        if (h->runs[i]->ended) cJSON_AddTrueToObject(one, "over");
        cJSON_AddItemToArray(runs, one);
    }
    const stream *newest = hub_newest(h);
    if (newest) cJSON_AddNumberToObject(o, "current", newest->number);
    else cJSON_AddNullToObject(o, "current");
    return print_and_free(o);
}

void hub_broadcast(hub *h, char *text)
{
    if (!make_utf8(text)) return; /* NULL */
    pthread_mutex_lock(&h->lock);
    for (client *c = h->clients; c; c = client_next(c)) client_send(c, text);
    free(h->last_status);
    h->last_status = text;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}
