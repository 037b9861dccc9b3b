/* server.h: the embedded web server: pages from a built-in table, events over a WebSocket.
 *
 * It knows runs (numbered streams of JSON lines), not lessons; the `ferry` command adds its own
 * routes. gate.c checks Host, Origin and token of every request first. All functions are thread-safe
 * between server_start and server_stop. */
#ifndef FERRY_SERVER_H
#define FERRY_SERVER_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "feed.h"

/* A request on a route that the command added, admitted by the gate. */
typedef struct request {
    const char *method; /* "GET", "POST" */
    const char *rest;   /* path after the route's prefix, "" or "/01-where-am-i/run" */
    cJSON *body;        /* POST: the JSON object, at most 1 MiB; never NULL there */
    void *user;
} request;

/* The answer: an HTTP status and a JSON body that the server frees. */
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
    int port;               /* first port to try (8700); then the next nine, then any free one */
    const char *mode;       /* "lessons" or "view" */
    const char *why;        /* why the GPU is simulated, "no driver"; NULL: not simulated, or unknown */
    const char *folder;     /* folder of the files or of the run, for display; NULL: unknown */
    const char *allow_host; /* one more Host name, or NULL */
    const route *routes;    /* ends with a NULL method; may be NULL */
    void *user;             /* passed to the handlers */
} server_options;

server *server_start(const server_options *o, char *err, size_t room);
int server_port(const server *s);
const char *server_url(const server *s); /* http://127.0.0.1:8700/#token=... */
/* A URL that admits once, and only this user: for a browser's command line, which every user can read. */
const char *server_one_time_url(const server *s);

/* Adds a run; every open page switches to it, or with `by`, the name of a tab, that tab alone. Takes ownership of the
 * feed. lesson and what ("demo", "mine", "view") may be NULL. Returns the run's number, from 1. The last 16 runs are
 * kept. */
int server_add_run(server *s, feed *f, const char *lesson, const char *what, const char *label);
int server_add_run_by(server *s, feed *f, const char *lesson, const char *what, const char *label, const char *by);
/* The process that writes that run's log has ended. */
void server_run_ended(server *s, int run);
/* Sends {"type":"status", ...} to every page. Takes ownership of the object. */
void server_status(server *s, cJSON *status);
int server_clients(server *s);
void server_stop(server *s); /* closes WebSockets with code 1001; takes well under 0.1 s */

#endif
