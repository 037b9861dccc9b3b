/* client.c: one WebSocket client: a cursor into its run, and a thread that sends from there.
 *
 * The sender reads the log in batches and may block in a write for as long as its peer stalls; nobody
 * waits for it: not the program, not the other clients. civetweb's thread of the connection reads what
 * the page says. The connection dies after its close handler, which therefore joins the sender.
 * A write of fewer bytes than asked for has cut a frame: all that follows would be garbage, so the
 * client is dropped. It may come back and go on from any event. */
#define _GNU_SOURCE
#include <civetweb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "page_stream.h"
#include "text.h"

#define BATCH (256 * 1024) /* bytes of events a frame, about */
#define FULL (16 * 1024)   /* a smaller batch had all there was: rest before the next */
#define REST_MS 16
#define HOLD_MS 100      /* a page that comes back says within this time from where to go on */
#define HEAD 96          /* room for the line before the events */
#define MESSAGE_MAX 4096 /* bytes that a page may say at once */
#define UNSENT_MAX 256   /* messages that a stalled client may have waiting */

enum { GOING_AWAY = 1001, NOT_UNDERSTOOD = 1003, TOO_BIG = 1009, NORMAL = 1000, BROKEN = 1 };

typedef struct message {
    struct message *next;
    char text[];
} message;

struct client {
    client *next;
    hub *hub;
    struct mg_connection *conn;
    pthread_t sender;
    message *unsent, **last_unsent;
    int unsent_count;
    stream *run;       /* held; NULL while there is none */
    uint64_t cursor;   /* next event to send */
    uint64_t seen;     /* events that the page has applied */
    uint64_t told_end; /* cursor at which "ended" was said, plus 1 */
    int64_t hold;      /* send no event before this time, in ms */
    unsigned turn;     /* grows whenever run or cursor are set from outside */
    int quit;          /* close code; 0 while it lives */
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct timespec at_ms(int64_t ms)
{
    return (struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000L};
}

client *client_next(const client *c) { return c->next; }

static void quit(client *c, int code)
{
    if (!c->quit) c->quit = code;
    pthread_cond_broadcast(&c->hub->changed);
}

void client_follow(client *c, stream *r, uint64_t from)
{
    if (c->run != r) {
        r->holders++;
        if (c->run) run_stream_release(c->run);
        c->run = r;
    }
    c->cursor = c->seen = from;
    c->told_end = 0;
    c->hold = 0;
    c->turn++;
}

void client_send(client *c, const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;
    message *m = size ? malloc(sizeof *m + size) : NULL;
    if (!m || ++c->unsent_count > UNSENT_MAX) {
        free(m);
        quit(c, BROKEN);
        return;
    }
    m->next = NULL;
    memcpy(m->text, text, size);
    *c->last_unsent = m;
    c->last_unsent = &m->next;
}

bool client_has_all(const client *c, const stream *r) { return c->run == r && feed_drained(r->feed, c->seen); }

/* ---- sending; the hub's lock is held, except while something is written ---- */

/* Write one frame without the lock. */
static void send_frame(client *c, const char *data, size_t size)
{
    hub *h = c->hub;
    pthread_mutex_unlock(&h->lock);
    int sent = mg_websocket_write(c->conn, MG_WEBSOCKET_OPCODE_TEXT, data, size);
    pthread_mutex_lock(&h->lock);
    if (sent != (int)size) quit(c, BROKEN);
}

static message *take_message(client *c)
{
    message *m = c->unsent;
    if (!m) return NULL;
    c->unsent = m->next;
    if (!c->unsent) c->last_unsent = &c->unsent;
    c->unsent_count--;
    return m;
}

static bool send_message(client *c)
{
    message *m = take_message(c);
    if (!m) return false;
    send_frame(c, m->text, strlen(m->text));
    free(m);
    return true;
}

/* The line before the events, put right in front of them: `text` was read from HEAD on. */
static const char *put_head(fy_text *text, int run, uint64_t from, size_t count)
{
    char head[HEAD];
    int n = snprintf(head, sizeof head, "{\"type\":\"events\",\"run\":%d,\"from\":%llu,\"count\":%zu}\n", run,
                     (unsigned long long)from, count);
    memcpy(text->data + HEAD - n, head, (size_t)n);
    return text->data + HEAD - n;
}

/* Read and send one batch; returns the bytes of its events. A page that meanwhile asks for something
 * else (turn) gets that instead. */
static size_t send_events(client *c, fy_text *text)
{
    if (!c->run || (c->hold && now_ms() < c->hold)) return 0;
    hub *h = c->hub;
    stream *r = c->run;
    uint64_t from = c->cursor, cursor = from;
    unsigned turn = c->turn;
    r->holders++;
    pthread_mutex_unlock(&h->lock);
    text->size = HEAD;
    size_t count = feed_read(r->feed, &cursor, text, BATCH + HEAD), bytes = count ? text->size - HEAD : 0;
    const char *frame = count ? put_head(text, r->number, from, count) : NULL;
    const char *end = text->data + text->size - 1; /* lines are separated by newlines, not ended */
    pthread_mutex_lock(&h->lock);
    run_stream_release(r);
    if (text->lost) quit(c, BROKEN); /* the page comes back */
    if (!count || c->quit || c->turn != turn) return 0;
    c->cursor = cursor;
    c->told_end = 0;
    send_frame(c, frame, (size_t)(end - frame));
    return bytes;
}

static bool send_end(client *c)
{
    const stream *r = c->run;
    if (!r || !r->ended || c->told_end == c->cursor + 1 || !feed_drained(r->feed, c->cursor)) return false;
    char text[96];
    snprintf(text, sizeof text, "{\"type\":\"ended\",\"run\":%d,\"count\":%llu}", r->number,
             (unsigned long long)c->cursor);
    c->told_end = c->cursor + 1;
    send_frame(c, text, strlen(text));
    return true;
}

/* Until the next look at a log that still grows, or until something changes. */
static void rest(client *c)
{
    hub *h = c->hub;
    if (!c->run || c->told_end) {
        pthread_cond_wait(&h->changed, &h->lock);
        return;
    }
    struct timespec until = at_ms(now_ms() + REST_MS);
    pthread_cond_timedwait(&h->changed, &h->lock, &until);
}

static void leave(const client *c)
{
    const struct mg_request_info *info = mg_get_request_info(c->conn);
    char code[2] = {(char)(c->quit >> 8), (char)(c->quit & 255)};
    bool broken = c->quit == BROKEN;
    if (!broken) mg_websocket_write(c->conn, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, code, sizeof code);
    /* Wake the reading thread: it ends the connection. */
    shut_connections(info->server_port, info->remote_port, broken ? SHUT_RDWR : SHUT_RD);
}

static void *send_all(void *arg)
{
    client *c = arg;
    fy_text text = {.data = malloc(HEAD), .size = HEAD, .room = HEAD};
    pthread_mutex_lock(&c->hub->lock);
    if (!text.data) quit(c, BROKEN);
    while (!c->quit) {
        if (send_message(c)) continue;
        size_t bytes = send_events(c, &text);
        if (c->quit || bytes >= FULL) continue;
        if (!bytes && send_end(c)) continue;
        if (!c->unsent) rest(c);
    }
    pthread_mutex_unlock(&c->hub->lock);
    leave(c);
    free(text.data);
    return NULL;
}

/* ---- what the page says ---- */

static bool whole_number(const cJSON *o, const char *name, uint64_t *out)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(o, name);
    if (!cJSON_IsNumber(n) || n->valuedouble < 0 || n->valuedouble >= 9007199254740992.0) return false;
    *out = (uint64_t)n->valuedouble;
    return (double)*out == n->valuedouble;
}

/* {"watch":2,"from":0} */
static bool watch(client *c, const cJSON *said)
{
    uint64_t number, from = 0;
    if (!whole_number(said, "watch", &number)) return false;
    if (cJSON_HasObjectItem(said, "from") && !whole_number(said, "from", &from)) return false;
    stream *r = number <= INT32_MAX ? hub_find(c->hub, (int)number) : NULL;
    if (!r) return true; /* no longer kept: not an error */
    uint64_t count = feed_count(r->feed);
    client_follow(c, r, from < count ? from : count);
    pthread_cond_broadcast(&c->hub->changed);
    return true;
}

/* {"ack":{"run":2,"seq":119}} */
static bool acknowledge(client *c, const cJSON *said)
{
    const cJSON *ack = cJSON_GetObjectItemCaseSensitive(said, "ack");
    uint64_t number, seq;
    if (!whole_number(ack, "run", &number) || !whole_number(ack, "seq", &seq)) return false;
    if (c->run && number == (uint64_t)c->run->number && seq >= c->seen && seq < feed_count(c->run->feed))
        c->seen = seq + 1;
    return true;
}

static bool listen_to(client *c, const char *data, size_t size)
{
    cJSON *said = cJSON_ParseWithLength(data, size);
    bool ok = cJSON_HasObjectItem(said, "watch") ? watch(c, said) : acknowledge(c, said);
    cJSON_Delete(said);
    return ok;
}

/* 0: nothing is wrong; else the code to close with. */
static int judge(client *c, int bits, const char *data, size_t size)
{
    if ((bits & 15) == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE) return NORMAL;
    if ((bits & 15) == MG_WEBSOCKET_OPCODE_PONG) return 0;
    if (size > MESSAGE_MAX) return TOO_BIG;
    if (bits != (0x80 | MG_WEBSOCKET_OPCODE_TEXT)) return NOT_UNDERSTOOD;
    return listen_to(c, data, size) ? 0 : NOT_UNDERSTOOD;
}

static int on_data(struct mg_connection *conn, int bits, char *data, size_t size, void *arg)
{
    (void)arg;
    client *c = mg_get_user_connection_data(conn);
    if (!c) return 0;
    pthread_mutex_lock(&c->hub->lock);
    int code = c->quit ? c->quit : judge(c, bits, data, size);
    if (code) quit(c, code);
    pthread_mutex_unlock(&c->hub->lock);
    return !code;
}

/* ---- coming and going ---- */

static void greet(client *c)
{
    hub *h = c->hub;
    char *hello = hub_hello(h);
    client_send(c, hello);
    free(hello);
    stream *newest = hub_newest(h);
    if (newest) client_follow(c, newest, 0);
    c->hold = now_ms() + HOLD_MS;
    if (h->last_status) client_send(c, h->last_status);
}

static void on_ready(struct mg_connection *conn, void *arg)
{
    hub *h = arg;
    mg_set_user_connection_data(conn, NULL); /* civetweb keeps that of an earlier connection */
    client *c = calloc(1, sizeof *c);
    if (!c) return;
    *c = (client){.hub = h, .conn = conn};
    c->last_unsent = &c->unsent;
    pthread_mutex_lock(&h->lock);
    greet(c);
    if (h->stopping) quit(c, GOING_AWAY);
    bool started = !pthread_create(&c->sender, NULL, send_all, c);
    if (started) {
        c->next = h->clients;
        h->clients = c;
        h->client_count++;
        mg_set_user_connection_data(conn, c);
    }
    pthread_mutex_unlock(&h->lock);
    if (!started) {
        if (c->run) hub_release_run(h, c->run);
        for (message *m; (m = take_message(c));) free(m);
        free(c);
    }
}

static void forget(client *c)
{
    hub *h = c->hub;
    client **at = &h->clients;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    h->client_count--;
    if (c->run) run_stream_release(c->run);
    for (message *m; (m = take_message(c));) free(m);
    pthread_cond_broadcast(&h->changed);
}

static void on_close(const struct mg_connection *conn, void *arg)
{
    hub *h = arg;
    client *c = mg_get_user_connection_data(conn);
    if (!c) return;
    pthread_mutex_lock(&h->lock);
    quit(c, NORMAL);
    pthread_mutex_unlock(&h->lock);
    pthread_join(c->sender, NULL);
    pthread_mutex_lock(&h->lock);
    forget(c);
    pthread_mutex_unlock(&h->lock);
    free(c);
}

void clients_attach(struct mg_context *ctx, hub *h)
{
    mg_set_websocket_handler(ctx, "/ws", NULL, on_ready, on_data, on_close, h);
}

void clients_dismiss(hub *h)
{
    struct timespec until = at_ms(now_ms() + 250);
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    for (client *c = h->clients; c; c = c->next) quit(c, GOING_AWAY);
    while (h->clients && !pthread_cond_timedwait(&h->changed, &h->lock, &until)) continue;
    pthread_mutex_unlock(&h->lock);
}
