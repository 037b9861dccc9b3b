/* progress.h: which lessons are done, in my/progress.json, keyed by lesson id: marks for lists, which anybody may
 * write. What counts is judged anew (`ferry grade --all`). */
#ifndef FERRY_PROGRESS_H
#define FERRY_PROGRESS_H

#include "lesson.h"

typedef struct progress {
    bool done;
    int attempts; /* graded runs so far */
    int hints;    /* the last hint that was asked for on the terminal; 0: none */
} progress;

progress progress_of(const home *h, const lesson *l);
/* One more graded run; done stays done. False when the file cannot be written. A file that cannot be
 * read is kept aside as progress.json.bad and said on stderr; then counting starts afresh. */
bool progress_note(const home *h, const lesson *l, bool pass);
/* Hint n was given. */
bool progress_hint(const home *h, const lesson *l, int n);

#endif
