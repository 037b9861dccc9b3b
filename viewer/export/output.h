/* output.h: a file that is complete or not there: written beside its place, and then renamed. */
#ifndef FERRY_OUTPUT_H
#define FERRY_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "paths.h"

typedef struct output {
    FILE *file;
    char path[PATH_ROOM], beside[PATH_ROOM + 16]; /* beside: empty for what is no regular file, such as a pipe */
} output;

/* Opens the output `path`, "-" for stdout; log: the file that must not be written over. False with a message. */
bool output_open(output *o, const char *path, const char *log, char *err, size_t room);
/* Closes it, and gives it its name, if `ok`; else removes it. False with a message if not all could be written. */
bool output_close(output *o, bool ok, char *err, size_t room);

#endif
