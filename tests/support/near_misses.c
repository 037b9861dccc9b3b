/* near_misses.c: see near_misses.h. */
#include "near_misses.h"

#include "training_programs.h"

/* ---- correct programs ---- */

static void what_the_call_takes_and_what_the_work_takes(void)
{
    fy_tensor *x = fy_ones((1 << 16), .pin_memory = true), *y = fy_zeros((1 << 16), .device = CARD);
    fy_copy_(x, host_tensor(1 << 16));
    fy_cuda_synchronize();
    int64_t start = fy_now();
    fy_copy_(y, x, .non_blocking = true);
    int64_t returned = fy_now();
    fy_cuda_synchronize();
    printf("%lld of %lld ns\n", (long long)(returned - start), (long long)(fy_now() - start));
    fy_print(fy_sum(y));
}

static void asks_until_a_time(void)
{
    fy_tensor *x = fy_to(host_square(), CARD), *y;
    int64_t start = fy_now();
    y = fy_matmul(x, x);
    while (fy_now() - start < 1000000 && !fy_stream_query(fy_cuda_current_stream())) continue;
    fy_print(fy_sum(y));
}

static void notes_without_words(void)
{
    fy_tensor *x = fy_to(host_square(), CARD), *y;
    fy_mark("");
    y = fy_matmul(x, x);
    fy_mark("");
    fy_print(fy_sum(y));
}

static void into_a_buffer_that_is_read_later_or_not(void)
{
    fy_tensor *x = host_tensor(64), *there = fy_zeros((64), .device = CARD);
    fy_copy_(there, x);
    fy_print(fy_relu(x));
}

static void a_first_copy_to_warm_up(void)
{
    fy_tensor *x = host_tensor(64);
    fy_free(fy_to(x, CARD));
    fy_add_(x, 1);
    fy_print(fy_relu(fy_to(x, CARD)));
    fy_print(x);
}

static void scopes_that_end(void)
{
    fy_tensor *y = NULL;
    for (int i = 0; i < 3; i++) FY_SCOPE
        {
            y = fy_keep(fy_cpu(fy_sum(fy_ones((1 << 19), .device = CARD))));
        }
    fy_print(y);
}

static void frees_and_goes_on(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    fy_print(x);
    fy_free(x);
    fy_print(host_tensor(4));
}

static void small_results_home(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD), *first = fy_cpu(fy_relu(x)), *second = fy_cpu(fy_relu(fy_add(x, 1)));
    fy_print(fy_add(first, second));
}

static void each_card_in_turn(void)
{
    for (int i = 0; i < fy_cuda_device_count(); i++) {
        fy_cuda_set_device(i);
        fy_print(fy_sum(fy_ones((64), .device = CARD)));
    }
}

static void the_first_card_by_its_name(void)
{
    fy_cuda_set_device(1);
    fy_print(fy_relu(fy_ones((4), .device = "cuda:0")));
    fy_cuda_set_device(0);
}

const struct near_miss near_misses[] = {
    {what_the_call_takes_and_what_the_work_takes, NULL},
    {asks_until_a_time, NULL},
    {notes_without_words, NULL},
    {into_a_buffer_that_is_read_later_or_not, NULL},
    {a_first_copy_to_warm_up, NULL},
    {scopes_that_end, NULL},
    {frees_and_goes_on, NULL},
    {small_results_home, NULL},
    {each_card_in_turn, TWO_CARDS},
    {the_first_card_by_its_name, TWO_CARDS},
    {gradient_wanted_at_home, NULL},
    {data_of_the_loop, NULL},
    {optimizer_before_the_move, NULL},
    {terms_of_one_loss, NULL},
    {graph_of_leaves, NULL},
    {checkpoint_on_its_card, NULL},
    {0},
};

/* ---- variants ---- */

static void moved_and_printed_here(void)
{
    fy_tensor *x = host_tensor(64);
    fy_to(x, CARD); /* HERE */
    fy_print(x);
}

static void moved_and_converted(void)
{
    fy_tensor *x = host_tensor(64);
    fy_to(x, CARD, .dtype = FY_FLOAT16); /* HERE */
    fy_print(fy_relu(x));
}

static void two_cards_meet(void)
{
    fy_on_error(FY_RETURN);
    fy_add(fy_ones((4), .device = "cuda:0"), fy_ones((4), .device = "cuda:1")); /* HERE */
}

static void loss_brought_home_in_each_step(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    double total = 0;
    for (int i = 0; i < 6; i++) FY_SCOPE
        {
            total += fy_item(fy_cpu(fy_sum(fy_relu_(x)))); /* HERE */
        }
    printf("%f\n", total);
}

static void weights_that_travel(void)
{
    fy_tensor *w = fy_mul(fy_randn((64, 64)), 0.1);
    w = fy_cuda(w); /* HERE */
    fy_print(fy_sum(w));
}

static void little_beside_much(void)
{
    fy_tensor *w = fy_ones((1 << 19), .device = CARD), *little = fy_pin_memory(host_tensor(16)), *there = NULL;
    fy_stream *side = fy_cuda_stream();
    FY_STREAM(side) { there = fy_zeros((16), .device = CARD); }
    fy_cuda_synchronize();
    fy_relu_(w);
    FY_STREAM(side) { fy_copy_(there, little, .non_blocking = true); }
    fy_cuda_synchronize();
    for (int i = 0; i < 4; i++) {
        fy_tensor *x = fy_to(host_tensor(1 << 16), CARD, .non_blocking = true); /* HERE */
        fy_print(fy_add(fy_sum(x), fy_sum(w)));
    }
}

const struct variant variants[] = {
    {"to-moves-it", moved_and_printed_here, NULL},
    {"to-moves-it", moved_and_converted, NULL},
    {"ops-fetch-operands", two_cards_meet, TWO_CARDS},
    {"item-is-free", loss_brought_home_in_each_step, NULL},
    {"made-and-moved-is-made-there", weights_that_travel, NULL},
    {"non-blocking-alone-overlaps", little_beside_much, "old"},
    {"moved-leaf-is-the-leaf", moved_leaf_each_step, NULL},
    {"all-follow-their-module", mask_copied_each_time, NULL},
    {"optimizer-at-any-time", optimizer_of_the_original, NULL},
    {"sum-of-losses-is-a-number", mean_with_graphs, NULL},
    {"eval-stops-saving", scores_with_a_graph, NULL},
    {"checkpoint-loads-here", checkpoint_of_an_absent_card, NULL},
    {0},
};
