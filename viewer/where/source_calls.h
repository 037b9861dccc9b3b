/* source_calls.h: the library's calls in a line of a C program, as www/model/calls.js and one_call.js read them. */
#ifndef FERRY_SOURCE_CALLS_H
#define FERRY_SOURCE_CALLS_H

#include <stdbool.h>
#include <stddef.h>

enum { CALL_NAME = 48, CALLS_KEPT = 64 };

typedef struct source_call {
    char name[CALL_NAME];
    bool indices; /* has an argument .indices = ... */
} source_call;

/* What a line says of the kernels that it runs. */
typedef struct source_line {
    source_call calls[CALLS_KEPT]; /* of the library, in order; more are not kept */
    int count;
    bool frees;               /* it calls fy_free, or no function of the library */
    const char *first, *last; /* the first and the last kernel of its one call with two results; NULL: no such call */
} source_line;

/* A program's text without comments and what is in quotes, every other letter at its place. The caller frees it. */
char *source_clean(const char *text, size_t size);

/* clean: as above; NULL: the text is not known. line: from 1. */
void source_line_read(const char *clean, int line, source_line *out);

#endif
