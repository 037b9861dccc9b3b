/* diagnose.h: turns a compiler's diagnostics into one message that a beginner can act on.
 *
 * It names the learner's line, says what is wrong and gives the C form. It never shows a line of
 * Ferry's headers or a macro expansion. It parses the English output of gcc and clang. */
#ifndef FERRY_DIAGNOSE_H
#define FERRY_DIAGNOSE_H

#include <stdbool.h>

typedef struct diagnosis {
    int line;          /* of the learner's file; 0: no particular line */
    char message[400]; /* "a semicolon is missing at the end of this line" */
    char source[240];  /* text of the line */
    char hint[400];
    char raw[1600]; /* the compiler's first messages about the learner's file */
} diagnosis;

/* shown: the file as the compiler names it; source: its text; output: everything that the compiler printed;
 * header: the text of ferry.h, for suggesting names, or "". */
void diagnose(diagnosis *d, const char *shown, const char *source, const char *output, const char *header);

/* For a file that compiles: its first warning in d->message, with line and source; false if there is none. */
bool diagnose_warning(diagnosis *d, const char *shown, const char *source, const char *output);

/* For a file that compiles and is certainly wrong: text in single quotes, 1/2 for a half. */
bool diagnose_certain_mistake(diagnosis *d, const char *source);

#endif
