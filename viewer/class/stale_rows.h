/* stale_rows.h: what a table of results was made from, and whether that is what there is now.
 *
 * The row "total" of a submission names no event. In its place it has a number of at most nine digits, which follows
 * from the file, the sheet and the secret. So it stays with the row, however tables are joined and sorted. */
#ifndef FERRY_STALE_ROWS_H
#define FERRY_STALE_ROWS_H

#include <stdio.h>

#include "grade_class.h"

int64_t submission_fingerprint(const class_secret *secret, const submission *s);

/* Prints which submissions have rows of another file, another secret or other points than those there are now, and how
 * to grade them anew. Returns the number of lines. */
int stale_rows_print(FILE *to, const class_options *o, const class_rows *rows, const submissions *all);

#endif
