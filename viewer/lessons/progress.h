/* progress.h: which lessons are done, in my/progress.json, keyed by lesson id. For display only, since anybody may
 * edit that file; `ferry grade --all` grades everything again. */
#ifndef FERRY_PROGRESS_H
#define FERRY_PROGRESS_H

#include "lesson.h"

typedef struct progress {
    bool done;
    int attempts; /* graded runs so far */
    int hints;    /* the last hint shown on the terminal; 0: none */
} progress;

progress progress_of(const home *h, const lesson *l);
/* Records a graded run; a lesson once done stays done. False if the file cannot be written. A file that cannot
 * be parsed is renamed to progress.json.bad with a warning on stderr, and counting restarts. */
bool progress_record(const home *h, const lesson *l, bool pass);
/* Records that hint n was shown. */
bool progress_record_hint(const home *h, const lesson *l, int n);

#endif
