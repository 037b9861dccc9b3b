/* action.h: what the program did, read from an event of a log, for replay.c. */
#ifndef FERRY_ACTION_H
#define FERRY_ACTION_H

#include "device.h"
#include "event.h"
#include "op.h"
#include "replay.h"

typedef enum action_kind {
    NOTHING,
    HOST, /* an op or a copy within host memory */
    COPY,
    PEER_COPY,
    OP,
    SEGMENT_ALLOC,
    SEGMENT_FREE,
    EVENT_RECORD,
    STREAM_WAIT,
    SYNC,
    QUERY
} action_kind;

typedef struct action {
    action_kind kind;
    int card, peer_card, stream; /* stream -1: all */
    int64_t bytes, flops, event;
    fy_arithmetic units; /* of an op */
    fy_word mem;
    fy_copy_work copy;
    bool peer;
    int64_t held;       /* ns that the host was blocked, by the log; -1: a call's overhead */
    int64_t start, end; /* ns; -1: not in the log */
} action;

typedef struct action_use {
    uint32_t storage;
    bool writes;
} action_use;

enum { ACTION_USES = FY_MOST_ITEMS * (FY_ITEM_INPUTS + 1) }; /* of a launch of a list */

int action_card(uint8_t device); /* 1: cuda:0 ...; 0: the host, or no device */
action action_read(const trace *t, int i);
/* The complete event of work `id`, and the wait at the start of a blocking copy; both follow the event i of the work
 * within a few events. -1: not there. */
int action_complete(const trace *t, int i, uint32_t id);
int action_copy_wait(const trace *t, int i);

/* The storages that event i reads and writes, as the program and its cards do; returns how many. */
int action_uses(const trace *t, int i, action_use out[ACTION_USES]);

#endif
