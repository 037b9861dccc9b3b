/* class_folder.h: the folder of a class, in a temporary learner's folder, and `ferry grade-class` for it. */
#ifndef CLASS_FOLDER_H
#define CLASS_FOLDER_H

#include <sys/types.h>

#include "learner_folder.h"

#define ONE "01-where-am-i"
#define TWO "02-to-returns"

extern char folder[PATH_ROOM]; /* of the class */
void new_class(const char *name);
/* DIR/STUDENT/ID.c: a file of the lesson, or this text. */
void hand_in(const char *student, const char *id, const char *text);
/* Files and folders in a folder. */
int entries_of(const char *path);
/* Runs `ferry grade-class DIR ARGUMENTS`, and fails unless it ends so and prints this. */
void expect(const char *arguments, int status, const char *part);
/* The text of a table in the learner's folder. */
char *table(const char *name);
/* Grades in the background, with temporary files here. */
pid_t start_class(const char *scratch, const char *csv);

#endif
