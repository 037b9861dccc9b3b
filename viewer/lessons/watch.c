/* watch.c: polling the contents of one file. */
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source_check.h"

enum { EMPTY_MS = 3000, HALF_WRITTEN_MS = 600 }; /* that long a file stays as it is to be taken for whole */

/* FNV-1a; never 0. */
static unsigned long long hash_of(const char *text, size_t size)
{
    unsigned long long h = 14695981039346656037ULL;
    for (size_t i = 0; i < size; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211ULL;
    return h ? h : 1;
}

/* An editor that truncates and writes leaves an empty or incomplete file for a moment. */
static bool looks_half_written(const char *text, size_t size)
{
    if (size == 0 || text[size - 1] != '\n' || memchr(text, '\0', size)) return true;
    mistake_kind p = source_check(text).what;
    return p == MISTAKE_OPEN_BRACE || p == MISTAKE_COMMENT || p == MISTAKE_OPEN_PAREN;
}

void watch_start(watched_file *w, const char *path)
{
    *w = (watched_file){0};
    snprintf(w->path, sizeof w->path, "%s", path);
    size_t size;
    char *text = file_read(path, &size);
    if (text) w->reported = w->seen = hash_of(text, size);
    free(text);
}

bool watch_poll(watched_file *w)
{
    size_t size;
    char *text = file_read(w->path, &size);
    if (!text) return false; /* between unlink and rename */
    unsigned long long now = hash_of(text, size);
    int reads_needed = (size == 0 ? EMPTY_MS : looks_half_written(text, size) ? HALF_WRITTEN_MS : WATCH_MS) / WATCH_MS;
    free(text);
    w->same = now == w->seen ? w->same + 1 : 0;
    w->seen = now;
    if (now == w->reported) return false;
    if (w->same < reads_needed) return false;
    w->reported = now;
    return true;
}
