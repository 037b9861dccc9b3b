/* completion.h: work that ended, told of as `complete`.
 *
 * A back end that models time, or waited, knows when its work ended; then it is told of at once. The real card does
 * not wait: it puts a point before and after each piece of work, and these are asked later: in each further call
 * that ends here, wherever the host has waited, and at the end of the program. So `complete` may come long after
 * its op; of works that are found ended together, the one that ended first comes first. */
#ifndef FERRY_FINISHED_H
#define FERRY_FINISHED_H

#include "device.h"
#include "event.h"
#include "run_work.h"

typedef struct fy_completion {
    fy_dev *dev;
    int stream;
    uint32_t id; /* of the work */
    fy_word engine;
    bool is_copy; /* its cost has parts: bus and staging */
    fy_time time; /* as the back end left it */
} fy_completion;

/* dispatch.c and transfer.c, for each piece of work, after its copy or op event. Costs one test where time is modelled
 * or nothing is recorded. */
void fy_work_ended(fy_site *at, const fy_completion *w);

/* Tell of all that has ended on that card by now: after the host waited, before the `sync` that says so. Does not
 * wait. One load where nothing is waiting to be told. */
void fy_work_poll(fy_dev *d);

#endif
