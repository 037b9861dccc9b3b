/* watch.h: noticing that a file was saved, however it was: renamed over, truncated and written, on a
 * mount without inotify. The contents are compared, every WATCH_MS; a save counts once they were the same
 * twice, and a file that looks half-written is given longer. */
#ifndef FERRY_WATCH_H
#define FERRY_WATCH_H

#include "paths.h"

enum { WATCH_MS = 150 };

typedef struct watched {
    char path[HOME_PATH];
    unsigned long long told, seen; /* hash of the contents last told, and last looked at; 0: no file */
    int same;                      /* looks that found the contents unchanged */
} watched;

/* What is there now counts as told. */
void watch_begin(watched *w, const char *path);
/* Look once; true when there is a whole new save to act on. */
bool watch_look(watched *w);

#endif
