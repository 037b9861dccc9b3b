/* gate.h: who may ask for what. gate.c decides on every request, WebSocket upgrades and unknown paths
 * included, before anything else looks at it. Pure: no state, no clock, no I/O. */
#ifndef FERRY_GATE_H
#define FERRY_GATE_H

#include <stdbool.h>

typedef struct gate_request {
    const char *method, *path;         /* the path as it was sent: not decoded, without the query */
    const char *host, *origin, *token; /* NULL where the request has none */
    bool websocket;                    /* it asks for an upgrade */
    bool doubled;                      /* Host, Origin or token is given twice */
} gate_request;

typedef struct gate_verdict {
    int status;         /* 0: let it in; else the HTTP status to answer with */
    const char *reason; /* what is wrong and the way out */
} gate_verdict;

/* token: the server's own. allow_host: one more Host name, or NULL. */
gate_verdict gate_check(const gate_request *r, const char *token, const char *allow_host);

/* Is this the secret? Takes the same time wherever the first difference lies. */
bool gate_same(const char *given, const char *wanted);

#endif
