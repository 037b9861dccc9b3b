/* replay.h: what a log's program did, worked out again by the timetable that timed it: under the log's own figures,
 * which must give the log's own times, and under others. */
#ifndef FERRY_REPLAY_H
#define FERRY_REPLAY_H

#include "card_params.h"
#include "device.h"
#include "trace.h"

enum { REPLAY_H2D, REPLAY_D2H, REPLAY_D2D, REPLAY_P2P, REPLAY_WAYS, REPLAY_CARDS = 9 };

/* What is to be otherwise. */
typedef struct replay_plan {
    const fy_card *card; /* every card; NULL: as in the log */
    int64_t bus;         /* bytes a second; 0: as the card has it */
    bool pinned;         /* the program's host memory is page-locked */
    bool async;          /* copies to a card are asked not to wait */
    bool peer_on, peer_off;
} replay_plan;

/* Where the time went, in ns. Parts overlap: they do not add up to the total. */
typedef struct ledger {
    int64_t total;             /* until the host and all cards are done */
    int64_t held;              /* the host was in calls to a card */
    int64_t own;               /* the host computed, or copied within RAM */
    int64_t untold;            /* the host did what the log does not tell: kept as it was */
    int64_t wire[REPLAY_WAYS]; /* of d2d: on the card's memory */
    int64_t staging, compute, overhead;
    int64_t bytes[REPLAY_WAYS];
    int copies[REPLAY_WAYS], ops, waits, queries;
} ledger;

/* False: err says what the log lacks or where it contradicts itself. */
bool replay(const trace *t, const replay_plan *plan, ledger *logged, ledger *otherwise, char *err, size_t room);

#endif
