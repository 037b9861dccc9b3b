/* run_cost.h: what a run cost, for the page: its findings, and the run as it would have been without one of them. */
#ifndef FERRY_RUN_COST_H
#define FERRY_RUN_COST_H

#include <stddef.h>
#include <stdint.h>

#include "feed.h"
#include "text.h"

/* Both append to out and return 200; else a status, with the reason and the fix in err. One at a time, since each may
 * read a long log; the run must have ended. */

/* findings_json, of at most so many findings as a page can list. */
int fy_run_findings(feed *run, fy_text *out);
/* What if the finding of this rule, first shown by event `seq`, were changed as its "try" says? A line {"try",
 * "notes"}, then those of the changed run (rewrite.h). Modelled. */
int fy_run_whatif(feed *run, const char *rule, int64_t seq, fy_text *out, char *err, size_t room);

#endif
