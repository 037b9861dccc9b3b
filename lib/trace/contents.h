/* contents.h: the contents of a tensor as an event: its first elements, and a summary of all of them. */
#ifndef FERRY_CONTENTS_H
#define FERRY_CONTENTS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "run_work.h"

enum { FY_SAMPLE = 16 }; /* elements that an event holds at least, if there are so many */

/* of->data: in memory that the host can read. work: the copy or op that wrote it; 0: the host read or wrote it. shown:
 * elements that the event holds at most; most: elements that the summary is made of, about, evenly spaced. Nothing
 * without a log. */
void fy_contents_emit(const fy_contents *of, uint32_t work, int64_t shown, int64_t most);

/* Is the result of every copy and op logged as well? Not on a real card, where it would have to be copied for that. Set
 * when a log is opened, by FERRY_VALUES=1 or FERRY_VIEW=1. */
extern _Atomic bool fy_results_are_logged;
void fy_results_configure(void);
/* Of the first results of a run, as too many would fill its log. */
void fy_result_emit(const fy_contents *of, uint32_t work);

#endif
