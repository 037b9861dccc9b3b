/* The steps of `ferry where` are the calls that the log tells; what FY_TIMES numbers has that number in its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "event_reader.h"
#include "handmade.h"
#include "recorded.h"
#include "where.h"

/* ---- what is said of the log of this process ---- */

typedef enum way { SLOTS, LINES, WITHOUT_TEXTS } way;

static where *read_log(way by)
{
    where *w = where_begin();
    uint64_t cursor = 0;
    char err[256];
    fy_text lines = {0};
    fy_event e;
    while (by == LINES && fy_log_read(recorded_log, &cursor, &lines, 1 << 16)) continue;
    if (by == LINES) assert_true(trace_each(lines.data, lines.size, where_add, w, err, sizeof err));
    free(lines.data);
    while (by != LINES && fy_event_next(recorded_log, &cursor, &e)) {
        if (by == WITHOUT_TEXTS && e.kind == FY_KIND_source) e.is.source.text = 0;
        where_add(w, &e);
    }
    return w;
}

static int earlier; /* steps before this test's */

static void begin(void)
{
    where *w;
    fy_mark("a test begins");
    w = read_log(SLOTS);
    earlier = steps_count(where_steps(w));
    where_free(w);
}

/* The lines of the program at which the steps are, since begin(). */
static const char *lines_of_steps(void)
{
    static char text[4000];
    where *w = read_log(SLOTS);
    const steps *all = where_steps(w);
    size_t n = 0, size;
    *text = 0;
    for (int i = earlier; i < steps_count(all); i++) {
        const step *s = steps_at(all, i);
        const char *line = steps_source(all, s->file, s->line, &size);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s", n ? "\n" : "", (int)size, line);
        assert_true(n < sizeof text);
        assert_int_equal(s->from, steps_at(all, i - 1)->to + 1);
    }
    where_free(w);
    return text;
}

static char *list_of(way by)
{
    char *text = NULL;
    size_t size;
    where *w = read_log(by);
    FILE *out = open_memstream(&text, &size);
    where_list(w, out);
    fclose(out);
    where_free(w);
    return text;
}

/* Is there a tensor of this name? */
static bool is_known(const char *name)
{
    char err[600];
    where *w = read_log(SLOTS);
    FILE *out = fopen("/dev/null", "w");
    bool known = where_print(w, name, steps_count(where_steps(w)), out, err, sizeof err);
    fclose(out);
    where_free(w);
    return known;
}

/* ---- steps ---- */

static void a_backward_pass_is_one_step(void **state)
{
    (void)state;
    fy_tensor *w = fy_ones((2, 2), .device = "cuda", .requires_grad = true);
    begin();
    fy_tensor *y = fy_mul(w, w);
    fy_tensor *loss = fy_sum(y);
    fy_backward(loss);
    fy_print(fy_grad(w));
    assert_string_equal(lines_of_steps(), "fy_tensor *y = fy_mul(w, w);\n"
                                          "fy_tensor *loss = fy_sum(y);\n"
                                          "fy_backward(loss);\n"
                                          "fy_print(fy_grad(w));");
    fy_free(loss), fy_free(y), fy_free(w);
}

static void a_call_of_several_kernels_is_one_step(void **state)
{
    (void)state;
    fy_tensor *x = fy_randn((4, 4)), *places = NULL;
    begin();
    fy_tensor *best = fy_topk(x, 2, 1, .indices = &places);
    fy_tensor *spread = fy_var(x, (1));
    assert_string_equal(lines_of_steps(), "fy_tensor *best = fy_topk(x, 2, 1, .indices = &places);\n"
                                          "fy_tensor *spread = fy_var(x, (1));");
    fy_free(spread), fy_free(best), fy_free(places), fy_free(x);
}

static void two_calls_of_one_line_are_two_steps(void **state)
{
    (void)state;
    begin();
    fy_tensor *sum = fy_add(fy_ones((2)), 1);
    FY_SCOPE fy_add(sum, sum);
    assert_string_equal(lines_of_steps(), "fy_tensor *sum = fy_add(fy_ones((2)), 1);\n"
                                          "fy_tensor *sum = fy_add(fy_ones((2)), 1);\n"
                                          "FY_SCOPE fy_add(sum, sum);\n"
                                          "FY_SCOPE fy_add(sum, sum);");
    fy_free(sum);
}

typedef struct own {
    fy_module base;
} own;

static fy_tensor *run_own(void *self, fy_tensor *x)
{
    (void)self;
    fy_tensor *more = fy_add(x, 1);
    return fy_relu(more);
}

/* A layer of the library is one step; calls of the program's own forward function are steps of their own, and what
 * fy_call drops behind them is another one of it. */
static void what_a_forward_function_calls_is_a_step(void **state)
{
    (void)state;
    fy_module *mine = &fy_module_new(own, run_own)->base, *layer = fy_nn_linear(2, 2);
    begin();
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((1, 2));
        fy_tensor *y = fy_call(mine, x);
        fy_call(layer, y);
    }
    assert_string_equal(lines_of_steps(), "fy_tensor *x = fy_ones((1, 2));\n"
                                          "fy_tensor *more = fy_add(x, 1);\n"
                                          "return fy_relu(more);\n"
                                          "fy_tensor *y = fy_call(mine, x);\n"
                                          "fy_call(layer, y);\n"
                                          "FY_SCOPE");
    fy_module_free(layer), fy_module_free(mine);
}

static void the_end_of_a_turn_is_a_step_of_it(void **state)
{
    (void)state;
    begin();
    FY_TIMES (i, 2) {
        fy_ones((2));
    }
    assert_string_equal(lines_of_steps(), "fy_ones((2));\nFY_TIMES (i, 2) {\nfy_ones((2));\nFY_TIMES (i, 2) {");
}

static void slots_and_lines_have_the_same_steps(void **state)
{
    (void)state;
    char *slots = list_of(SLOTS), *lines = list_of(LINES);
    assert_string_equal(slots, lines);
    assert_non_null(strstr(slots, "where_steps_test.c"));
    free(slots), free(lines);
}

static void steps_need_no_text_of_the_program(void **state)
{
    (void)state;
    where *one = read_log(SLOTS), *other = read_log(WITHOUT_TEXTS);
    const steps *a = where_steps(one), *b = where_steps(other);
    assert_int_equal(steps_count(a), steps_count(b));
    assert_true(steps_count(a) > 20);
    for (int i = 0; i < steps_count(a); i++) {
        const step *s = steps_at(a, i), *t = steps_at(b, i);
        assert_true(s->from == t->from && s->to == t->to && s->line == t->line);
    }
    where_free(one), where_free(other);
}

/* "0-1 2-4": which events each step of a handwritten log has. */
static void assert_steps(handmade *h, const char *want)
{
    char said[400] = "", err[256];
    size_t n = 0;
    where *w = where_begin();
    if (!trace_each(h->text, h->size, where_add, w, err, sizeof err)) fail_msg("%s", err);
    for (int i = 0; i < steps_count(where_steps(w)); i++) {
        const step *s = steps_at(where_steps(w), i);
        n += (size_t)snprintf(said + n, sizeof said - n, "%s%d-%d", n ? " " : "", (int)s->from, (int)s->to);
    }
    assert_string_equal(said, want);
    where_free(w);
    hand_end(h);
}

static void events_without_a_call_go_together(void **state)
{
    (void)state;
    handmade h = {0};
    hand(&h, "'kind':'session'");
    hand(&h, "'kind':'source','path':'a.c','text':''");
    hand(&h, "'kind':'lost'"), hand(&h, "'kind':'lost'");
    hand(&h, "'kind':'drop','tensor':1,'why':'exit'"), hand(&h, "'kind':'free','storage':1");
    hand(&h, "'kind':'end','status':0");
    hand(&h, "'kind':'check','name':'a'"), hand(&h, "'kind':'check','name':'b'"), hand(&h, "'kind':'grade'");
    assert_steps(&h, "0-1 2-3 4-5 6-6 7-9");
}

static void the_end_belongs_to_the_error_before_it(void **state)
{
    (void)state;
    handmade h = {0};
    hand(&h, "'kind':'session'");
    hand(&h, "'kind':'error','code':'shape','line':3,'file':'a.c'");
    hand(&h, "'kind':'end','status':1");
    assert_steps(&h, "0-0 1-2");
}

/* Results of earlier calls are logged when a call waits: they are of that call's step. */
static void results_are_of_the_step_behind_them(void **state)
{
    (void)state;
    handmade h = {0};
    hand(&h, "'kind':'op','id':1,'name':'add','line':3,'file':'a.c'");
    hand(&h, "'kind':'complete','id':1");
    hand(&h, "'kind':'values','tensor':1,'work':1"), hand(&h, "'kind':'values','tensor':2,'work':1");
    hand(&h, "'kind':'sync','line':4,'file':'a.c'");
    hand(&h, "'kind':'values','tensor':1");
    hand(&h, "'kind':'mark','line':5,'file':'a.c'");
    assert_steps(&h, "0-1 2-5 6-6");
}

static void each_thread_has_steps_of_its_own(void **state)
{
    (void)state;
    static const char lines[] =
        "{\"seq\":0,\"t\":0,\"kind\":\"drop\",\"th\":0,\"calls\":[{\"id\":1,\"name\":\"fy_ones\",\"file\":\"a.c\","
        "\"line\":3}],\"call\":1,\"tensor\":1}\n"
        "{\"seq\":1,\"t\":0,\"kind\":\"drop\",\"th\":1,\"call\":1,\"tensor\":2}\n"
        "{\"seq\":2,\"t\":0,\"kind\":\"drop\",\"th\":1,\"call\":1,\"tensor\":3}\n"
        "{\"seq\":3,\"t\":0,\"kind\":\"drop\",\"th\":0,\"call\":1,\"tensor\":4}\n";
    handmade h = {0};
    hand_bytes(&h, lines, strlen(lines));
    assert_steps(&h, "0-0 1-2 3-3");
}

/* ---- names ---- */

static fy_tensor *first[4], *second[4], *third[4];

static void other_function(int i) { third[i] = fy_zeros((2)); }

static void a_name_has_the_number_of_its_turn(void **state)
{
    (void)state;
    FY_TIMES (i, 2) {
        first[i] = fy_zeros((2));
        FY_TIMES (k, 2) {
            second[k + 1] = fy_zeros((2));
            second[i] = fy_ones((2));
        }
        other_function(i);
    }
    assert_true(is_known("first[0]") && is_known("first[1]") && !is_known("first[2]"));
    assert_true(is_known("second[1]") && is_known("second[2]") && is_known("second[0]"));
    assert_false(is_known("first[i]") || is_known("second[k + 1]"));
    assert_true(is_known("third[i]")); /* that i is another function's own */
}

/* A plain for tells nothing of its turns. */
static void other_names_stay_as_written(void **state)
{
    (void)state;
    fy_tensor *plain[2], *odd[8];
    for (int i = 0; i < 2; i++) plain[i] = fy_zeros((2));
    FY_TIMES (k, 2) odd[2 * k] = fy_zeros((2));
    assert_true(is_known("plain[i]") && is_known("odd[2 * k]"));
    assert_false(is_known("plain[0]") || is_known("odd[0]"));
    fy_free(plain[0]), fy_free(plain[1]);
    (void)odd;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backward_pass_is_one_step),
        cmocka_unit_test(a_call_of_several_kernels_is_one_step),
        cmocka_unit_test(two_calls_of_one_line_are_two_steps),
        cmocka_unit_test(what_a_forward_function_calls_is_a_step),
        cmocka_unit_test(the_end_of_a_turn_is_a_step_of_it),
        cmocka_unit_test(slots_and_lines_have_the_same_steps),
        cmocka_unit_test(steps_need_no_text_of_the_program),
        cmocka_unit_test(events_without_a_call_go_together),
        cmocka_unit_test(the_end_belongs_to_the_error_before_it),
        cmocka_unit_test(results_are_of_the_step_behind_them),
        cmocka_unit_test(each_thread_has_steps_of_its_own),
        cmocka_unit_test(a_name_has_the_number_of_its_turn),
        cmocka_unit_test(other_names_stay_as_written),
    };
    return cmocka_run_group_tests(tests, record_on_sim, record_no_more);
}
