/* Reading tensors: one element, the bytes, printing; and the lessons' inputs and answers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lesson_io.h"
#include "printed.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)

/* ---- reading ---- */

TEST(item_copies_one_element_to_the_host)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_full((4, 4), 2.5, .device = "cuda"), *one = fy_select(fy_select(g, 0, 1), 0, 2);
        since();
        assert_true(fy_item(one) == 2.5);
        assert_string_equal(kinds(), "copy complete sync host_read values");
        assert_int_equal(number_of(event_of("copy", 0), "bytes"), 4);
        assert_string_equal(text_of(event_of("copy", 0), "why"), "item");
        assert_string_equal(text_of(event_of("sync", 0), "why"), "item");
        since();
        assert_true(fy_item(fy_tensor((41))) == 41);
        assert_non_null(event_of("host_read", 0));
        assert_null(event_of("copy", 0));
    }
}

TEST(item_int_is_exact_to_the_last_digit)
{
    const int64_t large[] = {(1L << 53) + 1, INT64_MAX, INT64_MIN, -1};
    (void)state;
    FY_SCOPE
    {
        for (int i = 0; i < 4; i++) {
            assert_true(fy_item_int(fy_full((), large[i])) == large[i]);
            assert_true(fy_item_int(fy_full((1, 1), large[i], .device = "cuda")) == large[i]);
        }
        assert_true(fy_item_int(fy_full((), 200, .dtype = FY_UINT8)) == 200);
        assert_true(fy_item_int(fy_gt(fy_ones((1)), 0)) == 1);
        fy_tensor *x = fy_ones((1)), *two = fy_arange((2));
        since();
        assert_true(fy_item_int(x) == 0);
        assert_true(failed_with("fy_item_int takes integers and bool, not float32"));
        assert_string_equal(kinds(), "error");
        assert_string_equal(text_of(event_of("error", 0), "hint"),
                            "fy_item(x) returns a float; fy_item_int(fy_to(x, FY_INT64)) truncates it");
        assert_true(fy_item_int(two) == 0);
        assert_true(failed_with("a Tensor with 2 elements cannot be converted to Scalar"));
    }
}

static void call_item_three_times(void *x)
{
    for (int i = 0; i < 3; i++) fy_item((fy_tensor *)x);
}

TEST(item_says_once_a_line_that_it_rounded)
{
    (void)state;
    FY_SCOPE
    {
        const char *output = written_by(call_item_three_times, fy_full((), (1L << 53) + 1), 2),
                   *fix = strstr(output, "fix: ");
        assert_non_null(strstr(output, ": fy_item((fy_tensor *)x): a double holds 9007199254740992 instead of "
                                       "9007199254740993\n"));
        assert_true(fix && strstr(fix, "fy_item_int((fy_tensor *)x);") && !strstr(fix + 1, "fix: "));
        assert_string_equal(written_by(call_item_three_times, fy_full((), INT64_MAX), 2), "");
    }
}

static void call_mse_loss_twice(void *of_both)
{
    fy_tensor **x = of_both;
    for (int i = 0; i < 2; i++) fy_mse_loss(x[0], x[1]);
}

/* (3, 1) - (3) is (3, 3). */
TEST(a_target_that_is_broadcast_is_told_once_a_line)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *y = fy_ones((3)), *column = fy_ones((3, 1));
        const char *output = written_by(call_mse_loss_twice, (fy_tensor *[]){column, y}, 2),
                   *told = strstr(output, "fy_mse_loss(x[0], x[1]): Using a target size (3) that is different to the "
                                          "input size (3, 1).");
        assert_non_null(told);
        assert_non_null(strstr(told, "fix: fy_view(x[1], (3, 1))\n"));
        assert_null(strstr(told + 1, "fy_mse_loss("));
        assert_string_equal(written_by(call_mse_loss_twice, (fy_tensor *[]){y, y}, 2), "");
    }
}

static void call_item_on_each(void *list)
{
    for (fy_tensor **x = list; *x; x++) fy_item(*x);
}

TEST(item_says_nothing_where_a_double_is_exact)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *exact[] = {fy_full((), 1L << 53), fy_full((), INT64_MIN), fy_full((), 3L << 60), fy_ones(()), NULL};
        fy_tensor *most[] = {fy_full((), INT64_MAX), NULL};
        assert_string_equal(written_by(call_item_on_each, exact, 2), "");
        assert_non_null(
            strstr(written_by(call_item_on_each, most, 2), "9223372036854775808 instead of 9223372036854775807"));
    }
}

static void log_it(void *x) { fy_log_scalar("count", (fy_tensor *)x); }

TEST(a_logged_scalar_is_read_without_a_word)
{
    (void)state;
    FY_SCOPE
    {
        since();
        assert_string_equal(written_by(log_it, fy_full((), (1L << 53) + 1, .device = "cuda"), 2), "");
        assert_string_equal(text_of(event_of("host_read", 0), "via"), "item");
        assert_true(number_of(event_of("scalar", 0), "value") == 0x1p53);
        since();
        fy_log_scalar("a\x1b[2J\n\xff", -INFINITY);
        fy_log_scalar("two", fy_ones((2)));
        assert_true(failed_with("a Tensor with 2 elements cannot be converted to Scalar"));
        assert_string_equal(text_of(event_of("scalar", 0), "value"), "-inf");
        assert_null(event_of("scalar", 1));
    }
}

TEST(data_points_at_the_first_element_of_a_view)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_arange((6)), *v = fy_narrow(x, 0, 4, 2);
        since();
        assert_int_equal(((const int64_t *)fy_data(v))[0], 4);
        assert_string_equal(kinds(), "host_read");
        assert_string_equal(text_of(event_of("host_read", 0), "via"), "data");
        fy_tensor *g = fy_to(x, "cuda");
        since();
        assert_non_null(fy_data(g)); /* points into VRAM: returned, not dereferenced */
        assert_string_equal(kinds(), "");
        assert_null(fy_data(fy_zeros((0))));
    }
}

TEST(print_looks_like_pytorchs)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *m = fy_view(fy_tensor((1, 2.5, -3, 4)), (2, 2));
        assert_string_equal(printed(m), "tensor([[ 1.0000,  2.5000],\n        [-3.0000,  4.0000]])\n");
        assert_string_equal(printed(fy_ones((2))), "tensor([1., 1.])\n");
        assert_string_equal(printed(fy_tensor((1, -20))), "tensor([  1, -20])\n");
        assert_string_equal(printed(fy_full((), 2.5)), "tensor(2.5000)\n");
        assert_string_equal(printed(fy_full((), 3)), "tensor(3)\n");
        assert_string_equal(printed(fy_ones((1), .device = "cuda")), "tensor([1.], device='cuda:0')\n");
        assert_string_equal(printed(fy_zeros((0))), "tensor([])\n");
        assert_string_equal(printed(fy_zeros((0, 3), .dtype = FY_INT64)), "tensor([], size=(0, 3), dtype=int64)\n");
        assert_string_equal(printed(fy_tensor((1e-5, 1))), "tensor([1.0000e-05, 1.0000e+00])\n");
        assert_string_equal(printed(fy_zeros((1, 2, 1))), "tensor([[[0.],\n         [0.]]])\n");
        assert_string_equal(printed(fy_zeros((2, 1, 1))), "tensor([[[0.]],\n\n        [[0.]]])\n");
        assert_string_equal(printed(fy_arange((2000))), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])\n");
        assert_string_equal(printed(fy_arange((22))),
                            "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
                            "        18, 19, 20, 21])\n");
        since();
        printed(fy_t(fy_ones((2, 3), .device = "cuda")));
        assert_string_equal(text_of(event_of("copy", 0), "why"), "print");
        assert_string_equal(text_of(event_of("host_read", 0), "via"), "print");
        assert_int_equal(number_of(event_of("values", 0), "count"), 6);
    }
}

/* ---- lessons ---- */

TEST(given_inputs_follow_the_list_and_the_seed)
{
    double want[12];
    fy_dtype dtype;
    fy_shape shape;
    (void)state;
    setenv("FERRY_GIVEN", "mat1:float32:4x3 n:int64: v:int64:5", 1);
    FY_SCOPE
    {
        since();
        fy_tensor *m = fy_given("mat1");
        assert_string_equal(kinds(), "alloc tensor host_write given values");
        assert_string_equal(text_of(event_of("tensor", 0), "name"), "mat1");
        assert_true(HAS_SHAPE(m, 4, 3));
        fy_given_values(0, "mat1", FY_FLOAT32, 12, want);
        assert_true(holds(m, 12, want));
        assert_int_equal(fy_dim(fy_given("n")), 0);
        assert_int_equal(fy_dtype_of(fy_given("v")), FY_INT64);
        assert_int_equal(fy_numel(fy_given("v")), 5);
    }
    assert_false(fy_given_spec("mat1:float32:4x", "mat1", &dtype, &shape));
    assert_false(fy_given_spec("mat1:complex64:4", "mat1", &dtype, &shape));
    assert_false(fy_given_spec("mat1", "mat1", &dtype, &shape));
    assert_true(fy_given_spec("a:int64:1 mat1:float32:2x0", "mat1", &dtype, &shape));
    assert_int_equal(shape.dims[1], 0);
    double other[12];
    fy_given_values(1, "mat1", FY_FLOAT32, 12, other);
    assert_memory_not_equal(want, other, sizeof want);
}

TEST(an_answer_is_recorded_whole_without_a_user_copy)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((0, 40), .device = "cuda"), (4, 10));
        since();
        fy_answer("c", fy_narrow(x, 1, 8, 2));
        assert_string_equal(kinds(), "tensor answer host_read values");
        assert_string_equal(text_of(event_of("answer", 0), "device"), "cuda:0");
        assert_int_equal(cJSON_GetArraySize(field(event_of("values", 0), "data")), 8);
        assert_int_equal(number_of(event_of("values", 0), "data.2"), 18);
        since();
        fy_answer("all", x);
        assert_int_equal(cJSON_GetArraySize(field(event_of("values", 0), "data")), 40);
    }
}

TEST(notes_and_waits_are_recorded)
{
    (void)state;
    since();
    int64_t before = fy_now();
    fy_mark("here");
    fy_cuda_synchronize();
    assert_string_equal(kinds(), "mark mark sync");
    assert_null(field(event_of("mark", 0), "text")); /* reads the clock */
    assert_true(number_of(event_of("mark", 0), "now") == (double)before);
    assert_string_equal(text_of(event_of("mark", 1), "text"), "here");
    assert_true(number_of(event_of("mark", 1), "now") == number_of(event_of("mark", 1), "t"));
    assert_string_equal(text_of(event_of("sync", 0), "scope"), "device");
    assert_true(fy_now() > before);
    assert_true(fy_cuda_is_available());
    assert_int_equal(fy_cuda_device_count(), 1);
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(item_copies_one_element_to_the_host),
        cmocka_unit_test(item_int_is_exact_to_the_last_digit),
        cmocka_unit_test(item_says_once_a_line_that_it_rounded),
        cmocka_unit_test(a_target_that_is_broadcast_is_told_once_a_line),
        cmocka_unit_test(item_says_nothing_where_a_double_is_exact),
        cmocka_unit_test(a_logged_scalar_is_read_without_a_word),
        cmocka_unit_test(data_points_at_the_first_element_of_a_view),
        cmocka_unit_test(print_looks_like_pytorchs),
        cmocka_unit_test(given_inputs_follow_the_list_and_the_seed),
        cmocka_unit_test(an_answer_is_recorded_whole_without_a_user_copy),
        cmocka_unit_test(notes_and_waits_are_recorded),
    };
    int failed = cmocka_run_group_tests_name("look", tests, NULL, NULL);
    recorded_end();
    return failed;
}
