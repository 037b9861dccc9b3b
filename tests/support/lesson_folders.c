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

bool is_myth(const cJSON *facts)
{
    const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(facts, "kind"));
    return kind && !strcmp(kind, "myth");
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

const char *const *lessons_in_order(void)
{
    static const char *ids[100];
    static cJSON *arc; /* has their text, to the end */
    if (ids[0]) return ids;
    char *text = file_read("lessons/arc.json", NULL);
    arc = text ? cJSON_Parse(text) : NULL;
    if (!arc) fail_msg("lessons/arc.json is missing, or is not JSON");
    free(text);
    int n = 0;
    const cJSON *part, *id;
    cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(arc, "parts"))
    {
        cJSON_ArrayForEach(id, cJSON_GetObjectItemCaseSensitive(part, "lessons")) ids[n++] = id->valuestring;
    }
    return ids;
}

/* One lesson in five, and the last. LESSON: that one alone. */
bool lesson_is_sampled(const char *lesson)
{
    const char *const *ids = lessons_in_order(), *only = getenv("LESSON");
    int at = 0;
    while (ids[at] && strcmp(ids[at], lesson) != 0) at++;
    if (only && *only) return !strcmp(only, lesson);
    return getenv("LONG") || at % 5 == 1 || (ids[at] && !ids[at + 1]);
}

static void visit_lessons(const char *prefix, with_program *f, bool all)
{
    for (int i = 0; lesson_checks[i]; i++) {
        const char *id = lesson_checks[i]->id;
        if ((all || lesson_is_sampled(id)) && !each_program(id, prefix, f))
            fail_msg("lessons/%s has no %s*.c", id, prefix);
    }
}

void each_lesson(const char *prefix, with_program *f) { visit_lessons(prefix, f, true); }
void each_sampled_lesson(const char *prefix, with_program *f) { visit_lessons(prefix, f, false); }
