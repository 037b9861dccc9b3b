/* page_stream.h: runs, and the WebSocket clients that follow them (page_stream.c, client.c). */
#ifndef FERRY_PAGE_STREAM_H
#define FERRY_PAGE_STREAM_H

#include <pthread.h>
#include <sys/types.h>

#include "server.h"

#define RUNS_KEPT 16
#define CLIENTS_MAX 48 /* of WORKERS (front.h) */

struct mg_context;
struct mg_connection;

/* A run: a numbered stream of lines. Reference counted, under hub.lock. */
typedef struct stream {
    int number, refcount;
    feed *feed;
    char *lesson, *what, *label, *by; /* may be NULL; by: the tab that asked for it */
    bool ended;
} stream;

typedef struct client client;

/* Everything that pages can follow. `lock` guards all of it except the feeds, which are thread-safe. */
typedef struct hub {
    pthread_mutex_t lock;
    pthread_cond_t changed;          /* a new run, message, client request or end; on CLOCK_MONOTONIC */
    const char *mode, *why, *folder; /* see server_options */
    stream *runs[RUNS_KEPT];         /* oldest first */
    int run_count, last_number;
    client *clients;
    int client_count;
    char *last_status; /* sent to pages that connect later */
    bool stopping;
} hub;

bool hub_start(hub *h, const char *mode, const char *why, const char *folder);
void hub_end(hub *h); /* requires that no client is left */

int hub_add_run(hub *h, feed *f, const char *lesson, const char *what, const char *label, const char *by);
void hub_run_ended(hub *h, int number);
stream *hub_retain_run(hub *h, int number); /* NULL: no such run; release it with hub_release_run */
void hub_release_run(hub *h, stream *r);
bool hub_run_is_over(hub *h, const stream *r); /* no more of its program's events will come */
void hub_broadcast(hub *h, char *text);        /* to every client, and to each that connects later; takes ownership */
int hub_count_clients(hub *h);

/* The rest is shared by page_stream.c and client.c only; the caller holds the lock. */
stream *hub_newest(hub *h);
stream *hub_find(hub *h, int number);
char *hub_hello(hub *h);
char *run_stream_announcement(const stream *r);
void run_stream_release(stream *r);
void client_follow(client *c, stream *r, uint64_t from);
void client_send(client *c, const char *text);
client *client_next(const client *c);

/* Clients. (client.c) */
void clients_attach(struct mg_context *ctx, hub *h); /* handles /ws; http_answer has checked the gate */
void clients_close(hub *h);                          /* closes all with code 1001; waits for those that take it */

/* civetweb exposes no socket, and checks its stop flag only every two seconds. (socket.c)
 * The socket of the server on `port` whose peer has the port `peer`, or with peer 0 the one that listens; -1: none. */
int server_socket(int port, int peer);
/* Says no more, and discards what the peer sends until it ends as well, for so long at most: to close a socket with
 * something unread would take back what was sent. */
void end_connection(int fd, int ms);
/* Shuts down the connections of that server: their blocked reads and writes return at once. */
void shutdown_connections(int port);
/* The user whose process is the peer of such a connection; false if the kernel does not list it. */
bool peer_user(int port, int peer, uid_t *user);

#endif
