/* clock.h: the host's time on the session's clock. Under the model it moves only by fy_clock_advance. */
#ifndef FERRY_CLOCK_H
#define FERRY_CLOCK_H

#include <stdint.h>

int64_t fy_clock_now(void); /* ns from the start of the session */
void fy_clock_advance(int64_t ns);
void fy_clock_at_least(int64_t t); /* the host waited until t */
void fy_clock_measure(void);       /* from now on time is read from the machine (a real card is used) */

#endif
