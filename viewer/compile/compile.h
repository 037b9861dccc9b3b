/* compile.h: compiles and links one C file against libferry.a, as a learner would by hand, well under 2 s. */
#ifndef FERRY_COMPILE_H
#define FERRY_COMPILE_H

#include "child.h"
#include "diagnose.h"
#include "paths.h"

typedef struct compile_options {
    const home *home;
    const char *name;          /* the file relative to home->beside, "my/01-where-am-i.c" */
    const char *program;       /* path of the executable to make */
    int stop_fd;               /* see child.h; -1: none */
    const char *const *hidden; /* see child.h; NULL: none */
    unsigned as_user;          /* see child.h; 0: the caller */
    const char *temporary;     /* see child.h; NULL: the caller's */
    child_limits limits;       /* of the compiler; seconds 0: 60 */
} compile_options;

typedef enum compile_end {
    COMPILE_DONE,    /* d holds the first warning, if there is one: *d->message */
    COMPILE_REFUSED, /* does not compile, exceeds a limit of the compiler, or reads a forbidden file: d explains it */
    COMPILE_STOPPED, /* cancelled through stop_fd */
    COMPILE_BROKEN,  /* no compiler, library or disk space: d->message and d->hint say what to do */
} compile_end;

compile_end compile(const compile_options *o, diagnosis *d);

/* Makes my/compile_flags.txt, by which clangd in an editor reads the learner's files as this compiler does: a flag a
 * line. One that is there is somebody's own and stays; without one everything but the editor's marks works. */
void compile_flags_write(const home *h);

#endif
