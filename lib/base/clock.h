/* clock.h: the session's clock: modelled, then only fy_clock_advance and fy_clock_at_least move it, or measured. */
#ifndef FERRY_CLOCK_H
#define FERRY_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

int64_t fy_clock_now(void); /* ns since the start of the session */
void fy_clock_advance(int64_t ns);
void fy_clock_at_least(int64_t t);         /* the host waited until t (ns) */
_Atomic int64_t *fy_clock_modelled(void);  /* this thread's counter of modelled time */
void fy_clock_use(_Atomic int64_t *clock); /* this thread's from now on; NULL: the session's */
void fy_clock_measure(void);               /* switches to measured time: a real card is used */

#endif
