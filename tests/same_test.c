/* same_test.c: equal, isclose and allclose on the CPU and on the card, explicit and default tolerances, and errors.
 * PyTorch's results are in the oracle's cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorded.h"

static const char *const places[] = {"cpu", "cuda"};

static void equal_wants_the_same_shape_and_every_element(void **state)
{
    (void)state;
    FY_SCOPE for (int p = 0; p < 2; p++)
    {
        fy_tensor *x = fy_to(fy_tensor((1.0, 2.0, 3.0, 4.0)), places[p]), *y = fy_clone(x);
        assert_true(fy_equal(x, y));
        assert_true(fy_equal(x, fy_to(x, FY_INT64)));
        assert_true(fy_equal(fy_view(x, (2, 2)), fy_t(fy_contiguous(fy_t(fy_view(y, (2, 2)))))));
        assert_false(fy_equal(x, fy_view(y, (1, 4))));
        assert_false(fy_equal(x, fy_narrow(y, 0, 0, 3)));
        fy_fill_(fy_narrow(y, 0, 3, 1), 5);
        assert_false(fy_equal(x, y));
        fy_fill_(y, NAN);
        assert_false(fy_equal(y, y));
        assert_true(fy_equal(fy_narrow(x, 0, 0, 0), fy_narrow(y, 0, 2, 0)));
        assert_false(fy_equal(x, fy_to(x, places[!p])));
        assert_true(failed_with("Expected all tensors to be on the same device, but found at least two devices, "
                                "cuda:0 and cpu!"));
    }
}

static void a_tolerance_of_0_is_not_the_default(void **state)
{
    (void)state;
    FY_SCOPE for (int p = 0; p < 2; p++)
    {
        fy_tensor *x = fy_to(fy_tensor((1.0, 100.0)), places[p]), *y = fy_mul(x, 1 + 4e-6);
        assert_true(fy_allclose(x, y));
        assert_false(fy_allclose(x, y, .rtol = 0));
        assert_true(fy_allclose(x, y, .rtol = 0, .atol = 1e-3));
        assert_true(HOLDS(fy_isclose(x, y, .rtol = 0, .atol = 1e-5), 1, 0));
        assert_true(fy_allclose(x, y, .atol = 0));
        fy_tensor *small = fy_mul(x, 1e-9);
        assert_true(fy_allclose(fy_narrow(small, 0, 0, 1), fy_narrow(fy_mul(small, 2), 0, 0, 1)));
        assert_false(fy_allclose(fy_narrow(small, 0, 0, 1), fy_narrow(fy_mul(small, 2), 0, 0, 1), .atol = 0));
        fy_tensor *large = fy_full((1), 16777216, .dtype = FY_INT64, .device = places[p]);
        assert_false(fy_allclose(large, fy_add(large, 1), .rtol = 0, .atol = 0)); /* equal as floats */
    }
}

static void infinities_equal_only_themselves_and_nan_only_with_equal_nan(void **state)
{
    (void)state;
    FY_SCOPE for (int p = 0; p < 2; p++)
    {
        fy_tensor *x = fy_to(fy_tensor((INFINITY, -INFINITY, 1.0, INFINITY, NAN)), places[p]);
        fy_tensor *y = fy_to(fy_tensor((INFINITY, INFINITY, INFINITY, 1.0, NAN)), places[p]);
        assert_true(HOLDS(fy_isclose(x, y), 1, 0, 0, 0, 0));
        assert_true(HOLDS(fy_isclose(x, y, .equal_nan = true), 1, 0, 0, 0, 1));
        assert_true(HOLDS(fy_isclose(x, y, .rtol = INFINITY), 1, 0, 0, 0, 0));
    }
}

static void tolerances_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_tensor((1.0, 2.0));
        assert_false(fy_allclose(x, x, .rtol = -1));
        assert_true(failed_with("rtol must be greater than or equal to zero, but got -1"));
        assert_null(fy_isclose(x, x, .atol = NAN));
        assert_true(failed_with("atol must be greater than or equal to zero, but got nan"));
        assert_false(fy_allclose(x, fy_to(x, FY_FLOAT64)));
        assert_true(failed_with("Float did not match Double"));
        assert_false(fy_allclose(x, fy_ones((3))));
        assert_true(failed_with("The size of tensor a (2) must match the size of tensor b (3)"));
        assert_false(fy_equal(NULL, x) || fy_allclose(x, NULL));
        fy_clear_error();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_wants_the_same_shape_and_every_element),
        cmocka_unit_test(a_tolerance_of_0_is_not_the_default),
        cmocka_unit_test(infinities_equal_only_themselves_and_nan_only_with_equal_nan),
        cmocka_unit_test(tolerances_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests_name("same", tests, record_on_sim, record_no_more);
}
