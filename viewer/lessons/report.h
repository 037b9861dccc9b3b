/* report.h: an outcome on the terminal. */
#ifndef FERRY_REPORT_H
#define FERRY_REPORT_H

#include <stdio.h>

#include "run.h"

extern const char *command_name; /* argv[0] as the user typed it, so that suggested commands can be copied */

/* Prints the checks, the counts with their limits, what failed and at which line, expected and actual
 * values, and the next step. Coloured on a terminal, unless NO_COLOR is set. */
void report(FILE *to, const lesson *l, const outcome *out);

/* Prints the program's output, cut after `most` bytes. */
void print_output(FILE *to, const outcome *out, size_t most);

/* Prints untrusted text, each line after a margin; control characters are escaped as \xNN. */
void print_escaped(FILE *to, const char *text, size_t size, const char *margin);

#endif
