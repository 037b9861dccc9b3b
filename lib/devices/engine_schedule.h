/* engine_schedule.h: when one engine of a card (copy or compute) is busy. It runs one piece of work at a time, in the
 * order in which work becomes ready, not in issue order: a gap between two bookings is used if it is long enough.
 * Bookings never move. */
#ifndef FERRY_ENGINE_SCHEDULE_H
#define FERRY_ENGINE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fy_busy {
    int64_t start, end;
} fy_busy;

typedef struct fy_engine {
    fy_busy *busy;         /* sorted; adjacent intervals are merged */
    int first, last, room; /* valid: first to last - 1 */
    int64_t past;          /* earlier intervals were dropped, so nothing can start before */
} fy_engine;

bool fy_engine_make(fy_engine *e); /* false: no memory */
void fy_engine_free(fy_engine *e);
/* The earliest time from `ready` on at which the engine is free for `length` ns; length 0: `ready`. */
int64_t fy_engine_find(const fy_engine *e, int64_t ready, int64_t length);
void fy_engine_book(fy_engine *e, int64_t start, int64_t length); /* books it; start: from fy_engine_find */
void fy_engine_prune(fy_engine *e, int64_t now); /* drops intervals before now; none will start there */

#endif
