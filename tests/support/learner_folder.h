/* learner_folder.h: a temporary learner's folder, and the `ferry` command of the same build. */
#ifndef LEARNER_FOLDER_H
#define LEARNER_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paths.h"

extern char learner_folder[64]; /* holds my/ and state/ */
extern char ferry_command[512]; /* path of the command */
/* Expects the test program in BUILD/tests and ferry in BUILD. */
int make_learner_folder(void **state);
int remove_learner_folder(void **state);
/* Writes the learner's file of a lesson: this text, or a copy of a file in the lesson's folder. */
bool write_answer(const char *id, const char *text);
bool copy_answer(const char *id, const char *file);
/* Runs `ferry ARGUMENTS` without a terminal. Returns its exit status, and its output in *printed (free it). */
int run_ferry(const char *arguments, char **printed);

#endif
