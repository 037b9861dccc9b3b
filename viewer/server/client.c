/* client.c: one WebSocket client: a cursor into its run, and a thread that sends from there.
 *
 * The sender reads the log in batches and may block in a write while its peer stalls; neither the program
 * nor other clients wait for it. civetweb's thread of the connection reads the page's messages, in on_ready, which
 * returns when the connection has ended. A short write truncates a frame and would corrupt all that follow, so it
 * drops the client, which may reconnect and continue from any event. */
#define _GNU_SOURCE
#include <civetweb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "frame_reader.h"
#include "page_stream.h"
#include "text.h"

#define BATCH (256 * 1024) /* bytes of events per frame, about */
#define FULL (16 * 1024)   /* after a smaller batch, wait for more events */
#define POLL_MS 8
#define HOLD_MS 100    /* a reconnecting page sends its start event within this time */
#define HEAD 96        /* bytes reserved for the frame's first line */
#define UNSENT_MAX 256 /* messages queued for a stalled client */

#define PING_MS 5000     /* a page that says nothing for so long is asked whether it is there, */
#define UNANSWERED_MAX 5 /* and given up after so many questions */
#define STALLED_MS 250   /* who takes nothing for so long when the server stops is not waited for, */
#define CLOSING_MS 10000 /* and nobody for longer: they would be threads that get no processor */
#define LINGER_MS 1000   /* what a page has sent is discarded for so long, so that it gets the close frame */

enum { NORMAL = 1000, GOING_AWAY = 1001, USAGE_ERROR = 1003, BROKEN = 1 };

typedef struct message {
    struct message *next;
    char text[];
} message;

struct client {
    client *next;
    hub *hub;
    struct mg_connection *conn;
    int fd;    /* of conn */
    bool deaf; /* no more is read from it */
    pthread_t sender;
    message *unsent, **last_unsent;
    int unsent_count;
    stream *run;         /* retained; may be NULL */
    uint64_t cursor;     /* next event to send */
    uint64_t end_sent;   /* cursor at which "ended" was sent, plus 1; 0: not sent */
    int64_t hold_until;  /* send no event before this time, in ms */
    unsigned generation; /* incremented by client_follow: invalidates a batch being read */
    int64_t write_began; /* in ms; 0: it does not write */
    int close_code;      /* 0: open */
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

static void close_client(client *c, int code)
{
    if (!c->close_code) c->close_code = code;
    pthread_cond_broadcast(&c->hub->changed);
}

void client_follow(client *c, stream *r, uint64_t from)
{
    if (c->run != r) {
        r->refcount++;
        if (c->run) run_stream_release(c->run);
        c->run = r;
    }
    c->cursor = from;
    c->end_sent = 0;
    c->hold_until = 0;
    c->generation++;
}

void client_send(client *c, const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;
    message *m = size ? malloc(sizeof *m + size) : NULL;
    if (!m || ++c->unsent_count > UNSENT_MAX) {
        free(m);
        close_client(c, BROKEN);
        return;
    }
    m->next = NULL;
    memcpy(m->text, text, size);
    *c->last_unsent = m;
    c->last_unsent = &m->next;
}

/* ---- sending: called with the hub's lock, which is released during reads and writes ---- */

/* Writes one frame, with the lock released. */
static bool write_frame(client *c, int opcode, const char *data, size_t size)
{
    hub *h = c->hub;
    c->write_began = now_ms();
    pthread_mutex_unlock(&h->lock);
    int sent = mg_websocket_write(c->conn, opcode, data, size);
    pthread_mutex_lock(&h->lock);
    c->write_began = 0;
    return sent == (int)size;
}

static void send_frame(client *c, const char *data, size_t size)
{
    if (!write_frame(c, MG_WEBSOCKET_OPCODE_TEXT, data, size)) close_client(c, BROKEN);
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

/* Reads and sends one batch; returns the bytes of its events. 0, with nothing sent, if the page asked for
 * something else meanwhile (generation). */
static size_t send_events(client *c, fy_text *text)
{
    if (!c->run || (c->hold_until && now_ms() < c->hold_until)) return 0;
    hub *h = c->hub;
    stream *r = c->run;
    uint64_t from = c->cursor, cursor = from;
    unsigned generation = c->generation;
    r->refcount++;
    pthread_mutex_unlock(&h->lock);

    char head[HEAD];
    text->size = HEAD;
    size_t count = feed_read(r->feed, &cursor, text, BATCH + HEAD), bytes = count ? text->size - HEAD : 0;
    int n = snprintf(head, sizeof head, "{\"type\":\"events\",\"run\":%d,\"from\":%llu,\"count\":%zu}\n", r->number,
                     (unsigned long long)from, count);
    char *frame = text->data + HEAD - n; /* the first line ends where the events begin */
    if (count) memcpy(frame, head, (size_t)n);
    const char *end = text->data + text->size - 1; /* lines are separated by newlines, not ended */

    pthread_mutex_lock(&h->lock);
    run_stream_release(r);
    if (text->lost) close_client(c, BROKEN); /* no memory; the page reconnects */
    if (!count || c->close_code || c->generation != generation) return 0;
    c->cursor = cursor;
    c->end_sent = 0;
    send_frame(c, frame, (size_t)(end - frame));
    return bytes;
}

static bool send_end(client *c)
{
    const stream *r = c->run;
    if (!r || !r->ended || c->end_sent == c->cursor + 1 || !feed_drained(r->feed, c->cursor)) return false;
    char text[96];
    snprintf(text, sizeof text, "{\"type\":\"ended\",\"run\":%d,\"count\":%llu}", r->number,
             (unsigned long long)c->cursor);
    c->end_sent = c->cursor + 1;
    send_frame(c, text, strlen(text));
    return true;
}

/* The reading thread is woken: it ends the connection. */
static void send_close(client *c)
{
    char code[2] = {(char)(c->close_code >> 8), (char)(c->close_code & 255)};
    bool broken = c->close_code == BROKEN, deaf = c->deaf;
    if (!broken) write_frame(c, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, code, sizeof code);
    if (broken) shutdown(c->fd, SHUT_RDWR);
    else if (!deaf) shutdown(c->fd, SHUT_RD);
}

static void *send_all(void *arg)
{
    client *c = arg;
    hub *h = c->hub;
    fy_text text = {.data = malloc(HEAD), .size = HEAD, .room = HEAD};
    pthread_mutex_lock(&h->lock);
    if (!text.data) close_client(c, BROKEN);
    while (!c->close_code) {
        message *m = take_message(c);
        if (m) {
            send_frame(c, m->text, strlen(m->text));
            free(m);
            continue;
        }
        size_t bytes = send_events(c, &text);
        if (c->close_code || bytes >= FULL) continue;
        if (!bytes && send_end(c)) continue;
        if (c->unsent) continue;
        if (!c->run || c->end_sent) {
            pthread_cond_wait(&h->changed, &h->lock);
        } else { /* the log still grows: poll it */
            struct timespec until = at_ms(now_ms() + POLL_MS);
            pthread_cond_timedwait(&h->changed, &h->lock, &until);
        }
    }
    send_close(c);
    pthread_mutex_unlock(&h->lock);
    free(text.data);
    return NULL;
}

/* ---- messages from the page ---- */

static bool read_uint(const cJSON *o, const char *name, uint64_t *out)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(o, name);
    if (!cJSON_IsNumber(n) || n->valuedouble < 0 || n->valuedouble >= 9007199254740992.0) return false;
    *out = (uint64_t)n->valuedouble;
    return (double)*out == n->valuedouble;
}

/* {"watch":2,"from":0} */
static bool watch(client *c, const cJSON *json)
{
    uint64_t number, from = 0;
    if (!read_uint(json, "watch", &number)) return false;
    if (cJSON_HasObjectItem(json, "from") && !read_uint(json, "from", &from)) return false;
    stream *r = number <= INT32_MAX ? hub_find(c->hub, (int)number) : NULL;
    if (!r) return true; /* no longer kept: not an error */
    uint64_t count = feed_count(r->feed);
    client_follow(c, r, from < count ? from : count);
    pthread_cond_broadcast(&c->hub->changed);
    return true;
}

/* Returns 0, or the code to close the connection with. */
static int handle_frame(client *c, const ws_frame *f)
{
    int opcode = f->bits & 15;
    if (opcode == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE) return NORMAL;
    if (opcode == MG_WEBSOCKET_OPCODE_PONG) return 0;
    if (opcode == MG_WEBSOCKET_OPCODE_PING)
        return mg_websocket_write(c->conn, MG_WEBSOCKET_OPCODE_PONG, f->data, f->size) >= 0 ? 0 : BROKEN;
    if (f->bits != (0x80 | MG_WEBSOCKET_OPCODE_TEXT)) return USAGE_ERROR;
    cJSON *json = cJSON_ParseWithLength(f->data, f->size);
    pthread_mutex_lock(&c->hub->lock);
    bool ok = watch(c, json);
    pthread_mutex_unlock(&c->hub->lock);
    cJSON_Delete(json);
    return ok ? 0 : USAGE_ERROR;
}

/* Until the page or the server ends the connection; returns the code to close it with. */
static int handle_frames(client *c)
{
    frame_reader reader = {.fd = c->fd};
    ws_frame f;
    for (int unanswered = 0;;) {
        int end = frame_read(&reader, PING_MS, &f);
        if (end == FRAME_END || (end == FRAME_IDLE && unanswered++ == UNANSWERED_MAX)) return NORMAL;
        if (end == FRAME_IDLE) {
            mg_websocket_write(c->conn, MG_WEBSOCKET_OPCODE_PING, NULL, 0);
            continue;
        }
        unanswered = 0;
        if (end == FRAME_READ) end = handle_frame(c, &f);
        if (end) return end;
    }
}

/* ---- connecting and disconnecting ---- */

/* With the hub's lock. */
static bool attach(client *c)
{
    hub *h = c->hub;
    char *hello = hub_hello(h);
    client_send(c, hello);
    free(hello);
    stream *newest = hub_newest(h);
    if (newest) client_follow(c, newest, 0);
    c->hold_until = now_ms() + HOLD_MS;
    if (h->last_status) client_send(c, h->last_status);
    if (h->stopping) close_client(c, GOING_AWAY);
    if (pthread_create(&c->sender, NULL, send_all, c)) return false;
    c->next = h->clients;
    h->clients = c;
    h->client_count++;
    return true;
}

/* With the hub's lock. */
static void detach(client *c)
{
    hub *h = c->hub;
    client **at = &h->clients;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    h->client_count--;
    pthread_cond_broadcast(&h->changed);
}

/* The whole life of a client: afterwards civetweb finds that the connection has ended. */
static void on_ready(struct mg_connection *conn, void *arg)
{
    hub *h = arg;
    const struct mg_request_info *info = mg_get_request_info(conn);
    client *c = calloc(1, sizeof *c);
    int fd = server_socket(info->server_port, info->remote_port);
    if (!c || fd < 0) {
        free(c);
        return;
    }
    *c = (client){.hub = h, .conn = conn, .fd = fd};
    c->last_unsent = &c->unsent;
    pthread_mutex_lock(&h->lock);
    bool attached = attach(c);
    pthread_mutex_unlock(&h->lock);
    int code = attached ? handle_frames(c) : BROKEN;

    pthread_mutex_lock(&h->lock);
    c->deaf = true;
    close_client(c, code);
    pthread_mutex_unlock(&h->lock);
    if (attached) pthread_join(c->sender, NULL);

    pthread_mutex_lock(&h->lock);
    if (attached) detach(c);
    if (c->run) run_stream_release(c->run);
    for (message *m; (m = take_message(c));) free(m);
    pthread_mutex_unlock(&h->lock);
    free(c);
    end_connection(fd, LINGER_MS);
}

/* civetweb reads no frame: what it buffered with the request was sent before the page was asked to. */
static int on_data(struct mg_connection *conn, int bits, char *data, size_t size, void *arg)
{
    (void)conn, (void)bits, (void)data, (void)size, (void)arg;
    return 0;
}

void clients_attach(struct mg_context *ctx, hub *h)
{
    mg_set_websocket_handler(ctx, "/ws", NULL, on_ready, on_data, NULL, h);
}

/* With the hub's lock. Does every client that is left take nothing? */
static bool all_are_stalled(const hub *h)
{
    for (const client *c = h->clients; c; c = c->next)
        if (!c->write_began || now_ms() - c->write_began < STALLED_MS) return false;
    return true;
}

void clients_close(hub *h)
{
    const int64_t began = now_ms();
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    for (client *c = h->clients; c; c = c->next) close_client(c, GOING_AWAY);
    while (h->clients && now_ms() - began < CLOSING_MS && (now_ms() - began < STALLED_MS || !all_are_stalled(h))) {
        struct timespec until = at_ms(now_ms() + POLL_MS);
        pthread_cond_timedwait(&h->changed, &h->lock, &until);
    }
    pthread_mutex_unlock(&h->lock);
}
