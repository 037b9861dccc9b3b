/* diagnose.h: from a compiler's complaints to one message that a beginner can act on.
 *
 * It names the learner's line, says in plain words what is wrong, and gives the C form. No line of
 * Ferry's headers and no macro expansion is ever shown. Works on what gcc and clang print in English. */
#ifndef FERRY_DIAGNOSE_H
#define FERRY_DIAGNOSE_H

#include <stdbool.h>

typedef struct diagnosis {
    int line;          /* of the learner's file; 0: of no line */
    char message[400]; /* "a semicolon is missing at the end of this line" */
    char source[240];  /* the line */
    char hint[400];
    char raw[1600]; /* the compiler's own first lines about the learner's file */
} diagnosis;

/* shown: the file as the compiler names it; source: its text; output: all that the compiler printed;
 * header: the text of ferry.h, from which names are suggested, or "". */
void diagnose(diagnosis *d, const char *shown, const char *source, const char *output, const char *header);

/* For a file that compiles: its first warning in d->message, with line and source; false if there is none. */
bool diagnose_warning(diagnosis *d, const char *shown, const char *source, const char *output);

/* For a file that compiles although it is certainly wrong: text in single quotes, 1/2 for a half. */
bool diagnose_quiet(diagnosis *d, const char *source);

#endif
