/* watch.h: detects that a file was saved, by whatever method (rename, truncate and write) and also on
 * mounts without inotify. It compares the contents every WATCH_MS; a save counts once two reads agree, or
 * more where the file looks half-written. */
#ifndef FERRY_WATCH_H
#define FERRY_WATCH_H

#include "paths.h"

enum { WATCH_MS = 50 };

typedef struct watched_file {
    char path[PATH_ROOM];
    unsigned long long reported, seen; /* hash of the contents last reported, and last read; 0: no file */
    int same;                          /* successive reads that found the contents unchanged */
} watched_file;

/* Starts watching; the present contents count as reported. */
void watch_start(watched_file *w, const char *path);
/* Reads the file once; true when a new save is complete. */
bool watch_poll(watched_file *w);

#endif
