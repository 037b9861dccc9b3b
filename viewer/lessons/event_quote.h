/* event_quote.h: one event of a log as a line of text, for a verdict that names it. */
#ifndef FERRY_EVENT_QUOTE_H
#define FERRY_EVENT_QUOTE_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"

/* The line that narration has for the event, its columns closed up. Of an event that narration tells with another one,
 * or not at all: a line of the same form, or at last its own JSON, cut. log: complete. "": there is no such event. */
void event_quote(fy_log *log, uint64_t seq, char *out, size_t room);

#endif
