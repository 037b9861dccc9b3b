/* gate.h: access control. gate.c checks every request, including WebSocket upgrades and unknown paths,
 * before any other code handles it. Pure: no state, no clock, no I/O. */
#ifndef FERRY_GATE_H
#define FERRY_GATE_H

#include <stdbool.h>

typedef struct gate_request {
    const char *method, *path;         /* the raw path: not decoded, without the query */
    const char *host, *origin, *token; /* NULL: absent */
    bool websocket;                    /* it asks for an upgrade */
    bool doubled;                      /* Host, Origin or token occurs twice */
} gate_request;

typedef struct gate_verdict {
    int status;         /* 0: admitted; else the HTTP status to answer with */
    const char *reason; /* the error and the fix */
} gate_verdict;

/* token: the server's. allow_host: one more accepted Host name, or NULL. */
gate_verdict gate_check(const gate_request *r, const char *token, const char *allow_host);

/* Compares a secret in constant time for strings of equal length. */
bool secrets_equal(const char *given, const char *wanted);

#endif
