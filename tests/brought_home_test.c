/* brought_home_test.c: calls that need a value on the host. On the card they record a copy and a wait, as fy_item does;
 * on the host no copy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorded.h"

/* Exactly one blocking copy to the host, for an item. */
static void check_copy_to_host(int line, int bytes)
{
    const cJSON *copy = event_of("copy", 0);
    if (!copy) fail_msg("line %d: nothing came home: %s", line, kinds());
    if (strcmp(text_of(copy, "dir"), "d2h") != 0 || strcmp(text_of(copy, "why"), "item") != 0)
        fail_msg("line %d: a copy %s for %s", line, text_of(copy, "dir"), text_of(copy, "why"));
    if (number_of(copy, "bytes") != bytes) fail_msg("line %d: %g bytes came home", line, number_of(copy, "bytes"));
    if (event_of("copy", 1)) fail_msg("line %d: two copies", line);
    if (!event_of("sync", 0)) fail_msg("line %d: nobody waited: %s", line, kinds());
    if (strcmp(text_of(event_of("sync", 0), "why"), "item") != 0) fail_msg("line %d: waited for another reason", line);
}
#define COPIES_TO_HOST(bytes, call) \
    do { \
        since(); \
        call; \
        if (fy_error()) fail_msg("line %d: %s", __LINE__, fy_error()); \
        check_copy_to_host(__LINE__, bytes); \
    } while (0)
#define STAYS(call) \
    do { \
        since(); \
        call; \
        if (fy_error()) fail_msg("line %d: %s", __LINE__, fy_error()); \
        if (event_of("copy", 0) || event_of("sync", 0)) fail_msg("line %d: %s", __LINE__, kinds()); \
    } while (0)

static void a_number_among_clamps_bounds_copies_the_other_bound(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_arange((6), .device = "cuda", .dtype = FY_FLOAT32), *y = NULL;
        fy_tensor *low = fy_full((), 2.5, .device = "cuda"), *high = fy_full((), 3, .device = "cuda");
        COPIES_TO_HOST(4, y = fy_clamp(x, low, 4));
        assert_true(HOLDS(y, 2.5, 2.5, 2.5, 3, 4, 4));
        COPIES_TO_HOST(8, y = fy_clamp(x, 1, high));
        assert_true(HOLDS(y, 1, 1, 2, 3, 3, 3));
        STAYS(fy_clamp(x, low, high));
        STAYS(fy_clamp(x, 1, 2));
        STAYS(fy_clamp(x, fy_cpu(fy_full((), 1.5)), 2));
    }
}

static void a_card_value_is_copied_to_fill_a_mask(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_arange((4), .device = "cuda", .dtype = FY_FLOAT32), *mask = fy_gt(x, 1), *y = NULL;
        fy_tensor *value = fy_full((), 7.5, .device = "cuda");
        COPIES_TO_HOST(4, y = fy_masked_fill(x, mask, value));
        assert_true(HOLDS(y, 0, 1, 7.5, 7.5));
        STAYS(y = fy_masked_fill(x, mask, 2));
        assert_true(HOLDS(y, 0, 1, 2, 2));
        STAYS(fy_masked_fill_(x, mask, 3));
        assert_true(HOLDS(x, 0, 1, 3, 3));
    }
}

static void the_number_of_classes_is_copied_unless_given(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_tensor((1, 0, 2), .device = "cuda"), *y = NULL;
        COPIES_TO_HOST(8, y = fy_one_hot(x));
        assert_true(HAS_SHAPE(y, 3, 3));
        assert_string_equal(text_of(event_of("op", 0), "name"), "max");
        STAYS(fy_one_hot(x, 3));
        STAYS(fy_one_hot(fy_cpu(fy_tensor((1, 0, 2)))));
    }
}

static void an_answer_about_a_whole_tensor_is_copied(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((1000), .device = "cuda"), *y = fy_ones((1000), .device = "cuda");
        bool same = false;
        COPIES_TO_HOST(1, same = fy_equal(x, y));
        assert_true(same);
        assert_string_equal(text_of(event_of("op", 0), "name"), "eq");
        assert_string_equal(text_of(event_of("op", 1), "name"), "all");
        assert_string_equal(text_of(event_of("host_read", 0), "via"), "item");
        COPIES_TO_HOST(1, same = fy_allclose(x, fy_mul_(y, 2)));
        assert_false(same);
        STAYS(same = fy_equal(x, fy_narrow(y, 0, 0, 10))); /* another shape: no values are compared */
        STAYS(fy_isclose(x, y));
        STAYS(same = fy_equal(fy_ones((3)), fy_ones((3))));
        assert_true(same);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_among_clamps_bounds_copies_the_other_bound),
        cmocka_unit_test(the_number_of_classes_is_copied_unless_given),
        cmocka_unit_test(an_answer_about_a_whole_tensor_is_copied),
        cmocka_unit_test(a_card_value_is_copied_to_fill_a_mask),
    };
    return cmocka_run_group_tests_name("brought_home", tests, record_on_sim, record_no_more);
}
