/* lesson_folders.h: reads the lessons' folders: lesson.json ("facts") and programs. */
#ifndef LESSON_FOLDERS_H
#define LESSON_FOLDERS_H

#include <cjson/cJSON.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graded.h"
#include "paths.h"

char *lesson_text(const char *lesson, const char *file);
cJSON *facts_of(const char *lesson);
const char *fact(const char *lesson, const cJSON *facts, const char *key);
/* "kind": "myth": a statement on trial, which has a verdict in place of an answer's values. */
bool is_myth(const cJSON *facts);

/* Calls f for each lesson and each of its programs with this prefix; each_program returns their number. */
typedef void with_program(const char *lesson, const cJSON *facts, const char *file);

int each_program(const char *lesson, const char *prefix, with_program *f);
void each_lesson(const char *prefix, with_program *f);
/* The same for a sample of the lessons, or for all where LONG is set. */
void each_sampled_lesson(const char *prefix, with_program *f);
bool lesson_is_sampled(const char *lesson);
/* All ids in the order of lessons/arc.json; NULL-terminated. Lives as long as the test. */
const char *const *lessons_in_order(void);

#endif
