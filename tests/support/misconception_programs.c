/* misconception_programs.c: see misconception_programs.h. */
#include "misconception_programs.h"

#include "training_programs.h"

fy_tensor *host_tensor(int64_t n)
{
    return fy_add(fy_ones((n)), fy_ones((n)));
} /* computed on the host, not a constant */

fy_tensor *host_square(void) { return fy_view(host_tensor(128 * 128), (128, 128)); }

/* ---- placement ---- */

static void moved_and_left_there(void)
{
    fy_tensor *x = host_tensor(64);
    fy_to(x, CARD); /* HERE */
    fy_print(fy_relu(x));
}

static void moved_and_tried_here(void)
{
    fy_tensor *x = host_tensor(64), *w = fy_ones((64), .device = CARD);
    fy_on_error(FY_RETURN);
    fy_to(x, CARD); /* HERE */
    fy_add(x, w);
}

static void moved_and_used_there(void)
{
    fy_tensor *x = host_tensor(64);
    x = fy_to(x, CARD);
    fy_print(fy_relu(x));
}

static void two_memories_meet(void)
{
    fy_tensor *batch = host_square(), *weights = fy_ones((128, 128), .device = CARD);
    fy_on_error(FY_RETURN);
    fy_matmul(batch, weights); /* HERE */
}

static void they_meet_on_the_card(void)
{
    fy_tensor *batch = host_square(), *weights = fy_ones((128, 128), .device = CARD);
    fy_print(fy_sum(fy_matmul(fy_to(batch, CARD), fy_mul(weights, 0.5))));
}

static void zeros_that_travel(void)
{
    fy_tensor *sum = fy_to(fy_zeros((4096)), CARD); /* HERE */
    fy_print(fy_sum(fy_add_(sum, 1)));
}

static void zeros_made_there(void)
{
    fy_tensor *sum = fy_zeros((4096), .device = CARD);
    fy_print(fy_sum(fy_add_(sum, 1)));
}

static void the_current_card_is_another(void)
{
    fy_on_error(FY_RETURN);
    fy_tensor *weights = fy_ones((64), .device = "cuda:0");
    fy_cuda_set_device(1);
    fy_add(fy_to(host_tensor(64), CARD), weights); /* HERE */
    fy_cuda_set_device(0);
}

static void the_card_is_not_put_back(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    fy_cuda_set_device(1); /* HERE */
    fy_tensor *y = fy_ones((64), .device = CARD);
    fy_print(fy_relu(y));
    fy_print(fy_relu(x));
}

static void cards_by_their_numbers(void)
{
    fy_tensor *weights = fy_ones((64), .device = "cuda:1");
    fy_print(fy_add(fy_to(host_tensor(64), "cuda:1"), weights));
}

/* ---- cost ---- */

static void clock_before_the_work_is_done(void)
{
    fy_tensor *x = fy_to(host_square(), CARD);
    int64_t before = fy_now();
    for (int i = 0; i < 4; i++) x = fy_matmul(x, x);
    int64_t after = fy_now(); /* HERE */
    printf("%lld ns\n", (long long)(after - before));
}

static void clock_after_waiting(void)
{
    fy_tensor *x = fy_to(host_square(), CARD);
    int64_t before = fy_now();
    for (int i = 0; i < 4; i++) x = fy_matmul(x, x);
    fy_cuda_synchronize();
    int64_t after = fy_now();
    printf("%lld ns\n", (long long)(after - before));
}

static void item_in_each_step(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    double total = 0;
    for (int i = 0; i < 6; i++) total += fy_item(fy_sum(fy_relu_(x))); /* HERE */
    printf("%f\n", total);
}

static void item_after_the_loop(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD), *total = fy_zeros((), .device = CARD);
    for (int i = 0; i < 6; i++) fy_add_(total, fy_sum(fy_relu_(x)));
    printf("%f\n", fy_item(total));
}

static void non_blocking_and_pageable(void)
{
    fy_tensor *w = fy_ones((1 << 16), .device = CARD), *x = host_tensor(1 << 16);
    fy_relu_(w);
    fy_tensor *y = fy_to(x, CARD, .non_blocking = true); /* HERE */
    fy_print(fy_sum(fy_add(w, y)));
}

static void non_blocking_in_the_same_stream(void)
{
    fy_tensor *w = fy_ones((1 << 19), .device = CARD), *x = fy_pin_memory(host_tensor(1 << 16));
    fy_cuda_synchronize();
    fy_relu_(w);
    fy_tensor *y = fy_to(x, CARD, .non_blocking = true); /* HERE */
    fy_print(fy_sum(fy_add(fy_narrow(w, 0, 0, 1 << 16), y)));
}

static void pinned_and_in_a_stream_of_its_own(void) /* a small copy that blocks is tolerated */
{
    fy_print(fy_to(host_tensor(4), CARD, .non_blocking = true));
    fy_tensor *w = fy_ones((1 << 19), .device = CARD), *x = fy_ones((1 << 16), .pin_memory = true), *y = NULL;
    fy_stream *side = fy_cuda_stream();
    fy_copy_(x, host_tensor(1 << 16));
    FY_STREAM(side) { y = fy_zeros((1 << 16), .device = CARD); }
    fy_cuda_synchronize();
    fy_relu_(w);
    FY_STREAM(side) { fy_copy_(y, x, .non_blocking = true); }
    fy_stream_wait_stream(fy_cuda_default_stream(), side);
    fy_print(fy_sum(fy_add(fy_narrow(w, 0, 0, 1 << 16), y)));
}

static void pinned_for_each_trip(void)
{
    fy_tensor *sum = fy_zeros((4096), .device = CARD);
    for (int i = 0; i < 4; i++) {
        fy_tensor *locked = fy_pin_memory(host_tensor(4096)); /* HERE */
        fy_add_(sum, fy_to(locked, CARD));
    }
    fy_print(fy_sum(sum));
}

static void one_pinned_buffer(void)
{
    fy_tensor *sum = fy_zeros((4096), .device = CARD), *locked = fy_empty_like(fy_pin_memory(host_tensor(4096)));
    locked = fy_pin_memory(locked);
    for (int i = 0; i < 4; i++) {
        fy_copy_(locked, host_tensor(4096));
        fy_add_(sum, fy_to(locked, CARD));
    }
    fy_print(fy_sum(sum));
}

static void bytes_that_travel_as_floats(void)
{
    fy_tensor *pixels = fy_to(host_tensor(4096), FY_UINT8);
    fy_tensor *there = fy_to(pixels, CARD, .dtype = FY_FLOAT32); /* HERE */
    fy_print(fy_mean(there));
}

static void bytes_that_travel_as_bytes(void)
{
    fy_tensor *pixels = fy_to(host_tensor(4096), FY_UINT8);
    fy_tensor *there = fy_to(fy_to(pixels, CARD), FY_FLOAT32);
    fy_print(fy_mean(there));
}

static void from_card_to_card(void)
{
    fy_tensor *x = fy_relu(fy_ones((4096), .device = "cuda:0"));
    fy_print(fy_sum(fy_to(x, "cuda:1"))); /* HERE */
}

/* ---- memory ---- */

static void freed_and_still_taken(void)
{
    fy_tensor *large = fy_ones((1 << 19), .device = CARD);
    fy_free(large); /* HERE */
    fy_print(fy_ones((4), .device = CARD));
}

static void freed_and_returned(void)
{
    fy_tensor *large = fy_ones((1 << 19), .device = CARD);
    fy_free(large);
    fy_cuda_empty_cache();
    fy_print(fy_ones((4), .device = CARD));
}

/* Four tensors of 9 MiB fill two segments of 20 MiB and the card: 15 MiB then fit only if one segment is empty. */
static void four_and_one(int first, int second)
{
    fy_on_error(FY_RETURN);
    fy_tensor *x[4];
    for (int i = 0; i < 4; i++) x[i] = fy_ones((9 << 18), .device = CARD);
    fy_free(x[first]);
    fy_free(x[second]);
    fy_ones((15 << 18), .device = CARD); /* HERE */
}

static void holes_in_two_segments(void) { four_and_one(0, 2); }

static void one_segment_empty(void) { four_and_one(0, 1); }

static void home_and_still_there(void)
{
    fy_tensor *x = fy_relu(fy_ones((1 << 16), .device = CARD));
    fy_tensor *y = fy_cpu(x); /* HERE */
    fy_tensor *z = fy_ones((1 << 16), .device = CARD);
    fy_print(fy_add(fy_sum(y), fy_cpu(fy_sum(z))));
}

static void home_and_freed(void)
{
    fy_tensor *x = fy_relu(fy_ones((1 << 16), .device = CARD));
    fy_tensor *y = fy_cpu(x);
    fy_free(x);
    fy_tensor *z = fy_ones((1 << 16), .device = CARD);
    fy_print(fy_add(fy_sum(y), fy_cpu(fy_sum(z))));
}

static void a_slice_that_keeps_all(void)
{
    fy_tensor *large = fy_ones((1 << 16), .device = CARD);
    fy_tensor *part = fy_narrow(large, 0, 0, 4); /* HERE */
    fy_free(large);
    fy_tensor *next = fy_ones((1 << 16), .device = CARD);
    fy_print(fy_add(part, fy_sum(next)));
}

static void a_clone_that_keeps_itself(void)
{
    fy_tensor *large = fy_ones((1 << 16), .device = CARD), *view = fy_narrow(large, 0, 0, 4), *part = fy_clone(view);
    fy_free(view);
    fy_free(large);
    fy_tensor *next = fy_ones((1 << 16), .device = CARD);
    fy_print(fy_add(part, fy_sum(next)));
}

/* ---- ordering ---- */

static void read_at_once(void)
{
    fy_tensor *x = fy_relu(fy_ones((1 << 16), .device = CARD));
    fy_tensor *y = fy_to(x, "cpu", .non_blocking = true);
    fy_print(fy_sum(y)); /* HERE */
}

static void read_after_waiting(void)
{
    fy_tensor *x = fy_relu(fy_ones((1 << 16), .device = CARD));
    fy_tensor *y = fy_to(x, "cpu", .non_blocking = true);
    fy_stream_synchronize(fy_cuda_current_stream());
    fy_print(fy_sum(y));
}

static void written_at_once(void)
{
    fy_tensor *batch = fy_pin_memory(host_tensor(4096));
    fy_tensor *x = fy_to(batch, CARD, .non_blocking = true);
    fy_fill_(batch, 0); /* HERE */
    fy_print(fy_sum(x));
}

static void written_after_waiting(void)
{
    fy_tensor *batch = fy_pin_memory(host_tensor(4096));
    fy_tensor *x = fy_to(batch, CARD, .non_blocking = true);
    fy_stream_synchronize(fy_cuda_current_stream());
    fy_fill_(batch, 0);
    fy_print(fy_sum(fy_add(x, fy_to(batch, CARD))));
}

static void result_of_another_stream(bool wait)
{
    fy_stream *side = fy_cuda_stream();
    fy_tensor *weights = fy_zeros((64), .device = CARD);
    fy_cuda_synchronize();
    FY_STREAM(side) { fy_fill_(weights, 2); }
    if (wait) fy_stream_wait_stream(fy_cuda_default_stream(), side);
    fy_print(fy_add(weights, 1)); /* HERE */
}

static void streams_without_an_order(void) { result_of_another_stream(false); }

static void streams_in_order(void) { result_of_another_stream(true); }

static void freed_while_a_stream_reads(bool record)
{
    fy_stream *side = fy_cuda_stream();
    fy_tensor *first = fy_ones((4096), .device = CARD), *on_host = fy_pin_memory(fy_zeros((4096)));
    fy_cuda_synchronize();
    FY_STREAM(side) { fy_copy_(on_host, first, .non_blocking = true); }
    if (record) fy_record_stream(first, side);
    fy_free(first);
    fy_tensor *second = fy_zeros((4096), .device = CARD); /* HERE */
    fy_cuda_synchronize();
    fy_print(fy_add(fy_sum(on_host), fy_cpu(fy_sum(second))));
}

static void freed_too_early(void) { freed_while_a_stream_reads(false); }

static void freed_and_recorded(void) { freed_while_a_stream_reads(true); }

static void class_out_of_range(int64_t number)
{
    fy_on_error(FY_RETURN);
    fy_tensor *scores = fy_ones((2, 3), .device = CARD), *classes = fy_to(fy_tensor((0, number)), CARD);
    fy_cross_entropy(scores, classes);
    fy_cuda_synchronize(); /* HERE */
}

static void told_later(void) { class_out_of_range(7); }

static void nothing_to_tell(void) { class_out_of_range(2); }

static void told_at_its_line(void)
{
    setenv("FERRY_LAUNCH_BLOCKING", "1", 1);
    class_out_of_range(7);
}

const struct misconception_pair misconception_pairs[] = {
    {"to-moves-it", moved_and_left_there, moved_and_used_there, NULL, NULL},
    {"to-moves-it", moved_and_tried_here, moved_and_used_there, NULL, NULL},
    {"ops-fetch-operands", two_memories_meet, they_meet_on_the_card, NULL, NULL},
    {"home-copy-is-there-at-once", read_at_once, read_after_waiting, NULL, NULL},
    {"call-returned-is-done", clock_before_the_work_is_done, clock_after_waiting, NULL, NULL},
    {"item-is-free", item_in_each_step, item_after_the_loop, NULL, NULL},
    {"non-blocking-alone-overlaps", non_blocking_and_pageable, pinned_and_in_a_stream_of_its_own, "old", "old"},
    {"non-blocking-alone-overlaps", non_blocking_in_the_same_stream, pinned_and_in_a_stream_of_its_own, "old", "old"},
    {"pinning-always-pays", pinned_for_each_trip, one_pinned_buffer, NULL, NULL},
    {"source-is-mine-at-once", written_at_once, written_after_waiting, NULL, NULL},
    {"streams-see-each-other", streams_without_an_order, streams_in_order, NULL, NULL},
    {"freed-is-safe-to-reuse", freed_too_early, freed_and_recorded, NULL, NULL},
    {"free-returns-vram", freed_and_still_taken, freed_and_returned, NULL, NULL},
    {"oom-is-too-little-memory", holes_in_two_segments, one_segment_empty, "h200:capacity=40MiB",
     "h200:capacity=40MiB"},
    {"cpu-frees-the-card", home_and_still_there, home_and_freed, NULL, NULL},
    {"small-slice-is-small", a_slice_that_keeps_all, a_clone_that_keeps_itself, NULL, NULL},
    {"error-names-its-line", told_later, nothing_to_tell, NULL, NULL},
    {"error-names-its-line", told_later, told_at_its_line, NULL, NULL},
    {"made-and-moved-is-made-there", zeros_that_travel, zeros_made_there, NULL, NULL},
    {"to-picks-the-cheap-order", bytes_that_travel_as_floats, bytes_that_travel_as_bytes, NULL, NULL},
    {"cuda-is-cuda-0", the_current_card_is_another, cards_by_their_numbers, TWO_CARDS, TWO_CARDS},
    {"cuda-is-cuda-0", the_card_is_not_put_back, cards_by_their_numbers, TWO_CARDS, TWO_CARDS},
    {"cards-copy-directly", from_card_to_card, from_card_to_card, TWO_CARDS ",peer=off", TWO_CARDS},
    {"moved-leaf-is-the-leaf", moved_leaf, leaf_on_the_card, NULL, NULL},
    {"all-follow-their-module", mask_left_behind, mask_registered, NULL, NULL},
    {"optimizer-at-any-time", state_left_behind, state_made_on_the_card, NULL, NULL},
    {"sum-of-losses-is-a-number", losses_with_graphs, losses_without_graphs, NULL, NULL},
    {"eval-stops-saving", evaluation_that_saves, evaluation_without_grad, NULL, NULL},
    {"checkpoint-loads-here", checkpoint_by_the_card, checkpoint_mapped, NULL, NULL},
    {0},
};
