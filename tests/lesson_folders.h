/* lesson_folders.h: the folders of lessons/, their facts and their programs. */
#ifndef LESSON_FOLDERS_H
#define LESSON_FOLDERS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grade.h"
#include "paths.h"

static inline char *text_of(const char *lesson, const char *file)
{
    char path[512];
    snprintf(path, sizeof path, "lessons/%s/%s", lesson, file);
    char *text = file_read(path, NULL);
    if (!text) fail_msg("%s cannot be read", path);
    return text;
}

static inline cJSON *facts_of(const char *lesson)
{
    char *text = text_of(lesson, "lesson.json");
    cJSON *facts = cJSON_Parse(text);
    if (!facts) fail_msg("lessons/%s/lesson.json is not JSON", lesson);
    free(text);
    return facts;
}

static inline const char *fact(const char *lesson, const cJSON *facts, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(facts, key);
    if (!cJSON_IsString(v) || !*v->valuestring) fail_msg("lessons/%s/lesson.json lacks \"%s\"", lesson, key);
    return v->valuestring;
}

/* Call f for each lesson and each of its programs whose name begins with `prefix`. */
typedef void with_program(const char *lesson, const cJSON *facts, const char *file);

static inline int each_program(const char *lesson, const char *prefix, with_program *f)
{
    char path[512];
    int n = 0;
    snprintf(path, sizeof path, "lessons/%s", lesson);
    DIR *folder = opendir(path);
    if (!folder) fail_msg("there is no folder %s", path);
    cJSON *facts = facts_of(lesson);
    for (struct dirent *e; (e = readdir(folder));) {
        size_t length = strlen(e->d_name);
        bool is_c = length > 2 && !strcmp(e->d_name + length - 2, ".c") && strcmp(e->d_name, "check.c");
        if (!is_c || strncmp(e->d_name, prefix, strlen(prefix))) continue;
        f(lesson, facts, e->d_name);
        n++;
    }
    cJSON_Delete(facts);
    closedir(folder);
    return n;
}

static inline void each_lesson(const char *prefix, with_program *f)
{
    for (int i = 0; lesson_checks[i]; i++)
        if (!each_program(lesson_checks[i]->id, prefix, f))
            fail_msg("lessons/%s has no %s*.c", lesson_checks[i]->id, prefix);
}

#endif
