/* grade.c: from a run's events to a verdict. The log, the seed and the inputs come from whoever started the run;
 * nothing that the program printed is trusted. Queries over the log are in event_query.c, requirements in check.c. */
#include "findings.h"
#include "grading.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "log.h"
#include "memory.h"
#include "run_settings.h"
#include "record_fields.h"

const lesson_check *lesson_check_find(const char *id)
{
    for (int i = 0; lesson_checks[i]; i++)
        if (!strcmp(lesson_checks[i]->id, id)) return lesson_checks[i];
    return NULL;
}

/* ---- memory that lives as long as the grading ---------------------------------------------------- */

struct allocation {
    struct allocation *next;
    max_align_t bytes[];
};

void *grade_keep(grading *g, size_t bytes)
{
    struct allocation *a = memory_zeroed(1, sizeof *a + bytes, "grading");
    a->next = g->allocations;
    g->allocations = a;
    return a->bytes;
}

void grading_end(grading *g)
{
    if (g->found) findings_free(g->found);
    g->found = NULL;
    for (struct allocation *a = g->allocations, *next; a; a = next) {
        next = a->next;
        free(a);
    }
    g->allocations = NULL;
}

const char *grade_say(grading *g, const char *format, ...)
{
    va_list args, copy;
    va_start(args, format);
    va_copy(copy, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = grade_keep(g, n < 0 ? 1 : (size_t)n + 1);
    if (n >= 0) vsnprintf(text, (size_t)n + 1, format, copy);
    va_end(copy);
    va_end(args);
    return text;
}

/* ---- verdicts --------------------------------------------------------------------------------- */

const trace *grade_trace(const grading *g) { return g->run; }

uint64_t grade_seed(const grading *g) { return g->seed; }

bool check(grading *g, const char *name, bool pass, const fy_event *at, const char *expected, const char *got,
           const char *message)
{
    verdict *v = g->out;
    bool fits = v->checks < VERDICT_CHECKS;
    if (fits || (v->pass && !pass)) { /* the first failure is always recorded, in the last slot if need be */
        struct verdict_check *c = &v->check[fits ? v->checks : VERDICT_CHECKS - 1];
        *c = (struct verdict_check){.pass = pass, .seq = -1, .line = -1};
        snprintf(c->name, sizeof c->name, "%s", name);
        snprintf(c->expected, sizeof c->expected, "%s", expected);
        snprintf(c->got, sizeof c->got, "%s", got);
        snprintf(c->message, sizeof c->message, "%s", message);
        if (at) c->seq = (int64_t)at->seq;
        c->line = grade_line(at);
        v->checks += fits;
        v->passed += fits ? pass : -1;
    }
    v->pass = v->pass && pass;
    return pass;
}

void check_is_limit(grading *g, const char *of_what, double most, double used)
{
    struct verdict_check *c = &g->out->check[g->out->checks - 1];
    snprintf(c->limits, sizeof c->limits, "%s", of_what);
    c->most = most;
    c->used = used;
}

bool verdict_is_named(const verdict *v)
{
    bool yes = v->checks >= 0 && v->checks <= VERDICT_CHECKS;
    for (int i = 0; yes && i < v->checks; i++) yes = *v->check[i].name;
    return yes;
}

const struct verdict_check *verdict_failure(const verdict *v)
{
    for (int i = 0; i < v->checks; i++)
        if (!v->check[i].pass) return &v->check[i];
    return NULL;
}

const struct verdict_check *verdict_check_named(const verdict *v, const char *name)
{
    for (int i = 0; i < v->checks && i < VERDICT_CHECKS; i++)
        if (!strcmp(v->check[i].name, name)) return &v->check[i];
    return NULL;
}

const char *verdict_message(const verdict *v)
{
    const struct verdict_check *c = verdict_failure(v);
    if (c) return c->message;
    return v->pass ? "All checks passed." : "Nothing was checked.";
}

/* Is this one run, from its beginning? A trace holds only the first TRACE_MOST events, so that a check would judge half
 * a longer run. */
static bool log_is_whole(grading *g)
{
    const fy_event *first = next_event(g, NULL, session, true);
    const fy_event *second = first ? next_event(g, first, session, true) : NULL;
    if (!g->run->count)
        return check(
            g, "answered", false, NULL, "events", "none",
            "The program recorded no events: its main never called Ferry, or it was stopped before the first call.");
    if (!first || first->seq != 0)
        return check(g, "log-intact", false, g->run->events, "a session event first",
                     fy_kind_name(g->run->events->kind),
                     "The log does not begin with its session event, so it is incomplete: run the lesson again.");
    if (second)
        return check(
            g, "log-intact", false, second, "one session", "two",
            "The log holds a second session event, so it is of more than one run, and the checks judge one: run the "
            "lesson again.");
    if (g->run->over) {
        const fy_event *last = &g->run->events[g->run->count - 1];
        const char *most = grade_say(g, "%d,%03d", TRACE_MOST / 1000, TRACE_MOST % 1000);
        return check(g, "few-events", false, last, "a few hundred events", grade_say(g, "more than %s", most),
                     grade_say(g,
                               "More than %s events (a few hundred expected): an endless loop? The last event that "
                               "was read: %s.",
                               most, grade_where(g, last)));
    }
    return true;
}

bool grade_run(const char *lesson, const trace *run, uint64_t seed, const char *given, verdict *out, char *err,
               size_t room)
{
    const lesson_check *l = lesson_check_find(lesson);
    if (l) grade_run_by(l, run, seed, given, out);
    else snprintf(err, room, "there is no lesson '%s'; `ferry list` shows all lessons", lesson);
    return l != NULL;
}

void grade_run_by(const lesson_check *l, const trace *run, uint64_t seed, const char *given, verdict *out)
{
    memset(out, 0, sizeof *out);
    grading g = {.run = run, .seed = seed, .given = given, .out = out};
    out->pass = true;
    if (log_is_whole(&g) && check_settings(&g)) l->judge(&g);
    out->pass = out->pass && out->checks > 0;
    grading_end(&g);
}

bool grade_emit(const char *lesson, const verdict *v)
{
    if (!fy_log_is_on()) return false;
    for (int i = 0; i < v->checks; i++) {
        const struct verdict_check *c = &v->check[i];
        uint32_t at = (uint32_t)c->seq;
        FY_EMIT(NULL, check, .lesson = fy_ref_str(lesson), .check = fy_ref_str(c->name), .pass = c->pass,
                .points = c->pass, .at = c->seq < 0 ? 0 : fy_ref_bytes(&at, sizeof at),
                .expected = fy_ref_str(c->expected), .got = fy_ref_str(c->got), .message = fy_ref_str(c->message));
    }
    FY_EMIT(NULL, grade, .lesson = fy_ref_str(lesson), .pass = v->pass, .passed = v->passed, .checks = v->checks,
            .message = fy_ref_str(verdict_message(v)));
    return true;
}
