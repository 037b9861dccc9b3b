/* serving.h: the server's insides, shared by server.c (start, stop) and http.c (requests). */
#ifndef FERRY_SERVING_H
#define FERRY_SERVING_H

#include <signal.h>
#include <stdatomic.h>

#include "page_stream.h"

struct server {
    struct sigaction pipe_action; /* the program's, for SIGPIPE */
    struct mg_context *web;
    hub hub;
    int port;
    char token[33], url[96];
    char code[33], entry[96]; /* a code that is good for the token once, and the URL with it */
    atomic_bool entered;
    char folder[512];
    char *allow_host;
    const route *routes;
    void *user;
};

/* +1 before civetweb starts, -1 when it has stopped. (threads.c) */
void threads_need_room(int more);

/* civetweb's callbacks. Every request begins here; only a WebSocket that the gate let in goes on. */
int http_answer(struct mg_connection *conn);
int http_error(struct mg_connection *conn, int status, const char *message);

/* The bytes of a body as one JSON object, or NULL. text has room for one byte more. */
cJSON *http_object(char *text, size_t size);

#endif
