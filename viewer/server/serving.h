/* serving.h: internal to the server, shared by server.c (start, stop) and http.c (requests). */
#ifndef FERRY_SERVING_H
#define FERRY_SERVING_H

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include "front.h"
#include "page_stream.h"

struct server {
    struct sigaction pipe_action; /* the program's SIGPIPE action */
    struct mg_context *web;
    front *front;    /* NULL: it could not be made */
    int front_error; /* why */
    sem_t standing;  /* posted when these are set */
    hub hub;
    int port;
    char token[33], url[96];
    char code[33], entry[96]; /* a one-time code that yields the token, and the URL with it */
    atomic_bool entered;      /* the code was used */
    char folder[512];
    char *allow_host;
    const route *routes;
    void *user;
};

/* +1 before civetweb starts, -1 after it has stopped. (threads.c) */
void threads_raise_stack_size(int more);

/* civetweb's callbacks. http_answer handles every request; it returns 0 only for an admitted WebSocket. */
int http_answer(struct mg_connection *conn);
int http_error(struct mg_connection *conn, int status, const char *message);

/* Parses a body as one JSON object; NULL if it is not one. text must have room for one more byte. */
cJSON *http_object(char *text, size_t size);

#endif
