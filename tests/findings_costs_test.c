/* findings_costs_test.c: copies that cost more than they save, an idle host or card, memory held too long, and the
 * wrong card. Each rule has three programs with a finding, at the line that ends in HERE, and three near misses. */
#include "explained.h"
#include "findings_log.h"

#define CARD "cuda"

static fy_tensor *on_host(int64_t n) { return fy_add(fy_ones((n)), fy_ones((n))); } /* not a constant */

/* ---- many small copies ---- */

static void row_by_row(void)
{
    fy_tensor *x = fy_view(on_host(4096), (8, 512)), *rows[8];
    for (int i = 0; i < 8; i++) rows[i] = fy_to(fy_select(x, 0, i), CARD); /* HERE */
    for (int i = 0; i < 8; i++) fy_relu_(rows[i]);
    fy_print(fy_stack((rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7]), 0));
}
static void small_results_home(void)
{
    fy_tensor *x = fy_view(fy_ones((64), .device = CARD), (8, 8));
    for (int i = 0; i < 8; i++) fy_print(fy_cpu(fy_select(x, 0, i))); /* HERE */
}
static void four_lists(void)
{
    fy_tensor *x[4], *sum = fy_zeros((64), .device = CARD);
    for (int i = 0; i < 4; i++) x[i] = on_host(64);
    for (int i = 0; i < 4; i++) fy_add_(sum, fy_to(x[i], CARD)); /* HERE */
    fy_print(sum);
}
static void three_are_not_many(void)
{
    fy_tensor *x = fy_view(on_host(4096), (8, 512));
    for (int i = 0; i < 3; i++) fy_item(fy_sum(fy_cpu(fy_relu(fy_to(fy_select(x, 0, i), CARD)))));
}
static void each_is_made_when_it_goes(void)
{
    fy_tensor *sum = fy_zeros((64), .device = CARD);
    for (int i = 0; i < 8; i++) fy_add_(sum, fy_to(on_host(64), CARD));
    fy_print(sum);
}
static void they_are_large(void)
{
    fy_tensor *x[4], *sum = fy_zeros((1 << 16), .device = CARD);
    for (int i = 0; i < 4; i++) x[i] = on_host(1 << 16);
    for (int i = 0; i < 4; i++) fy_add_(sum, fy_to(x[i], CARD));
    fy_print(fy_sum(sum));
}

static void small_copies_in_a_row(void **state)
{
    (void)state;
    EXPECT({"many-small-copies", row_by_row, 1, NULL}, {"many-small-copies", small_results_home, 1, NULL},
           {"many-small-copies", four_lists, 1, NULL}, {"many-small-copies", three_are_not_many, 0, NULL},
           {"many-small-copies", each_is_made_when_it_goes, 0, NULL}, {"many-small-copies", they_are_large, 0, NULL});
}

/* ---- copies that cost more than the work ---- */

static void a_small_sum(void)
{
    fy_tensor *x = fy_to(on_host(1024), CARD);
    fy_tensor *y = fy_add(x, x); /* HERE */
    fy_print(fy_cpu(y));
}
static void a_large_sum(void) /* moving costs more than adding at any size */
{
    fy_tensor *x = fy_to(on_host(1 << 20), CARD);
    fy_tensor *y = fy_relu(x); /* HERE */
    fy_print(fy_sum(fy_cpu(y)));
}
static void each_turn_by_itself(void)
{
    fy_tensor *x = on_host(64);
    for (int i = 0; i < 3; i++) {
        fy_tensor *on_cuda = fy_to(x, CARD);
        x = fy_cpu(fy_relu(on_cuda)); /* HERE */
    }
    fy_print(x);
}
static void a_large_product(void)
{
    fy_tensor *x = fy_to(fy_view(on_host(512 * 512), (512, 512)), CARD);
    fy_print(fy_cpu(fy_matmul(x, x)));
}
static void much_with_the_same_data(void)
{
    fy_tensor *x = fy_to(on_host(1 << 20), CARD);
    for (int i = 0; i < 10; i++) fy_add_(x, x);
    fy_print(fy_sum(fy_cpu(x)));
}
static void its_size_alone_comes_home(void)
{
    fy_tensor *x = fy_to(on_host(1024), CARD);
    fy_nonzero(x);
}
static void nothing_had_to_go_there(void) { fy_print(fy_cpu(fy_relu(fy_ones((64), .device = CARD)))); }

static void copies_that_cost_more_than_their_op(void **state)
{
    (void)state;
    const char *rule = "copies-cost-more-than-op";
    EXPECT({rule, a_small_sum, 1, NULL}, {rule, a_large_sum, 1, NULL}, {rule, each_turn_by_itself, 3, NULL},
           {rule, a_large_product, 0, NULL}, {rule, much_with_the_same_data, 0, NULL},
           {rule, nothing_had_to_go_there, 0, NULL}, {rule, its_size_alone_comes_home, 0, NULL});
}

/* Weights and data copied once, before a loop that reads them. */
static void brought_once_for_a_loop(void)
{
    fy_tensor *x = fy_to(on_host(64), CARD), *t = fy_to(fy_randn((64)), CARD), *w = fy_to(fy_randn((64)), CARD);
    fy_tensor *b = fy_to(fy_zeros((64)), CARD);
    for (int i = 0; i < 20; i++) FY_SCOPE
        {
            fy_tensor *d = fy_sub(fy_add(fy_mul(x, w), b), t);
            fy_sub_(w, fy_mul(d, 0.001));
            fy_sub_(b, fy_mul(d, 0.001));
        }
    fy_print(fy_cpu(w));
}
static void brought_for_each_round(void)
{
    for (int round = 0; round < 3; round++) {
        fy_tensor *noise = fy_randn((64)), *x = NULL;
        x = fy_to(noise, CARD); /* HERE */
        for (int i = 0; i < 5; i++) fy_add_(x, x);
        fy_item(fy_sum(x));
    }
}

static void what_is_brought_once_before_a_loop_is_no_waste(void **state)
{
    (void)state;
    EXPECT({"copies-cost-more-than-op", brought_once_for_a_loop, 0, NULL},
           {"created-then-moved", brought_once_for_a_loop, 0, NULL},
           {"many-small-copies", brought_once_for_a_loop, 0, NULL},
           {"created-then-moved", brought_for_each_round, 3, NULL});
}

/* Created on the card: nothing was copied for it. */
static void weights_of_the_card(void)
{
    fy_tensor *w = fy_randn((64), .device = CARD), *x = on_host(64);
    fy_tensor *on_cuda = fy_to(x, CARD);
    fy_tensor *y = fy_mul(on_cuda, w); /* HERE */
    fy_print(fy_cpu(y));
}

static void a_costly_copy_names_its_tensor(void **state)
{
    (void)state;
    handmade h;
    log_begin(&h);
    log_alloc(&h, 3, 1, "cpu", "pageable", 64);
    log_alloc(&h, 4, 2, "cuda:0", "device", 64);
    log_alloc(&h, 5, 3, "cpu", "pageable", 64);
    log_op(&h, 4, "cuda:0", 0, 2, 2); /* created on the card */
    log_complete(&h, 0, 10, "compute");
    log_copy(&h, 6, 1, "cpu", 2, "cuda:0", 64, "h2d", PAGEABLE_D2H);
    log_complete(&h, 0, 5000, "h2d");
    log_op(&h, 7, "cuda:0", 0, 2, 2);
    log_complete(&h, 0, 10, "compute");
    log_copy(&h, 8, 2, "cuda:0", 3, "cpu", 64, "d2h", PAGEABLE_D2H);
    log_complete(&h, 0, 5000, "d2h");
    log_end(&h);
    findings f = findings_of_log(&h);
    const finding *x = one_of(&f, "copies-cost-more-than-op");
    assert_non_null(x);
    assert_int_equal(x->line, 7);
    assert_string_equal(x->what,
                        "t1 (line 6) was copied to cuda:0 for relu and 1 more operation, and t2 (line 8) was copied "
                        "back: the copies took 16.0 us, and the card was 7020 ns slower than the modelled CPU.");
    findings_free(&f);
    hand_end(&h);
    EXPECT({"copies-cost-more-than-op", weights_of_the_card, 1, NULL});
}

/* ---- waiting at every step ---- */

static void item_at_every_step(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    double total = 0;
    for (int i = 0; i < 5; i++) {
        fy_relu_(x);
        total += fy_item(fy_sum(x)); /* HERE */
    }
    printf("%f\n", total);
}
static void print_at_every_step(void)
{
    fy_tensor *x = fy_ones((4), .device = CARD);
    for (int i = 0; i < 3; i++) {
        fy_add_(x, x);
        fy_print(x); /* HERE */
    }
}
static void until_it_is_small(void)
{
    fy_tensor *x = fy_full((1), 64.0, .device = CARD), *half = fy_full((1), 0.5, .device = CARD);
    while (fy_item(x) > 1) /* HERE */
        fy_mul_(x, half);
}
static void item_after_the_loop(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 5; i++) fy_relu_(x);
    fy_item(fy_sum(x));
}
static void item_every_few_steps(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 50; i++) {
        fy_relu_(x);
        if (i % 10 == 0) fy_item(fy_sum(x));
    }
}
static void item_at_home(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD), *loss = on_host(1);
    for (int i = 0; i < 5; i++) {
        fy_relu_(x);
        fy_item(loss);
    }
}

/* The result's size is copied to the host implicitly. */
static void picked_at_every_step(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 4; i++) {
        fy_relu_(x);
        fy_sum(fy_masked_select(x, fy_gt(x, 0))); /* HERE */
    }
}
static void masked_at_every_step(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 4; i++) {
        fy_relu_(x);
        fy_sum(fy_where(fy_gt(x, 0), x, 0));
    }
}

static void a_look_at_every_step(void **state)
{
    (void)state;
    EXPECT({"hidden-sync", item_at_every_step, 5, NULL}, {"hidden-sync", print_at_every_step, 3, NULL},
           {"hidden-sync", until_it_is_small, 7, NULL}, {"hidden-sync", item_after_the_loop, 0, NULL},
           {"hidden-sync", item_every_few_steps, 0, NULL}, {"hidden-sync", item_at_home, 0, NULL},
           {"hidden-sync", picked_at_every_step, 4, NULL}, {"hidden-sync", masked_at_every_step, 0, NULL});
}

static void wait_at_every_step(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 4; i++) {
        fy_relu_(x);
        fy_cuda_synchronize(); /* HERE */
    }
}
static void wait_after_every_copy(void)
{
    for (int i = 0; i < 3; i++) {
        fy_tensor *x = fy_to(on_host(64), CARD);
        fy_cuda_synchronize(); /* HERE */
        fy_item(fy_sum(x));
    }
}
static void wait_before_every_step(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 6; i++) {
        fy_cuda_synchronize(); /* HERE */
        fy_add_(x, x);
        fy_relu_(x);
    }
}
static void wait_after_the_loop(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 4; i++) fy_relu_(x);
    fy_cuda_synchronize();
}
static void wait_at_two_places(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    fy_cuda_synchronize();
    for (int i = 0; i < 4; i++) fy_relu_(x);
    fy_cuda_synchronize();
}
static void wait_once_a_round(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 10; j++) fy_relu_(x);
        fy_cuda_synchronize();
    }
}

static void the_whole_card_at_every_step(void **state)
{
    (void)state;
    const char *rule = "device-sync-in-loop";
    EXPECT({rule, wait_at_every_step, 4, NULL}, {rule, wait_after_every_copy, 3, NULL},
           {rule, wait_before_every_step, 6, NULL}, {rule, wait_after_the_loop, 0, NULL},
           {rule, wait_at_two_places, 0, NULL}, {rule, wait_once_a_round, 0, NULL});
}

/* ---- stale ---- */

static void the_copy_at_home_is_old(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD), *seen = fy_cpu(x);
    fy_add_(x, x);
    fy_print(seen); /* HERE */
}
static void the_copy_there_is_old(void)
{
    fy_tensor *x = on_host(64), *on_cuda = fy_to(x, CARD);
    fy_relu_(x);
    fy_tensor *y = fy_add(on_cuda, on_cuda); /* HERE */
    fy_print(y);
}
static void changed_there_and_read_here(void)
{
    fy_tensor *x = on_host(64), *on_cuda = fy_to(x, CARD);
    fy_add_(on_cuda, on_cuda);
    fy_print(x); /* HERE */
}
static void copied_again(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD), *seen = fy_cpu(x);
    fy_add_(x, x);
    fy_copy_(seen, x);
    fy_print(seen);
}
static void a_buffer_filled_again_and_sent(void)
{
    fy_tensor *x = on_host(64), *on_cuda = fy_to(x, CARD);
    for (int i = 0; i < 3; i++) {
        fy_relu_(x);
        fy_item(fy_sum(on_cuda));
        on_cuda = fy_to(x, CARD);
    }
    fy_item(fy_sum(on_cuda));
}
static void worked_on_there_and_read_here(void)
{
    fy_tensor *x = on_host(64), *on_cuda = fy_to(x, CARD);
    fy_relu_(on_cuda);
    fy_print(fy_sum(on_cuda));
    fy_print(x);
}

static void the_older_of_two_copies_is_read(void **state)
{
    (void)state;
    EXPECT({"stale-read", the_copy_at_home_is_old, 1, NULL}, {"stale-read", the_copy_there_is_old, 1, NULL},
           {"stale-read", changed_there_and_read_here, 1, NULL}, {"stale-read", copied_again, 0, NULL},
           {"stale-read", a_buffer_filled_again_and_sent, 0, NULL},
           {"stale-read", worked_on_there_and_read_here, 0, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_copies_in_a_row),
        cmocka_unit_test(copies_that_cost_more_than_their_op),
        cmocka_unit_test(what_is_brought_once_before_a_loop_is_no_waste),
        cmocka_unit_test(a_costly_copy_names_its_tensor),
        cmocka_unit_test(a_look_at_every_step),
        cmocka_unit_test(the_whole_card_at_every_step),
        cmocka_unit_test(the_older_of_two_copies_is_read),
    };
    return cmocka_run_group_tests_name("findings_costs", tests, NULL, NULL);
}
