/* naive_timetable.h: a reference implementation of the timing model for the card of round_card.h: one flag per ns and
 * engine, searched linearly. */
#ifndef NAIVE_TIMETABLE_H
#define NAIVE_TIMETABLE_H

#include "device.h"
#include "event.h"
#include "run_work.h"
#include "timing_model.h"

enum { MAX_BOOKED = 4000, MAX_NS = 1 << 20 };

typedef struct naive {
    int64_t tail[FY_STREAMS];
    int64_t ends[FY_STREAMS][MAX_BOOKED];
    int n[FY_STREAMS];
    uint8_t busy[3][MAX_NS]; /* h2d, d2h, compute: is this ns in use? */
} naive;

extern uint32_t naive_rng_state;
int naive_random(int sides);
int64_t max_i64(int64_t a, int64_t b);
fy_time naive_copy(naive *m, int64_t now, const fy_copy_work *w);
fy_time naive_run(naive *m, int64_t now, int s, int64_t flops, int64_t bytes);

#endif
