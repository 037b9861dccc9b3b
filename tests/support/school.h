/* school.h: a temporary learner's folder for a test, and the `ferry` command of the same build. */
#ifndef SCHOOL_H
#define SCHOOL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paths.h"

extern char school_folder[64]; /* holds my/ and state/ */
extern char school_ferry[512]; /* the command */
/* Expects the test in BUILD/tests, the command in BUILD. */
int school_make(void **state);
int school_remove(void **state);
/* Writes the learner's file of a lesson: a text, or a copy of a file in the lesson's folder. */
bool school_write(const char *id, const char *text);
bool school_hand_in(const char *id, const char *file);
/* Run `ferry ARGUMENTS` without a terminal; its exit status, and what it printed (free it). */
int school_run(const char *arguments, char **printed);

#endif
