/* failure_report_test.c: `ferry grade` over the lessons' failing programs, a sample of them or, where LONG is set, all:
 * each is told what was expected, what came, and which event decided, with a quote of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>

#include "learner_folder.h"
#include "lesson_folders.h"

/* The text after this label at the beginning of a line; NULL: no such line, or nothing stands there. */
static const char *labelled(const char *report, const char *label)
{
    char start[32];
    snprintf(start, sizeof start, "\n  %s ", label);
    const char *at = strstr(report, start);
    if (at) at += strlen(start);
    while (at && *at == ' ') at++;
    return at && *at && *at != '\n' ? at : NULL;
}

static void explain(const char *id, const cJSON *facts, const char *file)
{
    (void)facts;
    char arguments[64], *report;
    assert_true(copy_answer(id, file));
    snprintf(arguments, sizeof arguments, "grade %s", id);
    assert_int_equal(run_ferry(arguments, &report), 1);
    const char *event = labelled(report, "event");
    size_t digits = event ? strspn(event, "0123456789") : 0;
    bool quoted = digits && event[digits] == ' ' && isgraph((unsigned char)event[digits + strspn(event + digits, " ")]);
    if (!labelled(report, "expected") || !labelled(report, "got") || !quoted)
        fail_msg("lessons/%s/%s: expected, got and a quoted event are wanted in:\n%s", id, file, report);
    free(report);
}

static void every_failure_is_shown_with_its_event(void **state)
{
    (void)state;
    each_sampled_lesson("starter.c", explain);
    each_sampled_lesson("wrong_", explain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_failure_is_shown_with_its_event)};
    return cmocka_run_group_tests_name("failure_report", tests, make_learner_folder, remove_learner_folder);
}
