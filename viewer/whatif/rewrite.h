/* rewrite.h: a log's lines with the times of a replay, for the page: the same run, changed. */
#ifndef FERRY_REWRITE_H
#define FERRY_REWRITE_H

#include "replay.h"
#include "text.h"

/* Appends each line with the times of its moment. Of what was left out only the call stays, so that every other event
 * keeps its seq.
 * lines: those that t was read from, well-formed, one for each event. */
void rewrite_lines(const char *lines, size_t size, const trace *t, const replay_moment *moments, fy_text *out);

#endif
