/* source.h: the program's source text, for names, messages and the page. */
#ifndef FERRY_SOURCE_H
#define FERRY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

enum { FY_SOURCE_MAX = 1 << 20 }; /* longer files are not read */

typedef struct fy_source {
    const char *path; /* as compiled */
    const char *text; /* NULL: could not be read */
    size_t size;
    unsigned generation;                /* of the last log that got its source event */
    struct fy_assignments *assignments; /* its own, once call_site_name.c has read them */
    struct fy_source *next;
} fy_source;

/* Registers a source file embedded in the executable; path: its __FILE__. The text is not copied. */
void fy_source_embed(const char *path, const char *text, size_t size);
bool fy_source_is_embedded(void); /* is any file embedded? Then the program is a lesson */

/* The file's text: embedded, else read from disk once. NULL if it cannot be read. Thread-safe. */
fy_source *fy_source_of(const char *path);
/* The file whose path is the end of an absolute one; NULL if none is. Only what is known already: for signal handlers. */
const fy_source *fy_source_ending(const char *path);
/* Emits its source event, once per log. */
void fy_source_emit(const char *path);

#endif
