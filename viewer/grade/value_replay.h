/* value_replay.h: could a run's claimed values have come about? The inputs are regenerated from the seed, and what each
 * copy and op wrote is recomputed from what it read. Each event that `values` describes is compared with that. */
#ifndef FERRY_VALUE_REPLAY_H
#define FERRY_VALUE_REPLAY_H

#include "grade.h"

typedef struct value_replay {
    const fy_event *at;                /* the event whose values cannot be; NULL: none */
    const char *said, *expected, *why; /* of it; they live as long as the grading */
    bool crowded;                      /* `why` is a sentence: nothing contradicts, but there is no room to compute */
    int checked, skipped;              /* results that were recomputed, and those that could not be */
} value_replay;

value_replay replay_values(grading *g);

#endif
