/* lesson_form.c: see lesson_form.h. The catalogue takes what it can use of a lesson.json; this names the rest. */
#include "lesson_form.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "diagnostic.h" /* name_distance */
#include "lesson.h"
#include "log_fact.h"

enum { HINTS = 3 };

typedef struct form {
    void (*say)(void *user, const char *mistake);
    void *user;
} form;

/* What a member must be. */
typedef enum shape { TEXT, NUMBER, TRUTH, LIST, OBJECT } shape;
static const char *const shapes[] = {"a text", "a number", "true or false", "a list", "an object"};

static const struct member {
    const char *name;
    shape shape;
    bool needed;
} members[] = {
    {"id", TEXT, true},
    {"title", TEXT, true},
    {"summary", TEXT, true},
    {"goal", TEXT, true},
    {"minutes", NUMBER, true},
    {"docs", OBJECT, false},
    {"given", TEXT, true},
    {"given2", TEXT, false},
    {"card", TEXT, false},
    {"budget", TEXT, true},
    {"board", TEXT, false},
    {"predict", LIST, false},
    {"vary", LIST, false},
    {"teaches", LIST, false},
    {"defines", LIST, false},
    {"numbers", OBJECT, false},
    {"starter_fails", TEXT, true},
    {"wrong", LIST, true},
    {"hints", LIST, true},
    {"solves_also", OBJECT, false},
    {"demo_stops", TEXT, false},
    {"demo_is_long", TRUTH, false},
    {"kind", TEXT, false},
};
enum { MEMBERS = sizeof members / sizeof *members };

__attribute__((format(printf, 2, 3))) static void tell(const form *f, const char *format, ...)
{
    char words[512];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    f->say(f->user, words);
}

static bool has_shape(const cJSON *item, shape s)
{
    switch (s) {
    case TEXT: return cJSON_IsString(item);
    case NUMBER: return cJSON_IsNumber(item);
    case TRUTH: return cJSON_IsBool(item);
    case LIST: return cJSON_IsArray(item);
    case OBJECT: return cJSON_IsObject(item);
    }
    return false;
}

static const struct member *member_named(const char *name)
{
    for (int i = 0; i < MEMBERS; i++)
        if (!strcmp(members[i].name, name)) return &members[i];
    return NULL;
}

static const char *nearest(const char *name)
{
    const char *best = members[0].name;
    int least = 99;
    for (int i = 0; i < MEMBERS; i++) {
        int d = name_distance(name, strlen(name), members[i].name, strlen(members[i].name));
        if (d < least) least = d, best = members[i].name;
    }
    return best;
}

static void check_members(const form *f, const cJSON *facts)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, facts)
    {
        const struct member *m = member_named(item->string);
        if (!m)
            tell(f, "there is no \"%.60s\" in a lesson: did you mean \"%s\"? lessons/writing.md lists them all",
                 item->string, nearest(item->string));
        else if (!has_shape(item, m->shape)) tell(f, "\"%s\" must be %s", m->name, shapes[m->shape]);
    }
    for (int i = 0; i < MEMBERS; i++)
        if (members[i].needed && !cJSON_HasObjectItem(facts, members[i].name))
            tell(f, "there is no \"%s\": add it", members[i].name);
}

static bool is_blank(const cJSON *item)
{
    const char *text = cJSON_GetStringValue(item);
    return !text || !text[strspn(text, " \t\r\n")];
}

static void check_hints(const form *f, const cJSON *hints)
{
    int n = 0;
    const cJSON *hint;
    if (cJSON_IsArray(hints) && cJSON_GetArraySize(hints) != HINTS)
        tell(f, "\"hints\" has %d of them: give three, what to look at, the idea, and nearly the answer",
             cJSON_GetArraySize(hints));
    cJSON_ArrayForEach(hint, hints)
    {
        n++;
        if (is_blank(hint)) tell(f, "hint %d is empty: write a sentence", n);
    }
}

/* "from" of a question with choices: a number for each, 0 and then larger ones. */
static bool has_borders(const cJSON *question)
{
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(question, "from"), *item;
    double last = -1;
    bool rises = cJSON_IsArray(from) &&
                 cJSON_GetArraySize(from) == cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(question, "choices"));
    cJSON_ArrayForEach(item, from)
    {
        const double border = cJSON_IsNumber(item) ? item->valuedouble : -1;
        rises =
            rises && border > last && border < INT32_MAX && !(border - floor(border) > 0) && (last >= 0 || border <= 0);
        last = item->valuedouble;
    }
    return !from || rises;
}

/* "choices": texts, as many as a question can have. */
static bool has_choices(const cJSON *question)
{
    const cJSON *choices = cJSON_GetObjectItemCaseSensitive(question, "choices"), *item;
    const int n = cJSON_GetArraySize(choices);
    bool texts = cJSON_IsArray(choices) && n >= 2 && n <= QUESTION_CHOICES;
    cJSON_ArrayForEach(item, choices) texts = texts && !is_blank(item);
    return !choices || texts;
}

static void check_questions(const form *f, const cJSON *questions)
{
    char err[256];
    int n = 0;
    const cJSON *q;
    cJSON_ArrayForEach(q, questions)
    {
        const cJSON *fact = cJSON_GetObjectItemCaseSensitive(q, "fact");
        n++;
        if (is_blank(cJSON_GetObjectItemCaseSensitive(q, "ask")))
            tell(f, "question %d of \"predict\" needs \"ask\", what the learner is asked", n);
        if (is_blank(fact)) tell(f, "question %d of \"predict\" needs \"fact\", as \"count copy dir=h2d\"", n);
        else if (!log_fact_is_known(fact->valuestring, err, sizeof err))
            tell(f, "question %d of \"predict\": %s", n, err);
        if (!has_choices(q))
            tell(f, "\"choices\" of question %d of \"predict\" must be two to %d texts", n, QUESTION_CHOICES);
        if (!has_borders(q))
            tell(f, "\"from\" of question %d of \"predict\" must be a number for each choice, 0 and then larger ones",
                 n);
    }
}

void lesson_form_check(const cJSON *facts, const char *id, void (*say)(void *user, const char *mistake), void *user)
{
    const form f = {say, user};
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(facts, "id");
    check_members(&f, facts);
    if (cJSON_IsString(own) && strcmp(own->valuestring, id) != 0)
        tell(&f, "\"id\" is \"%.60s\": it must be the name of the folder, \"%s\"", own->valuestring, id);
    check_hints(&f, cJSON_GetObjectItemCaseSensitive(facts, "hints"));
    check_questions(&f, cJSON_GetObjectItemCaseSensitive(facts, "predict"));
}
