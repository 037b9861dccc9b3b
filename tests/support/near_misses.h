/* innocents.h: programs that look like a misconception but are correct, and other ways to write the misconceptions. */
#ifndef NEAR_MISSES_H
#define NEAR_MISSES_H

#include "misconception_programs.h"

extern const struct near_miss {
    void (*run)(void);
    const char *sim;
} near_misses[]; /* ends with a NULL run */

extern const struct variant {
    const char *name;
    void (*run)(void);
    const char *sim;
} variants[]; /* likewise */

#endif
