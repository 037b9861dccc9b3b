/* replay.h: replays a log's program on the timing model that produced its times: with the log's own card parameters,
 * which must reproduce its times exactly, and with changed ones. */
#ifndef FERRY_REPLAY_H
#define FERRY_REPLAY_H

#include "card_params.h"
#include "device.h"
#include "trace.h"

enum { REPLAY_H2D, REPLAY_D2H, REPLAY_D2D, REPLAY_P2P, REPLAY_WAYS, REPLAY_CARDS = 9 };

/* A change of one event. */
typedef enum replay_how {
    REPLAY_LEAVE_OUT, /* it does not happen */
    REPLAY_PIN,       /* a copy: its host memory is page-locked */
    REPLAY_RESIZE,    /* a copy of so many bytes */
    REPLAY_ON_CARD,   /* an op of the host runs on card `value` instead; 1: cuda:0 */
    REPLAY_PEER,      /* a copy between cards goes directly */
    REPLAY_ON_HOST,   /* an op of a card runs on the host instead */
    REPLAY_OVERLAP,   /* a copy over the bus: page-locked, non_blocking, in a stream of its own; what needs it waits */
} replay_how;

typedef struct replay_edit {
    int64_t seq; /* of the event */
    replay_how how;
    int64_t value;
} replay_edit;

/* An event with the changes; times in ns. Those of a copy or an op are also those of its complete. */
typedef struct replay_moment {
    int64_t t;                                   /* when it was emitted */
    int64_t held;                                /* -1: as logged */
    int64_t start, end, wire, staging, overhead; /* -1: as logged */
    int64_t when;                                /* of an event_record; -1: as logged */
    int64_t bytes;                               /* of a copy; -1: as logged */
    fy_word route;                               /* none: as logged */
    bool was_async, pinned, left_out;
    bool on_host;   /* an op of a card that runs on the host */
    uint8_t card;   /* an op of the host that runs there; 0: none */
    uint8_t stream; /* of its own, of a copy; 0: as logged */
} replay_moment;

/* The changes to replay with. */
typedef struct replay_plan {
    const fy_card *card;      /* for every card; NULL: as in the log */
    int64_t bus;              /* bytes per second; 0: the card's own */
    bool pinned;              /* the program's host memory is page-locked */
    bool async;               /* copies to a card are non_blocking */
    bool peer_on, peer_off;   /* copies between cards: direct, or through the host; neither: as in the log */
    const replay_edit *edits; /* by seq, each event at most once */
    int edit_count;
    replay_moment *moments; /* out, by event; NULL: not wanted */
} replay_plan;

/* Where the time went, in ns. Parts overlap: they do not add up to the total. */
typedef struct ledger {
    int64_t total;             /* until the host and all cards have finished */
    int64_t held;              /* the host was blocked in calls to a card */
    int64_t own;               /* the host computed, or copied within RAM */
    int64_t untold;            /* host time without events: the same in both replays */
    int64_t wire[REPLAY_WAYS]; /* on the bus; d2d: on the card's memory */
    int64_t staging, compute, overhead;
    int64_t bytes[REPLAY_WAYS];
    int copies[REPLAY_WAYS], ops, waits, queries;
} ledger;

/* false: err says what the log lacks, or which event has another time than the model gives it. */
bool replay(const trace *t, const replay_plan *plan, ledger *logged, ledger *otherwise, char *err, size_t room);

#endif
