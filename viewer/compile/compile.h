/* compile.h: build one C file against Ferry's core, as a learner would by hand, well under 2 s. */
#ifndef FERRY_COMPILE_H
#define FERRY_COMPILE_H

#include "child.h"
#include "diagnose.h"
#include "paths.h"

typedef struct compile_options {
    const home *home;
    const char *name;    /* the file relative to home->beside, "my/01-where-am-i.c" */
    const char *program; /* path of the executable to make */
    int stop_fd;         /* see child.h; -1: none */
} compile_options;

typedef enum compile_end {
    COMPILE_DONE,    /* d holds the first warning, if there is one: *d->message */
    COMPILE_REFUSED, /* d says why, in the learner's words */
    COMPILE_STOPPED, /* stop_fd */
    COMPILE_BROKEN,  /* no compiler, no library, no disk: d->message and d->hint say what to do */
} compile_end;

compile_end compile(const compile_options *o, diagnosis *d);

#endif
