/* gradescope.c: see gradescope.h. The format: gradescope-autograders.readthedocs.io, "Autograder Specifications". */
#include "gradescope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* ---- a test ------------------------------------------------------------------------------------------------- */

typedef struct test {
    const char *name, *output; /* of the check; what the student reads below it */
    double score, of;
    bool pass;
    int line;      /* -1: none */
    int64_t event; /* -1: none */
} test;

static void add_text(cJSON *to, const char *key, const char *text) { json_text(to, key, text, strlen(text)); }

static void add_test(gradescope *g, const lesson *l, int number, const test *t)
{
    char name[160], place[32];
    snprintf(name, sizeof name, "%s: %s", l->id, t->name);
    snprintf(place, sizeof place, "%d.%d", g->lessons, number);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "score", t->score);
    cJSON_AddNumberToObject(json, "max_score", t->of);
    cJSON_AddStringToObject(json, "status", t->pass ? "passed" : "failed");
    add_text(json, "name", name);
    cJSON_AddStringToObject(json, "number", place);
    add_text(json, "output", t->output);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "tags"), cJSON_CreateString(l->id));
    cJSON_AddStringToObject(json, "visibility", "visible");
    cJSON *extra = cJSON_AddObjectToObject(json, "extra_data");
    cJSON_AddStringToObject(extra, "lesson", l->id);
    add_text(extra, "check", t->name);
    if (t->line > 0) cJSON_AddNumberToObject(extra, "line", t->line);
    if (t->event >= 0) cJSON_AddNumberToObject(extra, "event", (double)t->event);
    cJSON_AddItemToArray(g->tests, json);
    g->score += t->score;
    g->of += t->of;
}

/* ---- what the student reads ----------------------------------------------------------------------------------- */

/* "my/01-where-am-i.c:14: MESSAGE": the line is the student's, wherever the file lay. */
static void add_located(fy_text *to, const char *file, int line, const char *message)
{
    if (line > 0) fy_text_printf(to, "%s:%d: ", file, line);
    fy_text_str(to, message);
}

/* Why the program has no verdict, or has earned nothing: as `ferry grade` says it. */
static void add_reason(fy_text *to, const outcome *out)
{
    add_located(to, out->file, out->line, out->message);
    if (*out->source) fy_text_printf(to, "\n    %s", out->source);
    if (*out->hint) fy_text_printf(to, "\n%s: %s", out->stopped ? "fix" : "hint", out->hint);
}

static void add_failure(fy_text *to, const outcome *out, const struct verdict_check *c)
{
    add_located(to, out->file, c->line, c->message);
    if (c->line > 0 && c->line == out->line && *out->source) fy_text_printf(to, "\n    %s", out->source);
    if (*c->expected) fy_text_printf(to, "\nexpected  %s", c->expected);
    if (*c->got) fy_text_printf(to, "\ngot       %s", c->got);
}

/* The text, whose memory is to's. */
static const char *said(fy_text *to)
{
    fy_text_add(to, "", 0);
    if (to->lost) memory_fail("results.json");
    return to->data;
}

static void add_sum(gradescope *g, const lesson *l, double score, double of, const char *why)
{
    fy_text_printf(&g->words, "%s: %.10g of %.10g points%s%s\n", l->id, score, of, *why ? ": " : ", passed", why);
}

/* ---- a lesson --------------------------------------------------------------------------------------------------- */

/* Is the check in the verdict? Those after a first failure may not have been looked at. */
static bool was_judged(const outcome *out, const char *check)
{
    int n = out && out->graded ? out->verdict.checks : 0;
    for (int i = 0; i < n && i < VERDICT_CHECKS; i++)
        if (!strcmp(out->verdict.check[i].name, check)) return true;
    return false;
}

static bool was_predicted(const predictions *all, const char *check)
{
    for (int i = 0; i < all->count; i++)
        if (!strcmp(all->list[i].check, check)) return true;
    return false;
}

static int add_predictions(gradescope *g, const lesson *l, const predictions *all)
{
    for (int i = 0; i < all->count; i++) {
        const prediction *p = &all->list[i];
        add_test(g, l, i + 1, &(test){p->check, p->message, p->points, p->of, !*p->message, -1, -1});
    }
    return all->count + 1;
}

/* The lesson's other checks: they count, so that the points of an assignment are always the same. */
static void add_unjudged(gradescope *g, const lesson *l, const points_table *p, const outcome *out, int number,
                         const predictions *predicted, const char *why)
{
    const cJSON *check;
    cJSON_ArrayForEach(check, cJSON_GetObjectItemCaseSensitive(p, l->id))
    {
        if (was_judged(out, check->string) || was_predicted(predicted, check->string)) continue;
        add_test(g, l, number++, &(test){check->string, why, 0, check->valuedouble, false, -1, -1});
    }
}

static int add_verdict(gradescope *g, const lesson *l, const points_table *p, const outcome *out, int number)
{
    int n = out->graded ? out->verdict.checks : 0;
    for (int i = 0; i < n && i < VERDICT_CHECKS; i++) {
        const struct verdict_check *c = &out->verdict.check[i];
        fy_text words = {0};
        if (!c->pass) add_failure(&words, out, c);
        else if (out->unfinished) fy_text_str(&words, "it holds, but the program did not run to its end");
        else if (out->untouched) fy_text_str(&words, "it holds in the starter already");
        test t = {c->name, said(&words), check_points(p, l, out, c), check_worth(p, l, out, c), c->pass,
                  c->line, c->seq};
        t.pass &= !out->unfinished && !out->untouched;
        add_test(g, l, number++, &t);
        free(words.data);
    }
    return number;
}

void gradescope_judged(gradescope *g, const lesson *l, const points_table *p, const outcome *out,
                       const predictions *predicted)
{
    bool passed = out->end == RUN_PASSED, verdict_says = !strcmp(out->message, verdict_message(&out->verdict));
    fy_text reason = {0};
    double before = g->score, of = g->of;
    g->lessons++;
    g->seconds += out->seconds;
    int number = add_predictions(g, l, predicted);
    if (!passed) add_reason(&reason, out);
    const char *why = said(&reason);
    if (!passed && (!out->graded || !verdict_says)) {
        const char *name = out->end == RUN_NOT_COMPILED ? "compiled" : out->second ? "other-inputs" : "ran";
        add_test(g, l, number++, &(test){name, why, 0, 0, false, out->line, out->seq});
    }
    if (out->untouched) add_test(g, l, number++, &(test){"changed", starter_earns_nothing, 0, 0, false, -1, -1});
    number = add_verdict(g, l, p, out, number);
    add_unjudged(g, l, p, out, number, predicted,
                 out->graded && !out->unfinished ? "not reached: an earlier check failed" : "not graded: see above");
    add_sum(g, l, g->score - before, g->of - of, why);
    free(reason.data);
}

void gradescope_ungraded(gradescope *g, const lesson *l, const points_table *p, const char *name, const char *why,
                         const predictions *predicted)
{
    double before = g->score, of = g->of;
    g->lessons++;
    int number = add_predictions(g, l, predicted);
    add_test(g, l, number, &(test){name, why, 0, 0, false, -1, -1});
    add_unjudged(g, l, p, NULL, number + 1, predicted, "not graded: see above");
    add_sum(g, l, g->score - before, g->of - of, why);
}

/* ---- the file ----------------------------------------------------------------------------------------------------- */

void gradescope_open(gradescope *g) { *g = (gradescope){.tests = cJSON_CreateArray()}; }

void gradescope_say(gradescope *g, const char *line)
{
    fy_text_str(&g->words, line);
    fy_text_str(&g->words, "\n");
}

bool gradescope_write(gradescope *g, const char *path)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "score", g->score);
    cJSON_AddNumberToObject(json, "execution_time", g->seconds);
    add_text(json, "output", said(&g->words));
    cJSON_AddStringToObject(json, "output_format", "text"); /* a line of C is no HTML */
    cJSON_AddStringToObject(json, "test_output_format", "text");
    cJSON_AddStringToObject(json, "visibility", "visible");
    cJSON_AddStringToObject(json, "stdout_visibility", "hidden");
    cJSON_AddNumberToObject(cJSON_AddObjectToObject(json, "extra_data"), "max_score", g->of);
    cJSON_AddItemReferenceToObject(json, "tests", g->tests);
    char *text = cJSON_Print(json);
    bool ok = file_write(path, text, strlen(text));
    int error = errno;
    cJSON_free(text);
    cJSON_Delete(json);
    errno = error;
    return ok;
}

void gradescope_close(gradescope *g)
{
    cJSON_Delete(g->tests);
    free(g->words.data);
    *g = (gradescope){0};
}
