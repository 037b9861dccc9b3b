/* page_stream.h: runs, and the WebSocket clients that follow them (page_stream.c, client.c). */
#ifndef FERRY_VIEWER_STREAM_H
#define FERRY_VIEWER_STREAM_H

#include <pthread.h>
#include <sys/types.h>

#include "server.h"

#define RUNS_KEPT 16
#define CLIENTS_MAX 48

struct mg_context;
struct mg_connection;

/* A numbered stream of lines. Lives as long as somebody holds it. */
typedef struct stream {
    int number, holders;
    feed *feed;
    char *lesson, *what, *label; /* NULL where there is none */
    bool ended;
} stream;

typedef struct client client;

/* All that pages can follow. `lock` guards everything but the feeds, which guard themselves. */
typedef struct hub {
    pthread_mutex_t lock;
    pthread_cond_t changed;          /* a run, a message, a wish of a client, an end; on the monotonic clock */
    const char *mode, *why, *folder; /* see server_options */
    stream *runs[RUNS_KEPT];         /* oldest first */
    int run_count, last_number;
    client *clients;
    int client_count;
    char *last_status; /* for pages that come late */
    bool stopping;
} hub;

bool hub_start(hub *h, const char *mode, const char *why, const char *folder);
void hub_end(hub *h); /* no client is left */

int hub_add_run(hub *h, feed *f, const char *lesson, const char *what, const char *label);
void hub_run_ended(hub *h, int number);
stream *hub_retain_run(hub *h, int number); /* NULL: there is no such run */
void hub_release_run(hub *h, stream *r);
void hub_broadcast(hub *h, char *text); /* to every client, and to those that come later; takes the text over */
bool hub_acknowledged(hub *h);
int hub_count_clients(hub *h);

/* The rest is between page_stream.c and client.c; the lock is held. */
stream *hub_newest(hub *h);
stream *hub_find(hub *h, int number);
char *hub_hello(hub *h);
char *run_stream_announcement(const stream *r);
void run_stream_release(stream *r);
void client_follow(client *c, stream *r, uint64_t from);
void client_send(client *c, const char *text);
bool client_has_all(const client *c, const stream *r);
client *client_next(const client *c);

/* Clients. (client.c) */
void clients_attach(struct mg_context *ctx, hub *h); /* answers /ws; the gate has let them in */
void clients_dismiss(hub *h);                        /* says 1001 to all and waits a little for them to go */

/* Shut connections of the server on `port`, all or the one whose peer has the port `peer` (else 0):
 * their reads and writes return at once. civetweb gives no handle to a socket and looks at its stop
 * flag every two seconds only. (socket.c) */
void shut_connections(int port, int peer, int how);
/* Whose process is at the other end of a connection of that server; false when the kernel does not say. */
bool peer_user(int port, int peer, uid_t *user);

#endif
