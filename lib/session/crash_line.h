/* crash_line.h: the line of the program at which a signal struck. */
#ifndef FERRY_CRASH_LINE_H
#define FERRY_CRASH_LINE_H

#include <stdbool.h>

#include "ferry.h"

/* Loads what the search needs; call it before a signal handler runs. */
void fy_crash_line_prepare(void);

/* Finds the innermost call of the program's own code that was running, and sets at->file and at->line. context: the
 * signal handler's. False where the program has no debug information (-g) or addr2line (binutils) is missing. Neither
 * allocates nor locks; takes at most 5 seconds. at->file points to memory of the library. */
bool fy_crash_line(const void *context, fy_site *at);

#endif
