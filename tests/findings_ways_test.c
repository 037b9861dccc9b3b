/* findings_ways_test.c: expensive ways to create, convert or page-lock data, and expensive copies and waits. Each rule
 * has three programs with a finding, at the line that ends in HERE, and three near misses. */
#include "explained.h"

#define CARD "cuda"

static fy_tensor *on_host(int64_t n) { return fy_add(fy_ones((n)), fy_ones((n))); } /* not a constant */

/* ---- converted on the wrong side ---- */

static void widened_by_the_copy(void)
{
    fy_tensor *x = fy_to(on_host(4096), FY_UINT8);
    fy_item(fy_sum(fy_to(x, CARD, .dtype = FY_FLOAT32))); /* HERE */
}
static void widened_before_it(void)
{
    fy_tensor *x = fy_to(on_host(4096), FY_UINT8), *wide = fy_to(x, FY_FLOAT32);
    fy_tensor *on_cuda = fy_to(wide, CARD); /* HERE */
    fy_item(fy_sum(on_cuda));
}
static void narrowed_behind_it(void)
{
    fy_tensor *on_cuda = fy_to(on_host(4096), CARD);
    fy_tensor *half = fy_to(on_cuda, FY_FLOAT16); /* HERE */
    fy_item(fy_sum(half));
}
static void widened_behind_it(void) { fy_item(fy_sum(fy_to(fy_to(fy_to(on_host(4096), FY_UINT8), CARD), FY_FLOAT32))); }
static void the_host_needs_the_wide_one(void)
{
    fy_tensor *wide = fy_to(fy_to(on_host(4096), FY_UINT8), FY_FLOAT32);
    fy_item(fy_sum(fy_to(wide, CARD)));
    fy_print(fy_sum(wide));
}
static void the_card_needs_the_wide_one(void)
{
    fy_tensor *on_cuda = fy_to(on_host(4096), CARD);
    fy_item(fy_sum(fy_to(on_cuda, FY_FLOAT16)));
    fy_item(fy_sum(on_cuda));
}

static void types_change_on_the_wrong_side(void **state)
{
    (void)state;
    EXPECT({"converts-late", widened_by_the_copy, 1, NULL}, {"converts-late", widened_before_it, 1, NULL},
           {"converts-late", narrowed_behind_it, 1, NULL}, {"converts-late", widened_behind_it, 0, NULL},
           {"converts-late", the_host_needs_the_wide_one, 0, NULL},
           {"converts-late", the_card_needs_the_wide_one, 0, NULL});
}

static void narrowed_at_home(void)
{
    fy_tensor *wide = fy_to(fy_to(fy_to(on_host(4096), FY_UINT8), CARD), FY_FLOAT32);
    fy_print(fy_to(fy_mul(wide, 2), "cpu", .dtype = FY_UINT8));
}

static void expect_fix(void (*run)(void), const char *fix)
{
    char path[64], err[256];
    findings f;
    snprintf(path, sizeof path, "/tmp/ferry-fix-%d.jsonl", (int)getpid());
    record_program(&(explained){"converts-late", run, 1, NULL}, path);
    assert_true(findings_of_file(&f, path, err, sizeof err));
    unlink(path);
    assert_non_null(finding_of(&f, "converts-late", 0));
    assert_string_equal(finding_of(&f, "converts-late", 0)->fix, fix);
    findings_free(&f);
}

static void the_fix_names_the_dtype_and_the_device(void **state)
{
    (void)state;
    expect_fix(widened_by_the_copy, "copy first, then convert: fy_to(fy_to(x, \"cuda\"), FY_FLOAT32)");
    expect_fix(narrowed_behind_it, "convert first, then copy: fy_to(fy_to(x, FY_FLOAT16), \"cuda\")");
    expect_fix(narrowed_at_home, "convert first, then copy: fy_to(fy_to(x, FY_UINT8), \"cpu\")");
}

/* ---- made on the host, then moved ---- */

static void zeros_then_moved(void) { fy_item(fy_sum(fy_to(fy_zeros((64)), CARD))); /* HERE */ }
static void random_then_moved_each_turn(void)
{
    for (int i = 0; i < 3; i++) {
        fy_tensor *noise = fy_randn((64));
        fy_item(fy_sum(fy_cuda(noise))); /* HERE */
    }
}
static void range_then_moved(void)
{
    fy_tensor *x = fy_arange((100)), *on_cuda = NULL;
    on_cuda = fy_to(x, CARD); /* HERE */
    fy_item(fy_sum(on_cuda));
}
static void made_there(void) { fy_item(fy_sum(fy_zeros((64), .device = CARD))); }
static void used_on_the_host_as_well(void)
{
    fy_tensor *x = fy_randn((64));
    fy_item(fy_sum(fy_to(x, CARD)));
    fy_print(x);
}
static void values_of_the_program(void) { fy_item(fy_sum(fy_to(fy_tensor((1.0, 2.0, 3.0)), CARD))); }

static void made_on_the_host_for_the_card(void **state)
{
    (void)state;
    EXPECT({"created-then-moved", zeros_then_moved, 1, NULL},
           {"created-then-moved", random_then_moved_each_turn, 3, NULL},
           {"created-then-moved", range_then_moved, 1, NULL}, {"created-then-moved", made_there, 0, NULL},
           {"created-then-moved", used_on_the_host_as_well, 0, NULL},
           {"created-then-moved", values_of_the_program, 0, NULL});
}

/* ---- page-locked memory ---- */

static void pinned_for_one_trip(void)
{
    fy_tensor *x = on_host(4096), *pinned = NULL;
    pinned = fy_pin_memory(x); /* HERE */
    fy_item(fy_sum(fy_to(pinned, CARD, .non_blocking = true)));
}
static void pinned_in_one_line(void) { fy_item(fy_sum(fy_to(fy_pin_memory(on_host(4096)), CARD))); /* HERE */ }
static void two_pinned_for_one_trip_each(void)
{
    for (int i = 0; i < 2; i++) {
        fy_tensor *pinned = fy_pin_memory(on_host(4096)); /* HERE */
        fy_item(fy_sum(fy_to(pinned, CARD, .non_blocking = true)));
    }
}
static void pinned_for_many_trips(void)
{
    fy_tensor *x = on_host(4096), *pinned = fy_pin_memory(x);
    for (int i = 0; i < 3; i++) {
        fy_item(fy_sum(fy_to(pinned, CARD, .non_blocking = true)));
        fy_copy_(pinned, x);
    }
}
static void pinned_from_the_start(void)
{
    fy_item(fy_sum(fy_to(fy_ones((4096), .pin_memory = true), CARD, .non_blocking = true)));
}
static void pinned_and_read_here(void)
{
    fy_tensor *pinned = fy_pin_memory(on_host(4096));
    fy_item(fy_sum(fy_to(pinned, CARD, .non_blocking = true)));
    fy_print(fy_sum(pinned));
}

static void page_locked_for_a_single_trip(void **state)
{
    (void)state;
    const char *rule = "pinned-for-one-copy";
    EXPECT({rule, pinned_for_one_trip, 1, NULL}, {rule, pinned_in_one_line, 1, NULL},
           {rule, two_pinned_for_one_trip_each, 2, NULL}, {rule, pinned_for_many_trips, 0, NULL},
           {rule, pinned_from_the_start, 0, NULL}, {rule, pinned_and_read_here, 0, NULL});
}

static void pinned_each_turn(void)
{
    fy_tensor *x = on_host(4096);
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            fy_tensor *pinned = fy_pin_memory(x); /* HERE */
            fy_item(fy_sum(fy_to(pinned, CARD, .non_blocking = true)));
        }
}
static void made_pinned_each_turn(void)
{
    for (int i = 0; i < 3; i++) FY_SCOPE
        {
            fy_tensor *pinned = fy_ones((4096), .pin_memory = true); /* HERE */
            fy_item(fy_sum(fy_to(pinned, CARD, .non_blocking = true)));
        }
}
static void pinned_and_never_freed(void)
{
    for (int i = 0; i < 5; i++) {
        fy_tensor *pinned = fy_randn((64), .pin_memory = true); /* HERE */
        fy_item(fy_sum(fy_to(pinned, CARD)));
    }
}
static void two_buffers_in_turn(void)
{
    fy_tensor *ring[2];
    for (int i = 0; i < 2; i++) ring[i] = fy_ones((64), .pin_memory = true);
    for (int i = 0; i < 6; i++) {
        fy_relu_(ring[i % 2]);
        fy_item(fy_sum(fy_to(ring[i % 2], CARD, .non_blocking = true)));
    }
}
static void many_that_all_stay_in_use(void)
{
    fy_tensor *all[5];
    for (int i = 0; i < 5; i++) all[i] = fy_ones((64), .pin_memory = true);
    for (int i = 0; i < 10; i++) fy_item(fy_sum(fy_to(all[i % 5], CARD)));
}
static void twice_at_one_line(void)
{
    for (int i = 0; i < 2; i++) fy_item(fy_sum(fy_to(fy_ones((64), .pin_memory = true), CARD)));
}

static void page_locked_again_and_again(void **state)
{
    (void)state;
    const char *rule = "pinned-each-time";
    EXPECT({rule, pinned_each_turn, 4, NULL}, {rule, made_pinned_each_turn, 3, NULL},
           {rule, pinned_and_never_freed, 5, NULL}, {rule, two_buffers_in_turn, 0, NULL},
           {rule, many_that_all_stay_in_use, 0, NULL}, {rule, twice_at_one_line, 0, NULL});
}

/* ---- asked not to wait ---- */

static void from_pageable(void)
{
    fy_tensor *x = on_host(4096), *on_cuda = NULL;
    on_cuda = fy_to(x, CARD, .non_blocking = true); /* HERE */
    fy_item(fy_sum(on_cuda));
}
static void from_pageable_each_turn(void)
{
    for (int i = 0; i < 3; i++) {
        fy_tensor *x = fy_to(on_host(64), CARD, .non_blocking = true); /* HERE */
        fy_item(fy_sum(x));
    }
}
static void a_view_of_pageable(void)
{
    fy_tensor *x = fy_view(on_host(64), (8, 8)), *on_cuda = NULL;
    on_cuda = fy_to(fy_select(x, 0, 2), CARD, .non_blocking = true); /* HERE */
    fy_item(fy_sum(on_cuda));
}
static void from_pinned(void) { fy_item(fy_sum(fy_to(fy_pin_memory(on_host(64)), CARD, .non_blocking = true))); }
static void not_asked(void) { fy_item(fy_sum(fy_to(on_host(64), CARD))); }
static void card_to_card_memory(void)
{
    fy_item(fy_sum(fy_to(fy_ones((64), .device = CARD), CARD, .copy = true, .non_blocking = true)));
}

static void non_blocking_that_blocks(void **state)
{
    (void)state;
    EXPECT({"blocking-pageable", from_pageable, 1, NULL}, {"blocking-pageable", from_pageable_each_turn, 3, NULL},
           {"blocking-pageable", a_view_of_pageable, 1, NULL}, {"blocking-pageable", from_pinned, 0, NULL},
           {"blocking-pageable", not_asked, 0, NULL}, {"blocking-pageable", card_to_card_memory, 0, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_change_on_the_wrong_side), cmocka_unit_test(made_on_the_host_for_the_card),
        cmocka_unit_test(page_locked_for_a_single_trip),  cmocka_unit_test(page_locked_again_and_again),
        cmocka_unit_test(non_blocking_that_blocks),       cmocka_unit_test(the_fix_names_the_dtype_and_the_device),
    };
    return cmocka_run_group_tests_name("findings_ways", tests, NULL, NULL);
}
