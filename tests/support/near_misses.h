/* near_misses.h: correct programs that resemble a misconception, and variants of programs that show one. */
#ifndef NEAR_MISSES_H
#define NEAR_MISSES_H

#include "misconception_programs.h"

extern const struct near_miss {
    void (*run)(void);
    const char *sim;
} near_misses[]; /* terminated by a NULL run */

extern const struct variant {
    const char *name;
    void (*run)(void);
    const char *sim;
} variants[]; /* terminated by a NULL run */

#endif
