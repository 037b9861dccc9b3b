/* findings_test.c: needless and indirect copies. Each rule has three programs with a finding, at the line that ends in
 * HERE, and three near misses. */
#include "explained.h"

#define CARD "cuda"

static fy_tensor *on_host(int64_t n) { return fy_add(fy_ones((n)), fy_ones((n))); } /* not a constant */

/* ---- repeated copies ---- */

static void the_same_each_turn(void)
{
    fy_tensor *w = on_host(64);
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            fy_item(fy_sum(fy_relu(fy_to(w, CARD)))); /* HERE */
        }
}
static void two_names_for_one_copy(void)
{
    fy_tensor *w = on_host(64), *a = fy_to(w, CARD);
    fy_tensor *b = fy_to(w, CARD); /* HERE */
    fy_item(fy_sum(fy_add(a, b)));
}
static void into_the_same_buffer(void)
{
    fy_tensor *w = on_host(64), *buffer = fy_zeros((64), .device = CARD);
    fy_copy_(buffer, w);
    fy_copy_(buffer, w); /* HERE */
    fy_item(fy_sum(buffer));
}
static void written_between(void)
{
    fy_tensor *w = on_host(64);
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            fy_item(fy_sum(fy_to(w, CARD)));
            fy_add_(w, w);
        }
}
static void by_a_pointer_between(void)
{
    fy_tensor *w = on_host(64);
    float *p = fy_data(w);
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            p[0] = (float)i;
            fy_item(fy_sum(fy_to(w, CARD)));
        }
}
static void changed_on_the_card(void)
{
    fy_tensor *w = on_host(64), *buffer = fy_zeros((64), .device = CARD);
    for (int i = 0; i < 3; i++) {
        fy_copy_(buffer, w);
        fy_relu_(buffer);
    }
    fy_item(fy_sum(buffer));
}
static void row_after_row(void)
{
    fy_tensor *w = fy_view(on_host(64), (4, 16));
    for (int i = 0; i < 4; i++) fy_item(fy_sum(fy_to(fy_select(w, 0, i), CARD)));
}
static void parts_in_turn(void)
{
    fy_tensor *w = fy_view(on_host(5 << 20), (4, 5 << 18)); /* 5 MiB each */
    for (int i = 0; i < 8; i++) FY_SCOPE
        {
            fy_item(fy_sum(fy_to(fy_select(w, 0, i % 4), CARD))); /* HERE */
        }
}
static void no_room_to_keep_it(void)
{
    fy_tensor *w = on_host(3 << 20);
    for (int i = 0; i < 3; i++) {
        FY_SCOPE { fy_item(fy_sum(fy_to(w, CARD))); }
        FY_SCOPE { fy_item(fy_sum(fy_ones((6 << 20), .device = CARD))); }
    }
}

static void unchanged_data_is_sent_again(void **state)
{
    (void)state;
    EXPECT({"sent-again", the_same_each_turn, 3, NULL}, {"sent-again", two_names_for_one_copy, 1, NULL},
           {"sent-again", into_the_same_buffer, 1, NULL}, {"sent-again", written_between, 0, NULL},
           {"sent-again", by_a_pointer_between, 0, NULL}, {"sent-again", changed_on_the_card, 0, NULL},
           {"sent-again", parts_in_turn, 4, NULL}, {"sent-again", parts_in_turn, 0, "h200:capacity=22MiB"},
           {"sent-again", row_after_row, 0, NULL}, {"sent-again", no_room_to_keep_it, 0, "h200:capacity=32MiB"});
}

/* ---- round trips ---- */

static void home_and_back(void)
{
    fy_tensor *x = fy_relu(fy_to(on_host(64), CARD));
    fy_tensor *y = fy_to(fy_cpu(x), CARD); /* HERE */
    fy_item(fy_sum(y));
}
static void a_turn_undoes_the_last(void)
{
    fy_tensor *x = on_host(64);
    for (int i = 0; i < 4; i++) {
        fy_tensor *on_cuda = fy_to(x, CARD); /* HERE */
        x = fy_cpu(fy_relu(on_cuda));
    }
    fy_print(x);
}
static void looked_at_between(void)
{
    fy_tensor *x = fy_cpu(fy_ones((64), .device = CARD));
    fy_print(x);
    fy_item(fy_sum(fy_to(x, CARD))); /* HERE */
}
static void changed_at_home(void)
{
    fy_tensor *x = fy_cpu(fy_ones((64), .device = CARD));
    fy_relu_(x);
    fy_item(fy_sum(fy_to(x, CARD)));
}
static void back_to_an_older_state(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD), *best = fy_cpu(x);
    fy_add_(x, x);
    fy_copy_(x, best);
    fy_item(fy_sum(x));
}
static void a_result_of_it_goes_back(void)
{
    fy_tensor *x = fy_cpu(fy_ones((64), .device = CARD));
    fy_item(fy_sum(fy_to(fy_add(x, x), CARD)));
}
static void out_of_the_way_and_back(void)
{
    fy_tensor *x = fy_ones((3 << 20), .device = CARD), *kept = fy_cpu(x);
    fy_free(x);
    FY_SCOPE { fy_item(fy_sum(fy_ones((6 << 20), .device = CARD))); }
    fy_item(fy_sum(fy_to(kept, CARD)));
}

static void what_was_copied_to_the_host_goes_back_unchanged(void **state)
{
    (void)state;
    EXPECT({"round-trip", home_and_back, 1, NULL}, {"round-trip", a_turn_undoes_the_last, 3, NULL},
           {"round-trip", looked_at_between, 1, NULL}, {"round-trip", changed_at_home, 0, NULL},
           {"round-trip", back_to_an_older_state, 0, NULL}, {"round-trip", a_result_of_it_goes_back, 0, NULL},
           {"round-trip", out_of_the_way_and_back, 0, "h200:capacity=32MiB"});
}

static void round_trip(void)
{
    fy_tensor *x = on_host(64), *on_cuda = fy_to(x, CARD);
    fy_print(fy_cpu(on_cuda)); /* HERE */
    fy_print(x);
}
static void there_used_and_back(void)
{
    fy_tensor *x = on_host(64), *on_cuda = fy_to(x, CARD);
    fy_item(fy_sum(on_cuda));
    fy_tensor *again = fy_cpu(on_cuda); /* HERE */
    fy_print(fy_add(again, x));
}
static void there_and_back_each_turn(void)
{
    fy_tensor *x = on_host(64);
    for (int i = 0; i < 3; i++) FY_SCOPE
        {
            fy_print(fy_cpu(fy_to(x, CARD))); /* HERE */
        }
}
static void computed_there(void)
{
    fy_tensor *on_cuda = fy_to(on_host(64), CARD);
    fy_relu_(on_cuda);
    fy_print(fy_cpu(on_cuda));
}
static void changed_at_home_meanwhile(void)
{
    fy_tensor *x = on_host(64), *on_cuda = fy_to(x, CARD);
    fy_relu_(x);
    fy_print(fy_cpu(on_cuda));
}
static void given_up_at_home(void)
{
    fy_tensor *x = on_host(64), *on_cuda = fy_to(x, CARD);
    fy_free(x);
    fy_print(fy_cpu(on_cuda));
}

static void what_was_sent_comes_back_unchanged(void **state)
{
    (void)state;
    EXPECT({"there-and-back", round_trip, 1, NULL}, {"there-and-back", there_used_and_back, 1, NULL},
           {"there-and-back", there_and_back_each_turn, 3, NULL}, {"there-and-back", computed_there, 0, NULL},
           {"there-and-back", changed_at_home_meanwhile, 0, NULL}, {"there-and-back", given_up_at_home, 0, NULL});
}

/* ---- from card to card ---- */

static void by_way_of_the_host(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    fy_item(fy_sum(fy_to(fy_cpu(x), "cuda:1"))); /* HERE */
}
static void down_and_up_again(void)
{
    fy_tensor *x = fy_relu(fy_ones((64), .device = "cuda:1")), *mine = fy_cpu(x);
    fy_tensor *y = fy_cuda(mine, 0); /* HERE */
    fy_item(fy_sum(y));
}
static void each_turn_by_way_of_the_host(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 3; i++) {
        fy_relu_(x);
        fy_item(fy_sum(fy_to(fy_cpu(x), "cuda:1"))); /* HERE */
    }
}
static void straight_across(void) { fy_item(fy_sum(fy_to(fy_ones((64), .device = CARD), "cuda:1"))); }
static void the_host_reads_it_as_well(void)
{
    fy_tensor *x = fy_cpu(fy_ones((64), .device = CARD));
    fy_print(x);
    fy_item(fy_sum(fy_to(x, "cuda:1")));
}
static void the_host_changes_it(void)
{
    fy_tensor *x = fy_cpu(fy_ones((64), .device = CARD));
    fy_relu_(x);
    fy_item(fy_sum(fy_to(x, "cuda:1")));
}

static void cards_are_served_by_way_of_the_host(void **state)
{
    (void)state;
    const char *two = "h200:gpus=2";
    EXPECT({"through-host", by_way_of_the_host, 1, two}, {"through-host", down_and_up_again, 1, two},
           {"through-host", each_turn_by_way_of_the_host, 3, two}, {"through-host", straight_across, 0, two},
           {"through-host", the_host_reads_it_as_well, 0, two}, {"through-host", the_host_changes_it, 0, two});
}

/* ---- unused copies ---- */

static void the_copy_is_dropped(void)
{
    fy_tensor *x = on_host(64);
    fy_to(x, CARD); /* HERE */
    fy_print(fy_relu(x));
}
static void brought_home_for_nobody(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 3; i++) FY_SCOPE
        {
            fy_cpu(x); /* HERE */
        }
    fy_item(fy_sum(x));
}
static void passed_on_to_nobody(void)
{
    fy_tensor *x = on_host(64), *on_cuda = fy_ones((64), .device = CARD);
    fy_copy_(on_cuda, x); /* HERE */
    fy_free(on_cuda);
}
static void the_copy_is_used(void) { fy_item(fy_sum(fy_to(on_host(64), CARD))); }
static void the_copy_is_read_by_pointer(void)
{
    const float *p = fy_data(fy_cpu(fy_ones((64), .device = CARD)));
    printf("%f\n", (double)p[0]);
}
static void the_copy_is_passed_on(void)
{
    fy_tensor *x = fy_cpu(fy_ones((64), .device = CARD));
    fy_print(fy_to(fy_to(x, CARD), "cpu"));
}

static void a_copy_that_nobody_reads(void **state)
{
    (void)state;
    EXPECT({"unused-copy", the_copy_is_dropped, 1, NULL}, {"unused-copy", brought_home_for_nobody, 3, NULL},
           {"unused-copy", passed_on_to_nobody, 1, NULL}, {"unused-copy", the_copy_is_used, 0, NULL},
           {"unused-copy", the_copy_is_read_by_pointer, 0, NULL}, {"unused-copy", the_copy_is_passed_on, 0, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged_data_is_sent_again),
        cmocka_unit_test(what_was_copied_to_the_host_goes_back_unchanged),
        cmocka_unit_test(what_was_sent_comes_back_unchanged),
        cmocka_unit_test(cards_are_served_by_way_of_the_host),
        cmocka_unit_test(a_copy_that_nobody_reads),
    };
    return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
