/* lesson_folders.c: see lesson_folders.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lesson_folders.h"

char *lesson_text(const char *lesson, const char *file)
{
    char path[512];
    snprintf(path, sizeof path, "lessons/%s/%s", lesson, file);
    char *text = file_read(path, NULL);
    if (!text) fail_msg("%s cannot be read", path);
    return text;
}

cJSON *facts_of(const char *lesson)
{
    char *text = lesson_text(lesson, "lesson.json");
    cJSON *facts = cJSON_Parse(text);
    if (!facts) fail_msg("lessons/%s/lesson.json is not JSON", lesson);
    free(text);
    return facts;
}

const char *fact(const char *lesson, const cJSON *facts, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(facts, key);
    if (!cJSON_IsString(v) || !*v->valuestring) fail_msg("lessons/%s/lesson.json lacks \"%s\"", lesson, key);
    return v->valuestring;
}

int each_program(const char *lesson, const char *prefix, with_program *f)
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

void each_lesson(const char *prefix, with_program *f)
{
    for (int i = 0; lesson_checks[i]; i++)
        if (!each_program(lesson_checks[i]->id, prefix, f))
            fail_msg("lessons/%s has no %s*.c", lesson_checks[i]->id, prefix);
}
