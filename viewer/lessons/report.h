/* report.h: an outcome on the terminal. */
#ifndef FERRY_REPORT_H
#define FERRY_REPORT_H

#include <stdio.h>

#include "run.h"

extern const char *called_as; /* how the user wrote `ferry`, so that what we advise can be typed */

/* Short: the checks, the counts beside their limits, what failed and at which line, expected and got, and
 * what to do next. Coloured on a terminal, unless NO_COLOR is set. */
void report(FILE *to, const lesson *l, const outcome *out);

/* What the program printed, cut after `most` bytes. */
void report_output(FILE *to, const outcome *out, size_t most);

/* Text of unknown origin, each line behind a margin: control characters stay off the terminal. */
void put_clean(FILE *to, const char *text, size_t size, const char *margin);

#endif
