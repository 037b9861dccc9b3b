/* findings_keeps_test.c: idle engines, memory held too long, and the wrong card. Each rule has three programs with a
 * finding, at the line that ends in HERE, and three near misses. */
#include "explained.h"

#define CARD "cuda"

static fy_tensor *on_host(int64_t n) { return fy_add(fy_ones((n)), fy_ones((n))); } /* not a constant */

/* ---- concurrent ---- */

enum { LARGE = 4 << 20 }; /* adding this many takes the card longer than WORTH_OVERLAPPING */

static void next_batch_behind_this_one(void)
{
    fy_tensor *next = on_host(LARGE), *w = fy_ones((LARGE), .device = CARD), *on_cuda = NULL;
    fy_tensor *y = fy_add(w, w);
    on_cuda = fy_to(next, CARD); /* HERE */
    fy_print(fy_sum(fy_add(on_cuda, y)));
}
static void result_home_before_the_next(void)
{
    fy_tensor *w = fy_ones((LARGE), .device = CARD), *a = fy_add(w, w), *back = NULL;
    back = fy_cpu(a); /* HERE */
    fy_print(fy_sum(fy_add(w, w)));
    fy_print(fy_sum(back));
}
static void pinned_but_in_the_same_stream(void)
{
    fy_tensor *next = fy_ones((LARGE), .pin_memory = true), *w = fy_ones((LARGE), .device = CARD);
    for (int i = 0; i < 3; i++) {
        fy_tensor *y = fy_add(w, w);
        fy_tensor *on_cuda = fy_to(next, CARD, .non_blocking = true); /* HERE */
        fy_relu_(next);
        fy_print(fy_sum(fy_add(on_cuda, y)));
    }
}
enum { SMALL = 1 << 16, OPS = 8 /* each takes the card less than WORTH_OVERLAPPING, all of them more */ };

static fy_tensor *small_ops(void)
{
    fy_tensor *w = fy_ones((SMALL), .device = CARD);
    for (int i = 0; i < OPS; i++) fy_relu_(w);
    return w;
}
static void behind_many_small_ops(void)
{
    fy_tensor *next = on_host(LARGE), *w = small_ops();
    fy_tensor *on_cuda = fy_to(next, CARD); /* HERE */
    fy_print(fy_sum(on_cuda));
    fy_print(w);
}
static void made_when_they_were_done(void)
{
    fy_tensor *w = small_ops(), *on_cuda = fy_to(on_host(LARGE), CARD);
    fy_print(fy_sum(on_cuda));
    fy_print(w);
}
static void into_what_they_wrote(void)
{
    fy_tensor *next = on_host(SMALL), *w = small_ops();
    fy_print(fy_copy_(w, next));
}
static void it_needs_what_is_copied(void)
{
    fy_tensor *x = fy_to(on_host(LARGE), CARD);
    fy_print(fy_sum(fy_cpu(fy_add(x, x))));
}
static void too_short_to_matter(void)
{
    fy_tensor *next = on_host(64), *w = fy_ones((64), .device = CARD), *y = fy_add(w, w);
    fy_print(fy_add(y, fy_to(next, CARD)));
}
static void a_wait_was_asked_for(void)
{
    fy_tensor *next = on_host(LARGE), *w = fy_ones((LARGE), .device = CARD), *y = fy_add(w, w);
    fy_cuda_synchronize();
    fy_print(fy_sum(fy_add(fy_to(next, CARD), y)));
}

static void independent_work_one_after_the_other(void **state)
{
    (void)state;
    const char *rule = "missed-overlap";
    EXPECT({rule, next_batch_behind_this_one, 1, NULL}, {rule, result_home_before_the_next, 1, NULL},
           {rule, pinned_but_in_the_same_stream, 3, NULL}, {rule, behind_many_small_ops, 1, NULL},
           {rule, made_when_they_were_done, 0, NULL}, {rule, into_what_they_wrote, 0, NULL},
           {rule, it_needs_what_is_copied, 0, NULL}, {rule, too_short_to_matter, 0, NULL},
           {rule, a_wait_was_asked_for, 0, NULL});
}

/* ---- leaks ---- */

static void one_a_turn(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 5; i++) fy_relu(x); /* HERE */
    fy_print(x);
}
static void copies_each_turn(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 5; i++) {
        fy_relu_(x);
        fy_print(fy_cpu(x)); /* HERE */
    }
}
static void losses(void)
{
    fy_tensor *x = on_host(64), *y = on_host(64);
    for (int i = 0; i < 4; i++) {
        fy_tensor *loss = fy_mse_loss(x, y); /* HERE */
        fy_item(loss);
    }
}
static void inner_results(void)
{
    fy_tensor *w = fy_ones((8, 8), .device = CARD);
    for (int i = 0; i < 5; i++) fy_free(fy_relu(fy_matmul(w, w))); /* HERE */
}
static void freed_each_turn(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 5; i++) fy_free(fy_relu(x));
}
static void in_a_scope(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 5; i++) FY_SCOPE
        {
            fy_print(fy_cpu(fy_relu(x)));
        }
}
static void layers_that_stay_in_use(void)
{
    fy_tensor *w[4], *x = fy_ones((8, 8), .device = CARD);
    for (int i = 0; i < 4; i++) w[i] = fy_randn((8, 8), .device = CARD);
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            x = fy_keep(fy_matmul(x, w[i]));
        }
    fy_print(x);
}

static void a_line_that_leaves_something_each_time(void **state)
{
    (void)state;
    EXPECT({"leak", one_a_turn, 5, NULL}, {"leak", copies_each_turn, 5, NULL}, {"leak", losses, 4, NULL},
           {"leak", inner_results, 5, NULL}, {"leak", freed_each_turn, 0, NULL}, {"leak", in_a_scope, 0, NULL},
           {"leak", layers_that_stay_in_use, 0, NULL});
}

/* A loop of several lines is one cause: reported once, at its first line, with all its leaks. */
static void a_training_loop(void)
{
    fy_tensor *x = fy_ones((64, 8), .device = CARD), *w = fy_ones((8, 1), .device = CARD);
    for (int i = 0; i < 20; i++) {
        fy_tensor *y = fy_matmul(x, w); /* HERE */
        fy_tensor *d = fy_sub(y, 1);
        fy_sub_(w, fy_mul(fy_matmul(fy_t(x), d), 0.001));
        if (i % 5 == 0) fy_print(fy_mean(d));
    }
}
static void on_both_sides(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 5; i++) {
        fy_tensor *y = fy_relu(x);
        fy_print(fy_sum(fy_cpu(y)));
    }
}
static void two_loops(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 5; i++) fy_print(fy_relu(x));
    for (int i = 0; i < 5; i++) fy_print(fy_neg(x));
}

static void found_in(void (*run)(void), findings *f)
{
    char path[64] = "/tmp/ferry-findings-XXXXXX", err[512];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    record_program(&(explained){"leak", run, 1, NULL}, path);
    assert_true(findings_of_file(f, path, err, sizeof err));
    unlink(path);
}

static void losses_with_their_graphs(void)
{
    fy_tensor *w = fy_ones((64, 1), .device = CARD, .requires_grad = true), *total = fy_zeros((1, 1), .device = CARD);
    for (int i = 0; i < 8; i++) FY_SCOPE
        {
            fy_tensor *x = fy_mul(fy_ones((1, 64), .device = CARD), i);
            total = fy_keep(fy_add(total, fy_matmul(x, w)));
        }
    fy_print(total);
}

/* A scope frees the handle, not what a graph holds. */
static void a_leak_that_a_graph_holds_is_mended_there(void **state)
{
    (void)state;
    findings f;
    found_in(losses_with_their_graphs, &f);
    assert_non_null(finding_of(&f, "leak", 0));
    assert_non_null(strstr(finding_of(&f, "leak", 0)->fix, "fy_detach"));
    findings_free(&f);
    found_in(one_a_turn, &f);
    assert_null(strstr(finding_of(&f, "leak", 0)->fix, "fy_detach"));
    findings_free(&f);
}

static void one_loop_is_one_leak(void **state)
{
    (void)state;
    static const char *const told[] = {
        "y (this line)",         "d (line ", "the result of mul (line ", "the result of mean (line ", ", 4 times)",
        "every iteration leaves"};
    findings f;
    EXPECT({"leak", a_training_loop, 20, NULL});
    found_in(a_training_loop, &f);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (!strstr(finding_of(&f, "leak", 0)->what, told[i]))
            fail_msg("'%s' wanted in: %s", told[i], finding_of(&f, "leak", 0)->what);
    findings_free(&f);
    found_in(on_both_sides, &f);
    const char *what = finding_of(&f, "leak", 0)->what;
    if (!strstr(what, " on cuda:0 and the CPU that nothing uses")) fail_msg("both places wanted in: %s", what);
    findings_free(&f);
    found_in(two_loops, &f);
    assert_non_null(finding_of(&f, "leak", 1));
    assert_null(finding_of(&f, "leak", 2));
    findings_free(&f);
}

/* ---- small views ---- */

static void a_row_of_a_large_one(void)
{
    fy_tensor *x = fy_ones((512, 512), .device = CARD), *row = NULL;
    row = fy_select(x, 0, 3); /* HERE */
    fy_free(x);
    fy_print(fy_sum(row));
}
static void kept_out_of_a_scope(void)
{
    fy_tensor *first = NULL;
    FY_SCOPE { first = fy_keep(fy_narrow(fy_add(on_host(1 << 16), on_host(1 << 16)), 0, 0, 8)); /* HERE */ }
    fy_print(fy_add(first, first));
}
static void one_of_each_batch(void)
{
    fy_tensor *all[3];
    for (int i = 0; i < 3; i++) {
        fy_tensor *batch = fy_randn((256, 256), .device = CARD);
        all[i] = fy_select(batch, 0, 0); /* HERE */
        fy_free(batch);
    }
    fy_print(fy_stack((all[0], all[1], all[2]), 0));
}
static void a_copy_of_the_row(void)
{
    fy_tensor *x = fy_ones((512, 512), .device = CARD), *part = fy_select(x, 0, 3), *row = fy_clone(part);
    fy_free(part);
    fy_free(x);
    fy_print(fy_sum(row));
}
static void the_large_one_stays(void)
{
    fy_tensor *x = fy_ones((512, 512), .device = CARD), *row = fy_select(x, 0, 3);
    fy_print(fy_add(fy_sum(row), fy_sum(x)));
}
static void half_of_it(void)
{
    fy_tensor *x = fy_ones((512, 512), .device = CARD), *half = fy_narrow(x, 0, 0, 256);
    fy_free(x);
    fy_print(fy_sum(half));
}

static void a_small_view_keeps_a_large_tensor(void **state)
{
    (void)state;
    const char *rule = "small-view-keeps-all";
    EXPECT({rule, a_row_of_a_large_one, 1, NULL}, {rule, kept_out_of_a_scope, 1, NULL},
           {rule, one_of_each_batch, 3, NULL}, {rule, a_copy_of_the_row, 0, NULL}, {rule, the_large_one_stays, 0, NULL},
           {rule, half_of_it, 0, NULL});
}

/* ---- which card ---- */

static void named_while_another_is_current(void)
{
    fy_cuda_set_device(1);
    fy_tensor *x = fy_ones((64), .device = "cuda:0"); /* HERE */
    fy_print(x);
}
static void sent_while_another_is_current(void)
{
    fy_tensor *x = on_host(64), *on_cuda = NULL;
    fy_cuda_set_device(1);
    on_cuda = fy_cuda(x, 0); /* HERE */
    fy_print(on_cuda);
}
static void on_each_but_the_current_one(void)
{
    fy_cuda_set_device(1);
    fy_cuda_set_device(0);
    for (int i = 0; i < 3; i++) fy_print(fy_zeros((4), .device = "cuda:1")); /* HERE */
}
static void never_set(void) { fy_print(fy_zeros((4), .device = "cuda:1")); }
static void on_the_current_one(void)
{
    fy_cuda_set_device(1);
    fy_print(fy_zeros((4), .device = CARD));
    fy_print(fy_to(on_host(4), "cuda:1"));
}
static void work_follows_its_operands(void)
{
    fy_tensor *x = fy_zeros((4), .device = CARD);
    fy_cuda_set_device(1);
    fy_print(fy_add(x, x));
}

static void another_card_than_the_current_one(void **state)
{
    (void)state;
    const char *rule = "not-the-current-card", *two = "h200:gpus=2";
    EXPECT({rule, named_while_another_is_current, 1, two}, {rule, sent_while_another_is_current, 1, two},
           {rule, on_each_but_the_current_one, 3, two}, {rule, never_set, 0, two}, {rule, on_the_current_one, 0, two},
           {rule, work_follows_its_operands, 0, two});
}

static void left_on_the_other_card(void)
{
    fy_print(fy_zeros((4), .device = CARD));
    fy_cuda_set_device(1); /* HERE */
    fy_print(fy_zeros((4), .device = CARD));
}
static void put_back_and_left_again(void)
{
    fy_print(fy_zeros((4), .device = CARD));
    fy_cuda_set_device(1);
    fy_cuda_set_device(0);
    fy_cuda_set_device(1); /* HERE */
    fy_print(fy_zeros((4), .device = CARD));
}
static void the_old_ones_are_used_on(void)
{
    fy_tensor *x = fy_zeros((4), .device = CARD);
    fy_cuda_set_device(1); /* HERE */
    fy_print(fy_ones((4), .device = CARD));
    fy_print(fy_add(x, x));
}
static void put_back(void)
{
    fy_cuda_set_device(1);
    fy_print(fy_zeros((4), .device = CARD));
    fy_cuda_set_device(0);
    fy_print(fy_zeros((4), .device = CARD));
}
static void the_other_card_alone(void)
{
    fy_cuda_set_device(1);
    fy_print(fy_zeros((4), .device = CARD));
}
static void the_host_alone_before(void)
{
    fy_print(on_host(4));
    fy_cuda_set_device(1);
    fy_print(fy_to(on_host(4), CARD));
}

static void the_current_card_is_left_changed(void **state)
{
    (void)state;
    const char *rule = "current-device-not-restored", *two = "h200:gpus=2";
    EXPECT({rule, left_on_the_other_card, 1, two}, {rule, put_back_and_left_again, 1, two},
           {rule, the_old_ones_are_used_on, 1, two}, {rule, put_back, 0, two}, {rule, the_other_card_alone, 0, two},
           {rule, the_host_alone_before, 0, two});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_work_one_after_the_other),
        cmocka_unit_test(a_line_that_leaves_something_each_time),
        cmocka_unit_test(one_loop_is_one_leak),
        cmocka_unit_test(a_leak_that_a_graph_holds_is_mended_there),
        cmocka_unit_test(a_small_view_keeps_a_large_tensor),
        cmocka_unit_test(another_card_than_the_current_one),
        cmocka_unit_test(the_current_card_is_left_changed),
    };
    return cmocka_run_group_tests_name("findings_keeps", tests, NULL, NULL);
}
