/* progress.h: which lessons are done, in my/progress.json, keyed by lesson id. For display only, since anybody may
 * edit that file; `ferry grade --all` grades everything again. */
#ifndef FERRY_PROGRESS_H
#define FERRY_PROGRESS_H

#include "lesson.h"

enum { BOARD_MOST = 5 };

/* The best of a learner's own runs that passed, of what lesson.json calls the board; the least is the best. */
typedef struct board {
    int count, latest; /* latest: the index of this run; -1: it is none of the best */
    struct board_entry {
        double used;
        int attempt; /* the graded run it was, from 1 */
    } best[BOARD_MOST];
} board;

typedef struct progress {
    bool done;
    int attempts; /* graded runs so far */
    int hints;    /* the last hint shown on the terminal; 0: none */
    board board;
} progress;

progress progress_of(const home *h, const lesson *l);
/* Records a graded run; a lesson once done stays done. used: of what its board counts, or NULL; of a run that passed it
 * takes its place on the board. Returns what is known then; its board's `latest` is this run. A file that is no
 * object of JSON is renamed to progress.json.bad (.bad2 ...) with a warning on stderr, and counting restarts. Several
 * processes may record at once: none loses what another has recorded. */
progress progress_record(const home *h, const lesson *l, bool pass, const double *used);
/* Records that hint n was shown. */
bool progress_record_hint(const home *h, const lesson *l, int n);

#endif
