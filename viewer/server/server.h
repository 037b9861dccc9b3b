/* server.h: the embedded web server: pages from a built-in table, events over one WebSocket.
 *
 * It knows runs (numbered streams of JSON lines), not lessons; the `ferry` command adds its own
 * routes. It trusts nobody: gate.c looks at Host, Origin and token before anything else. */
#ifndef FERRY_SERVER_H
#define FERRY_SERVER_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "feed.h"

/* A request on a route of the command's own, already through the gate. */
typedef struct request {
    const char *method; /* "GET", "POST" */
    const char *rest;   /* path after the route's prefix, "" or "/01-where-am-i/run" */
    cJSON *body;        /* POST: the JSON object, at most 1 MiB; never NULL there */
    void *user;
} request;

/* What to answer: a status and a JSON body that the server frees. */
typedef struct reply {
    int status;
    cJSON *json;
} reply;

typedef struct route {
    const char *method, *prefix; /* "/api/lessons" */
    reply (*handle)(const request *r);
} route;

typedef struct server server;
typedef struct server_options {
    int port;               /* first port to try (8700); the next nine follow, then any */
    const char *mode;       /* "lessons" or "view" */
    const char *why;        /* why the GPU is simulated, "no driver"; NULL: it is not, or nobody knows */
    const char *folder;     /* whose files or runs these are, for pages to say; NULL: nobody knows */
    const char *allow_host; /* one more Host name, or NULL */
    const route *routes;    /* ends with a NULL method; may be NULL */
    void *user;             /* handed to the handlers */
} server_options;

server *server_start(const server_options *o, char *err, size_t room);
int server_port(const server *s);
const char *server_url(const server *s); /* http://127.0.0.1:8700/#token=... */
/* A way in that is good once, and for this user alone: for a command line, which every user can read. */
const char *server_entry(const server *s);

/* A new run; every open page follows it. Takes the feed over. lesson and what ("demo", "mine", "view")
 * may be NULL. Returns its number, from 1. The last 16 runs are kept. */
int server_add_run(server *s, feed *f, const char *lesson, const char *what, const char *label);
/* The writer of that run was waited for. */
void server_run_ended(server *s, int run);
/* A message to every page, as {"type":"status", ...}. Takes the object over. */
void server_status(server *s, cJSON *status);
/* Have the open pages acknowledged all of the newest run? False while no page is open. */
bool server_seen_all(server *s);
int server_clients(server *s);
void server_stop(server *s); /* closes with 1001; well under 0.1 s */

#endif
