/* Each misconception of misconceptions.c has a program that shows it, at the line that ends in HERE, and a corrected
 * version without it. */
#include "misconceptions.h"

#include "near_misses.h"
#include "grading.h"

/* A run's log, parsed for the grader. */
typedef struct graded_run {
    char *lines;
    trace run;
    grading g;
} graded_run;

static void begin_graded_run(graded_run *j, void (*run)(void), const char *sim)
{
    char path[64] = "/tmp/ferry-misconceptions-XXXXXX", err[512];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    record_program(&(explained){NULL, run, 0, sim}, path);
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    *j = (graded_run){.lines = calloc(1, 1 << 20)};
    size_t size = fread(j->lines, 1, (1 << 20) - 1, from);
    fclose(from);
    unlink(path);
    if (!trace_of_lines(&j->run, j->lines, size, err, sizeof err)) fail_msg("%s", err);
    j->g.run = &j->run;
}

static void end_graded_run(graded_run *j)
{
    grading_end(&j->g);
    trace_free(&j->run);
    free(j->lines);
}

/* Is the event at the line marked in the source? */
static bool is_here(graded_run *j, const fy_event *e)
{
    grading *g = &j->g;
    const char *file = grade_text(g, e, e->file);
    const fy_event *source = next_event(g, NULL, source, fy_event_is(it, is->path, file));
    const char *text = source ? grade_text(g, source, source->is.source.text) : "";
    for (int line = grade_line(e); line > 1 && *text; line--) text += strcspn(text, "\n") + 1;
    const char *mark = strstr(text, "/* HERE */");
    return mark && (size_t)(mark - text) < strcspn(text, "\n");
}

static void expect_sign(int number, const char *name, void (*run)(void), const char *sim)
{
    graded_run j;
    begin_graded_run(&j, run, sim);
    const fy_event *e = shows_misconception(&j.g, name);
    if (!e) fail_msg("program %d: no sign of %s", number, name);
    if (!is_here(&j, e)) fail_msg("program %d: %s at line %d", number, name, grade_line(e));
    end_graded_run(&j);
}

static void expect_no_sign(int number, void (*run)(void), const char *sim)
{
    graded_run j;
    begin_graded_run(&j, run, sim);
    for (int k = 0; misconception_at(k); k++) {
        const misconception *m = misconception_at(k);
        const fy_event *e = shows_misconception(&j.g, m->name);
        if (e) fail_msg("program %d: %s at line %d", number, m->name, grade_line(e));
    }
    end_graded_run(&j);
}

static void each_program_shows_its_misconception(void **state)
{
    (void)state;
    for (int i = 0; misconception_pairs[i].name; i++)
        expect_sign(i, misconception_pairs[i].name, misconception_pairs[i].wrong, misconception_pairs[i].sim);
}

static void variants_show_it_too(void **state)
{
    (void)state;
    for (int i = 0; variants[i].run; i++) expect_sign(i, variants[i].name, variants[i].run, variants[i].sim);
}

static void near_misses_show_no_misconception(void **state)
{
    (void)state;
    for (int i = 0; near_misses[i].run; i++) expect_no_sign(i, near_misses[i].run, near_misses[i].sim);
}

static void a_corrected_program_shows_no_misconception(void **state)
{
    (void)state;
    for (int i = 0; misconception_pairs[i].name; i++)
        expect_no_sign(i, misconception_pairs[i].right, misconception_pairs[i].right_sim);
}

static void all_twenty_five_have_a_pair(void **state)
{
    (void)state;
    for (int i = 0; i < 25; i++) {
        const misconception *m = misconception_at(i);
        assert_non_null(m);
        assert_int_equal(m->rank, i + 1);
        assert_ptr_equal(misconception_named(m->name), m);
        assert_true(m->believed[0] && m->truth[0] && m->wanted[0] && m->signature);
        bool paired = false;
        for (int k = 0; misconception_pairs[k].name; k++) paired |= !strcmp(misconception_pairs[k].name, m->name);
        assert_true(paired);
    }
    assert_null(misconception_at(25));
    assert_null(misconception_named("to-moves"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_program_shows_its_misconception),
        cmocka_unit_test(variants_show_it_too),
        cmocka_unit_test(near_misses_show_no_misconception),
        cmocka_unit_test(a_corrected_program_shows_no_misconception),
        cmocka_unit_test(all_twenty_five_have_a_pair),
    };
    return cmocka_run_group_tests_name("misconceptions", tests, NULL, NULL);
}
