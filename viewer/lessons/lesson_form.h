/* lesson_form.h: is a lesson.json of the form that lessons/writing.md tells? For its author. */
#ifndef FERRY_LESSON_FORM_H
#define FERRY_LESSON_FORM_H

#include <cjson/cJSON.h>

/* Calls say with each mistake, and how to mend it. facts: the lesson.json of the lesson `id`. */
void lesson_form_check(const cJSON *facts, const char *id, void (*say)(void *user, const char *mistake), void *user);

#endif
