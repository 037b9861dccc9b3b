/* cmd_lessons.c: `ferry list`, `next`, `hint`, `solution` and `reset`: the lessons and the learner's files, without
 * running anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "progress.h"

/* ---- list -------------------------------------------------------------------------------------------- */

static const char *state_of(progress p) { return p.done ? "done" : p.attempts ? "started" : "new"; }

static cJSON *lesson_json(const home *h, const lesson *l)
{
    char name[256];
    progress p = progress_of(h, l);
    cJSON *json = cJSON_CreateObject();
    lesson_name(h, l, name);
    cJSON_AddStringToObject(json, "id", l->id);
    cJSON_AddStringToObject(json, "part", l->part);
    cJSON_AddStringToObject(json, "title", l->title);
    cJSON_AddStringToObject(json, "goal", l->goal);
    cJSON_AddStringToObject(json, "limit", l->budget);
    cJSON_AddNumberToObject(json, "minutes", l->minutes);
    cJSON_AddStringToObject(json, "file", name);
    cJSON_AddStringToObject(json, "state", state_of(p));
    cJSON_AddNumberToObject(json, "attempts", p.attempts);
    return json;
}

static void list_json(const lesson_env *s)
{
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < s->catalogue.count; i++)
        cJSON_AddItemToArray(all, lesson_json(&s->home, &s->catalogue.lessons[i]));
    command_print_json(all);
}

static void list(const lesson_env *s)
{
    const char *part = "";
    for (int i = 0; i < s->catalogue.count; i++) {
        const lesson *l = &s->catalogue.lessons[i];
        if (strcmp(l->part, part) != 0) printf("%s%s\n", i ? "\n" : "", part = l->part);
        printf("%-8s %-22s %s", state_of(progress_of(&s->home, l)), l->id, l->title);
        if (l->minutes) printf(" (%d min)", l->minutes);
        putchar('\n');
    }
    printf("\nwhat comes next: %s next\n"
           "these marks come from my/progress.json; to grade everything again: %s check-all\n",
           command_name, command_name);
}

int command_list(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--json --lessons", 0)) return USAGE_ERROR;
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    if (o.json) list_json(&s);
    else list(&s);
    lessons_close(&s);
    return FINE;
}

/* ---- next -------------------------------------------------------------------------------------------- */

static void introduce(const home *h, const lesson *l)
{
    char file[PATH_ROOM], text[PATH_ROOM];
    lesson_file_path(h, l, file);
    lesson_path(h, l, "README.md", text);
    printf("%s: %s", l->id, l->title);
    if (l->minutes) printf(" (about %d minutes)", l->minutes);
    printf("\nafter this: %s\n\n", l->goal);
    printf("  read     %s\n", path_from_here(text));
    if (l->question_count) printf("  predict  %s predict %s\n", command_name, l->id);
    printf("  edit     %s\n  limit    %s\n  grade    %s grade %s\n", path_from_here(file), l->budget, command_name,
           l->id);
}

static int show_next(const lesson_env *s, bool json)
{
    char err[PATH_ROOM * 2];
    int i = 0;
    while (i < s->catalogue.count && progress_of(&s->home, &s->catalogue.lessons[i]).done) i++;
    if (i == s->catalogue.count) {
        if (json) command_print_json(cJSON_CreateNull());
        else printf("all %d lessons are done; to grade everything again: %s check-all\n", i, command_name);
        return FINE;
    }
    const lesson *l = &s->catalogue.lessons[i];
    if (!lesson_create_file(&s->home, l, err, sizeof err)) return command_refuse(json, l->id, err);
    if (json) command_print_json(lesson_json(&s->home, l));
    else introduce(&s->home, l);
    return FINE;
}

int command_next(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--json --lessons", 0)) return USAGE_ERROR;
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    int status = show_next(&s, o.json);
    lessons_close(&s);
    return status;
}

/* ---- hint -------------------------------------------------------------------------------------------- */

/* Shows the hint `asked`; NULL: the one after the last shown. */
static int show_hint(const command *c, const home *h, const lesson *l, const char *asked, bool json)
{
    char *end = NULL;
    int next = progress_of(h, l).hints + 1;
    long n = asked ? strtol(asked, &end, 10) : next < l->hint_count ? next : l->hint_count;
    if ((end && *end) || n < 1 || n > l->hint_count) {
        fprintf(stderr, "ferry %s: %s has hints 1 to %d; there is no hint '%s'\n", c->name, l->id, l->hint_count,
                asked ? asked : "1");
        return USAGE_ERROR;
    }
    if (json) {
        cJSON *hint = cJSON_CreateObject();
        cJSON_AddStringToObject(hint, "lesson", l->id);
        cJSON_AddNumberToObject(hint, "hint", (double)n);
        cJSON_AddNumberToObject(hint, "of", l->hint_count);
        cJSON_AddStringToObject(hint, "text", l->hints[n - 1]);
        command_print_json(hint);
    } else {
        printf("hint %ld of %d: %s\n", n, l->hint_count, l->hints[n - 1]);
        if (n < l->hint_count) printf("\nthe next one: %s hint %.*s\n", command_name, lesson_number_length(l), l->id);
    }
    progress_record_hint(h, l, (int)n);
    return FINE;
}

int command_hint(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--json --lessons", 2)) return USAGE_ERROR;
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    const lesson *l = lessons_find(&s, c, o.word[0]);
    int status = l ? show_hint(c, &s.home, l, o.word[1], o.json) : USAGE_ERROR;
    lessons_close(&s);
    return status;
}

/* ---- solution ---------------------------------------------------------------------------------------- */

static int show_solution(const home *h, const lesson *l, const options *o)
{
    char path[PATH_ROOM], message[512];
    bool passed = progress_of(h, l).done;
    if (!passed && !o->yes) {
        snprintf(
            message, sizeof message,
            "you have not passed %s yet, and what you find yourself stays longer; a hint: %s hint %.*s. To read the "
            "solution all the same, add --yes",
            l->id, command_name, lesson_number_length(l), l->id);
        return command_refuse(o->json, l->id, message);
    }
    lesson_path(h, l, "solution.c", path);
    char *text = file_read(path, NULL);
    if (!text) {
        snprintf(message, sizeof message, "%s has no solution.c here: who wrote the lesson keeps it elsewhere", l->id);
        return command_refuse(o->json, l->id, message);
    }
    if (o->json) {
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "lesson", l->id);
        cJSON_AddBoolToObject(json, "passed", passed);
        cJSON_AddStringToObject(json, "text", text);
        command_print_json(json);
    } else {
        fputs(text, stdout);
    }
    free(text);
    return FINE;
}

int command_solution(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--yes --json --lessons", 1)) return USAGE_ERROR;
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    const lesson *l = lessons_find(&s, c, o.word[0]);
    int status = l ? show_solution(&s.home, l, &o) : USAGE_ERROR;
    lessons_close(&s);
    return status;
}

/* ---- reset ------------------------------------------------------------------------------------------- */

static bool confirm(const char *name)
{
    char answer[16] = "";
    printf("reset %s? The old file is kept as .bak in the same folder [y/N] ", name);
    fflush(stdout);
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

static int reset(const home *h, const lesson *l, bool confirmed, bool json)
{
    char name[256], mine[PATH_ROOM], kept[PATH_ROOM], err[PATH_ROOM * 3];
    lesson_name(h, l, name);
    lesson_file_path(h, l, mine);
    bool exists = access(mine, F_OK) == 0;
    bool may_ask = !json && isatty(STDIN_FILENO); /* a question would spoil the JSON */
    if (exists && !confirmed && !may_ask)
        return command_refuse(json, l->id, "add --yes to reset without a prompt; nothing was changed");
    if (exists && !confirmed && !confirm(name)) return NOT_PASSED;
    if (!lesson_reset(h, l, kept, err, sizeof err)) return command_refuse(json, l->id, err);
    const char *slash = strrchr(kept, '/');
    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "lesson", l->id);
        cJSON_AddStringToObject(object, "file", name);
        cJSON_AddStringToObject(object, "kept", kept);
        command_print_json(object);
        return FINE;
    }
    printf("%s is the starter again%s%s\n", name, *kept ? "; the old one is kept in the same folder as " : "",
           slash ? slash + 1 : kept);
    return FINE;
}

int command_reset(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--yes --json --lessons", 1)) return USAGE_ERROR;
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    const lesson *l = lessons_find(&s, c, o.word[0]);
    int status = l ? reset(&s.home, l, o.yes, o.json) : USAGE_ERROR;
    lessons_close(&s);
    return status;
}
