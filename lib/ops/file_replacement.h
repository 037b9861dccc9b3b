/* file_replacement.h: replaces a file, or makes one: a reader sees the old contents or the new ones, never a part. */
#ifndef FERRY_FILE_REPLACEMENT_H
#define FERRY_FILE_REPLACEMENT_H

#include <limits.h>

#include "ferry.h"

typedef struct fy_replacement {
    fy_site *at;
    const char *path;    /* as passed to the call */
    const char *example; /* of the call, for its errors */
    char real[PATH_MAX]; /* the path with symbolic links resolved */
    char temp[PATH_MAX]; /* the temporary file; empty: none */
    int fd;
} fy_replacement;

typedef struct fy_file_part {
    const void *data;
    size_t bytes;
} fy_file_part;

/* at, path and example are set. False after an error. */
bool fy_replacement_begin(fy_replacement *t);
bool fy_replacement_end(fy_replacement *t, size_t n, const fy_file_part *parts); /* false after an error */
void fy_replacement_cancel(fy_replacement *t);

#endif
