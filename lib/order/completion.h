/* completion.h: `complete` events for finished work.
 *
 * Where time is modelled, or the host waited, the end time is known and `complete` is emitted at once. The real card
 * runs asynchronously: CUDA events recorded before and after each piece of work are polled in some later calls of
 * fy_completion_add, wherever the host has synchronized, and at exit. So `complete` may come long after its op; those
 * found in one poll are emitted in order of their end times. */
#ifndef FERRY_COMPLETION_H
#define FERRY_COMPLETION_H

#include "device.h"
#include "event.h"
#include "run_work.h"

typedef struct fy_completion {
    fy_dev *dev;
    int stream;
    uint32_t id; /* of the work */
    fy_word engine;
    bool is_copy; /* then the wire and staging times are logged */
    fy_time time; /* as the back end filled it */
} fy_completion;

/* Called by perform.c and transfer.c for each piece of work, after its copy or op event. */
void fy_completion_add(fy_site *at, const fy_completion *w);

/* Emits `complete` for all work of that card that has ended: call it after the host waited and before the `sync` event.
 * Never waits; one atomic load where nothing is pending. */
void fy_completion_poll(fy_dev *d);

#endif
