/* call_paths.h: the calls and regions that recorded events belong to, as text. */
#ifndef CALL_PATHS_H
#define CALL_PATHS_H

#include "recorded.h"

void begin(void);          /* what a test does begins anew; calls told before stay known */
const cJSON *told(int id); /* the call of that id, as its first event told it; NULL: none did */
/* "FY_TIMES of 2 > 0 > fy_ones": the call of an event, in what it is. Valid until the next call, as are the others. */
const char *path_of(const cJSON *e);
const char *path(const char *kind, int n); /* of the n-th event of a kind */
const char *marks(void);                   /* of all marks, which stand for what a loop does */
#define assert_path(kind, n, text) assert_string_equal(path(kind, n), text)

#endif
