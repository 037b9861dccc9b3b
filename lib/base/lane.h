/* lane.h: lanes: threads with clocks of their own that take turns in modelled time.
 *
 * Modelled time passes in Ferry's calls only, so threads that ran freely would interleave differently on every run. The
 * lanes of a group run one at a time: always the one whose clock shows the least, at equal times the oldest. So their
 * events appear in the order of modelled time, and are the same on every run. A thread that takes no turns
 * (fy_lane_self is NULL) has the session's clock. Where time is measured, lanes run freely.
 *
 * A lane yields in fy_emit, where no lock is held (lock.h), after the clock was advanced and before the event appears. */
#ifndef FERRY_LANE_H
#define FERRY_LANE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fy_lane fy_lane;
extern _Thread_local fy_lane *fy_lane_self; /* NULL: this thread is no lane */

/* The calling thread becomes a lane, with a group of its own and the session's clock, unless it is one already. Each
 * enter needs a leave, after which no lane that it started is left. modelled: is time modelled? False: out of memory. */
bool fy_lane_enter(bool modelled);
void fy_lane_leave(void);
/* Starts a thread as a lane of the caller's group, with the caller's time. It blocks all signals except those that its
 * own instructions raise. NULL: no thread. */
fy_lane *fy_lane_start(void (*body)(void *context), void *context);
void fy_lane_join(fy_lane *lane); /* waits until its body has returned, and frees it */

void fy_lane_yield(void); /* runs those whose time has come */
#define FY_LANE_TURN() \
    do { \
        if (__builtin_expect(fy_lane_self != NULL, 0)) fy_lane_yield(); \
    } while (0)
/* keep: does not yield until further notice, as in code of the program that may hold its own locks. Returns what it was
 * before. */
bool fy_lane_keep(bool keep);
/* Locks a mutex in which another lane may have yielded: then this one goes on after it, in time, until it is free. */
void fy_lane_acquire(pthread_mutex_t *m);
void fy_lane_forget(void); /* the process exits, or handles a crash: this thread goes on alone */

/* What lanes of a group share is used between lock and unlock. wait: unlocks, and returns, locked, after another lane
 * called wake; check the reason again. wake has no effect on a lane that does not wait; else it goes on at the caller's
 * time at the earliest. */
void fy_lanes_lock(void);
void fy_lanes_unlock(void);
void fy_lane_wait(void);
void fy_lane_wake(fy_lane *lane);

#endif
