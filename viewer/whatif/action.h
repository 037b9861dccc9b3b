/* action.h: what an event of a log says a program did, for replay.c. */
#ifndef FERRY_ACTION_H
#define FERRY_ACTION_H

#include "device.h"
#include "event.h"
#include "replay.h"

typedef enum deed { NOTHING, HOST, COPY, ACROSS, RUN, TAKE, GIVE, RECORD, STREAM_WAITS, WAIT, ASK } deed;

/* One event, read. */
typedef struct action {
    deed deed;
    int card, other, stream; /* stream -1: all */
    int64_t bytes, flops, event;
    fy_word mem;
    fy_copy_work copy;
    bool peer;
    int64_t held;       /* by the log; -1: a call's overhead */
    int64_t start, end; /* -1: the log does not say */
} action;

int action_card(uint8_t device); /* of an event: 1 cuda:0 ...; 0: the host, or no device */
action action_read(const trace *t, int i);

#endif
