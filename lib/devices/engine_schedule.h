/* engine_schedule.h: when one engine of a card is busy. An engine does one thing at a time. It keeps no order of its
 * own: what becomes ready first goes first, and a gap between two bookings that is long enough is used. What was booked
 * is never moved. */
#ifndef FERRY_ENGINE_H
#define FERRY_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fy_busy {
    int64_t start, end;
} fy_busy;

typedef struct fy_engine {
    fy_busy *busy;         /* in order, apart: neighbours that touch are one */
    int first, last, room; /* those from first to last - 1 count */
    int64_t past;          /* what ended before is forgotten, so nothing can begin before */
} fy_engine;

bool fy_engine_make(fy_engine *e); /* false: no memory */
void fy_engine_free(fy_engine *e);
/* The earliest time from `ready` on at which it has `length` ns to give; what takes no time needs no room. */
int64_t fy_engine_gap(const fy_engine *e, int64_t ready, int64_t length);
void fy_engine_take(fy_engine *e, int64_t start, int64_t length); /* start: what fy_engine_gap said */
void fy_engine_forget(fy_engine *e, int64_t now);                 /* nothing will ever begin before now */

#endif
