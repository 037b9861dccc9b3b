/* Every event says which call of the program it belongs to; of a call it is known what it returned, of an op its
 * numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <math.h>

#include "call_paths.h"
#include "recorded.h"
#include "tensor.h"

/* ---- calls ---- */

static void a_call_has_the_name_that_was_written(void **state)
{
    (void)state;
    begin();
    fy_tensor *x = fy_ones((2, 2)), *y = fy_cuda(x);
    assert_path("alloc", 0, "fy_ones");
    assert_path("copy", 0, "fy_cuda");
    const cJSON *call = told((int)number_of(event_of("copy", 0), "call"));
    assert_string_equal(text_of(call, "args"), "x");
    assert_int_equal((int)number_of(call, "line"), __LINE__ - 5);
    fy_free(y);
    assert_path("drop", 0, "fy_free");
    assert_path("free", 0, "fy_free");
    fy_free(x);
}

typedef struct twice {
    fy_module base;
} twice;

static fy_tensor *run_twice(void *self, fy_tensor *x)
{
    (void)self;
    return fy_mul(fy_add(x, x), 2);
}

static void the_librarys_own_calls_are_inside_the_programs(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((1, 2));
        fy_module *net = fy_sequential((fy_nn_linear(2, 2), &fy_module_new(twice, run_twice)->base));
        begin();
        fy_tensor *y = fy_call(net, x);
        assert_path("op", 0, "FY_SCOPE > fy_call > module Sequential > module 0 > fy_linear");
        assert_path("op", 1, "FY_SCOPE > fy_call > module Sequential > module 1 > fy_add");
        assert_path("op", 2, "FY_SCOPE > fy_call > module Sequential > module 1 > fy_mul");
        assert_true(cJSON_HasObjectItem(told((int)number_of(event_of("op", 1), "call")), "file"));
        assert_non_null(y);
        fy_module_free(net);
    }
    int last = 0;
    while (event_of("drop", last + 1)) last++;
    assert_path("drop", last, "FY_SCOPE");
}

static fy_tensor *called(fy_module *m, fy_tensor *x) { return fy_call(m, x); }

static fy_tensor *run_inner(void *self, fy_tensor *x)
{
    (void)self;
    fy_module *inner = &fy_module_new(twice, run_twice)->base;
    fy_tensor *y = called(inner, x);
    fy_module_free(inner);
    return y;
}

static void a_call_in_itself_at_one_place_is_the_programs(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2));
        fy_module *outer = &fy_module_new(twice, run_inner)->base;
        begin();
        called(outer, x);
        const char *of_op = path("op", 0);
        if (!strstr(of_op, "FY_SCOPE > fy_call > module") || !strstr(of_op + 12, " > fy_call > module"))
            fail_msg("%s", of_op);
        int ids = 0;
        for (int id = (int)number_of(event_of("op", 0), "call"); id > 0; id = (int)number_of(told(id), "in"))
            ids += !strcmp(text_of(told(id), "name"), "fy_call") && cJSON_HasObjectItem(told(id), "file");
        assert_int_equal(ids, 2);
        fy_module_free(outer);
    }
}

static void a_gradient_names_the_call_that_it_is_of(void **state)
{
    (void)state;
    FY_SCOPE
    {
        begin();
        fy_tensor *x = fy_ones((2), .requires_grad = true);
        fy_tensor *y = fy_exp(x), *loss = fy_sum(y);
        int made = __LINE__ - 1;
        fy_backward(loss);
        assert_path("backward", 0, "FY_SCOPE > fy_backward");
        for (int i = 0, seen = 0; event_of("graph", i) || !seen; i++) {
            const cJSON *e = event_of("graph", i), *call = e ? told((int)number_of(e, "call")) : NULL;
            assert_non_null(e);
            if (strcmp(text_of(e, "what"), "run") != 0 || strcmp(text_of(e, "op"), "exp") != 0) continue;
            seen = 1;
            assert_string_equal(text_of(call, "region"), "gradient");
            assert_string_equal(text_of(told((int)number_of(call, "of")), "name"), "fy_exp");
            assert_int_equal((int)number_of(e, "line"), made); /* the place of what is differentiated */
        }
    }
}

static void what_comes_later_belongs_to_the_call_that_caused_it(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((4), .device = "cuda");
        begin();
        fy_tensor *y = fy_neg(x);
        fy_cuda_synchronize();
        assert_path("complete", 0, "FY_SCOPE > fy_neg");
        assert_path("sync", 0, "FY_SCOPE > fy_cuda_synchronize");
        assert_non_null(y);
    }
}

static void a_call_without_an_effect_is_not_recorded(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2), .requires_grad = true);
        fy_optimizer *o = fy_optim_sgd((x), .lr = 0.1);
        begin();
        fy_zero_grad(o);
        assert_int_equal(fy_numel(x), 2);
        fy_mark("after");
        assert_string_equal(kinds(), "mark");
        assert_int_equal(cJSON_GetArraySize(field(event_of("mark", 0), "calls")), 1);
        fy_optimizer_free(o);
    }
}

/* ---- what a call returned, and its numbers ---- */

static bool is_inside(const cJSON *e, int call)
{
    int id = (int)number_of(e, "call");
    while (id > 0 && id != call) id = (int)number_of(told(id), "in");
    return id == call;
}

/* By the rule of lib/README.md: the last tensor that a call left, `same`, or what it wrote in place. */
static int returned(const char *name)
{
    const cJSON *e, *one;
    int call = 0, left = 0, same = 0, target = 0;
    recorded_read();
    cJSON_ArrayForEach(e, recorded_events)
        cJSON_ArrayForEach(one, field(e, "calls")) if (!strcmp(text_of(one, "name"), name)) call =
            (int)number_of(one, "id");
    assert_true(call > 0);
    cJSON_ArrayForEach(e, recorded_events)
    {
        const char *kind = text_of(e, "kind");
        bool inside = is_inside(e, call);
        if (inside && !strcmp(kind, "tensor") && !cJSON_IsTrue(field(e, "saved"))) left = (int)number_of(e, "tensor");
        if (inside && !strcmp(kind, "drop") && (int)number_of(e, "tensor") == left) left = 0;
        if (inside && !strcmp(kind, "same")) same = (int)number_of(e, "tensor");
        if (inside && !strcmp(kind, "op")) target = (int)number_of(cJSON_GetArrayItem(field(e, "out"), 0), "tensor");
    }
    return left ? left : same ? same : target;
}

#define assert_returned(name, x) assert_int_equal(returned(name), (int)(x)->id)

static void what_a_call_returned_follows_from_its_events(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *i = NULL, *x = fy_randn((3, 4)), *half = fy_to(x, FY_FLOAT16), *g = fy_cuda(x);
        begin();
        fy_tensor *sum = fy_add(x, x), *view = fy_t(x), *same = fy_to(g, "cuda"), *back = fy_cpu(g);
        fy_tensor *wide = fy_mul(half, x), *loss = fy_cross_entropy(x, fy_tensor((0, 1, 2)));
        assert_returned("fy_add", sum);
        assert_returned("fy_t", view);
        assert_returned("fy_to", same);
        assert_returned("fy_cpu", back);
        assert_returned("fy_mul", wide);
        assert_returned("fy_cross_entropy", loss);
        assert_returned("fy_add_", fy_add_(sum, 1));
        assert_null(event_of("results", 0));

        fy_tensor *values = fy_topk(x, 2, 1, .indices = &i);
        const cJSON *both = field(event_of("results", 0), "tensors");
        assert_int_equal(cJSON_GetArraySize(both), 2);
        assert_int_equal(cJSON_GetArrayItem(both, 0)->valueint, (int)values->id);
        assert_int_equal(cJSON_GetArrayItem(both, 1)->valueint, (int)i->id);
        assert_string_equal(values->name, "values");
        assert_string_equal(i->name, "i");
        fy_tensor *at = NULL, *most = fy_max(x, (1), .indices = &at);
        assert_string_equal(most->name, "most");
        assert_string_equal(at->name, "at");
        fy_tensors rows = fy_split(x, 1, 0);
        recorded_read();
        assert_int_equal(cJSON_GetArraySize(field(event_of("results", 2), "tensors")), (int)rows.n);
        assert_path("results", 2, "FY_SCOPE > fy_split");
    }
}

static void ops_record_their_numbers(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((3, 4));
        begin();
        fy_mul(x, 0.5), fy_sub(2, x), fy_add(x, x), fy_add(x, x, 0.1), fy_clamp(x, -1, INFINITY), fy_sum(x, (0, -1));
        fy_cat((x, fy_ones((2, 4))), 0), fy_addmm(x, x, fy_ones((4, 4)), 0, 3), fy_mul(fy_cuda(x), 3);
        static const char *const numbers[] = {
            "{\"other\":0.5}",
            "{\"self\":2}",
            "",
            "{\"alpha\":0.1}",
            "{\"min\":-1,\"max\":\"inf\"}",
            "{\"dim\":[0,-1]}",
            "{\"value\":1}",
            "{\"dim\":0,\"part\":0,\"start\":0}",
            "{\"dim\":0,\"part\":1,\"start\":3}",
            "{\"value\":1}",
            "{\"beta\":0,\"alpha\":3}",
            "{\"other\":3}",
        };
        for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++) {
            const cJSON *of = field(event_of("op", i), "numbers");
            char *text = of ? cJSON_PrintUnformatted(of) : NULL;
            assert_string_equal(text ? text : "", numbers[i]);
            cJSON_free(text);
        }
    }
}

/* ---- all logs ---- */

/* The golden logs: a call is told before an event has it, and only these have none. */
static void check_log(const char *name)
{
    char file[300];
    snprintf(file, sizeof file, "tests/golden/%s", name);
    size_t size = 0, room = 0;
    char *line = NULL;
    FILE *f = fopen(file, "r");
    bool *is_told = calloc(1 << 20, 1);
    assert_non_null(f);
    assert_non_null(is_told);
    while (getline(&line, &size, f) > 0) {
        cJSON *e = cJSON_Parse(line);
        const cJSON *call;
        cJSON_ArrayForEach(call, field(e, "calls")) is_told[(int)number_of(call, "id")] = true;
        int id = (int)number_of(e, "call");
        bool may_lack = strstr("session source end log_full", event_kind_of(e));
        if (id < 0 ? !may_lack : !is_told[id]) fail_msg("%s: %s", name, line);
        cJSON_Delete(e);
        room++;
    }
    assert_true(room > 0);
    free(is_told);
    free(line);
    fclose(f);
}

static void every_event_of_the_golden_logs_has_a_call(void **state)
{
    (void)state;
    DIR *d = opendir("tests/golden");
    int logs = 0;
    assert_non_null(d);
    for (const struct dirent *entry; (entry = readdir(d));) {
        const char *end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".jsonl") != 0 || !strncmp(entry->d_name, "handmade", 8)) continue;
        check_log(entry->d_name);
        logs++;
    }
    closedir(d);
    assert_true(logs > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_has_the_name_that_was_written),
        cmocka_unit_test(the_librarys_own_calls_are_inside_the_programs),
        cmocka_unit_test(a_call_in_itself_at_one_place_is_the_programs),
        cmocka_unit_test(a_gradient_names_the_call_that_it_is_of),
        cmocka_unit_test(what_comes_later_belongs_to_the_call_that_caused_it),
        cmocka_unit_test(a_call_without_an_effect_is_not_recorded),
        cmocka_unit_test(what_a_call_returned_follows_from_its_events),
        cmocka_unit_test(ops_record_their_numbers),
        cmocka_unit_test(every_event_of_the_golden_logs_has_a_call),
    };
    return cmocka_run_group_tests_name("call_record", tests, record_on_sim, record_no_more);
}
