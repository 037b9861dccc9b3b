/* Tensors over the program's own memory: shared, released once, and marked as foreign. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "device.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)

static int deleted;
static void *deleted_data, *deleted_context;

static void note(void *data, void *context)
{
    deleted++;
    deleted_data = data;
    deleted_context = context;
}

TEST(what_one_writes_the_other_sees)
{
    (void)state;
    FY_SCOPE
    {
        float data[6] = {0, 1, 2, 3, 4, 5};
        int64_t live = fy_dev_at(0)->live_bytes;
        since();
        fy_tensor *x = fy_from_blob(data, (2, 3));
        assert_string_equal(kinds(), "alloc tensor host_write");
        assert_string_equal(text_of(event_of("alloc", 0), "mem"), "foreign");
        assert_string_equal(text_of(event_of("alloc", 0), "device"), "cpu");
        assert_int_equal(number_of(event_of("alloc", 0), "bytes"), 24);
        assert_string_equal(text_of(event_of("tensor", 0), "name"), "x");
        assert_string_equal(text_of(event_of("host_write", 0), "via"), "blob");
        assert_int_equal(fy_dev_at(0)->live_bytes, live); /* not allocated by Ferry */
        assert_ptr_equal(fy_data(x), data);
        data[4] = 40;
        assert_true(HOLDS(x, 0, 1, 2, 3, 40, 5));
        fy_add_(fy_select(x, 0, 0), 7);
        assert_true(data[0] == 7 && data[2] == 9 && data[3] == 3);
        assert_false(fy_same_storage(fy_clone(x), x));
        fy_free(fy_from_blob(data, (6), .name = "again")); /* without a deleter the memory is not freed */
        assert_true(data[1] == 8);
    }
}

static const float constants[4] = {1, 2, 3, 4};

TEST(read_only_memory_is_read_and_writes_are_refused)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_from_blob((void *)(uintptr_t)constants, (4)), *v = fy_narrow(x, 0, 1, 2);
        const char *text = "the memory given to fy_from_blob is read-only";
        assert_true(HOLDS(fy_add(x, 1), 2, 3, 4, 5));
        assert_null(fy_add_(v, 1));
        assert_true(failed_with(text));
        assert_null(fy_fill_(x, 0));
        assert_true(failed_with("fy_clone gives it memory of its own"));
        assert_null(fy_copy_(x, fy_ones((4), .device = "cuda")));
        assert_true(failed_with(text));
        assert_null(fy_copy_(x, fy_ones((4))));
        assert_true(failed_with(text));
        assert_true(HOLDS(fy_add_(fy_clone(x), 1), 2, 3, 4, 5));
        assert_true(HOLDS(x, 1, 2, 3, 4));
    }
}

TEST(the_deleter_is_called_once_when_the_last_view_goes)
{
    (void)state;
    int64_t data[4] = {1, 2, 3, 4};
    deleted = 0;
    fy_tensor *x = fy_from_blob(data, (4), .dtype = FY_INT64, .deleter = note, .context = &deleted), *v = NULL;
    FY_SCOPE
    {
        v = fy_keep(fy_narrow(x, 0, 2, 2));
        fy_cuda(x);
        fy_add(x, x);
    }
    fy_free(x);
    assert_int_equal(deleted, 0);
    assert_true(HOLDS(v, 3, 4));
    since();
    fy_free(v);
    assert_string_equal(kinds(), "drop free");
    assert_int_equal(deleted, 1);
    assert_ptr_equal(deleted_data, data);
    assert_ptr_equal(deleted_context, &deleted);
    FY_SCOPE { fy_from_blob(data, (0, 4), .deleter = note); } /* no elements, but the deleter is called */
    assert_int_equal(deleted, 2);
    assert_ptr_equal(deleted_data, data);
}

static void free_another(void *data, void *context)
{
    (void)data;
    fy_free(context);
    deleted++;
}

TEST(a_deleter_may_use_ferry)
{
    (void)state;
    float data[2] = {1, 2};
    deleted = 0;
    fy_tensor *inner = fy_from_blob(data, (2), .deleter = note);
    fy_tensor *outer = fy_from_blob(fy_data(inner), (2), .deleter = free_another, .context = inner);
    fy_free(outer);
    assert_int_equal(deleted, 2);
}

TEST(strides_may_leave_gaps_and_repeat)
{
    (void)state;
    FY_SCOPE
    {
        double data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        since();
        fy_tensor *x = fy_from_blob(data, (2, 2), .dtype = FY_FLOAT64, .strides = FY_STRIDES(4, 2));
        assert_int_equal(number_of(event_of("alloc", 0), "bytes"), 7 * 8);
        assert_true(HAS_STRIDES(x, 4, 2));
        assert_true(fy_item(fy_sum(x)) == 0 + 2 + 4 + 6);
        fy_tensor *r = fy_from_blob(data + 1, (3, 2), .dtype = FY_FLOAT64, .strides = FY_STRIDES(0, 1));
        assert_true(fy_item(fy_sum(r)) == 3 * (1 + 2));
        assert_true(HAS_STRIDES(fy_from_blob(data, (2, 3), .strides = FY_STRIDES(1, 2)), 1, 2));
    }
}

TEST(it_moves_to_a_card_like_any_other)
{
    (void)state;
    FY_SCOPE
    {
        float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        fy_tensor *x = fy_from_blob(data, (8)), *gaps = fy_from_blob(data, (2, 2), .strides = FY_STRIDES(4, 1));
        since();
        fy_tensor *g = fy_cuda(x);
        assert_string_equal(text_of(event_of("copy", 0), "src.mem"), "foreign");
        assert_string_equal(text_of(event_of("copy", 0), "dir"), "h2d");
        data[0] = 100;
        assert_true(HOLDS(g, 0, 1, 2, 3, 4, 5, 6, 7));
        assert_true(HOLDS(fy_cuda(gaps), 100, 1, 4, 5));
        fy_copy_(x, fy_mul(g, 2));
        assert_true(data[0] == 0 && data[7] == 14);
    }
}

TEST(what_cannot_be_is_refused_and_not_given_back)
{
    (void)state;
    FY_SCOPE
    {
        _Alignas(8) char data[64] = {0};
        deleted = 0;
        FAILS_ALONE(fy_from_blob(NULL, (2)), "the data is NULL, but the shape needs 8 bytes");
        FAILS_ALONE(fy_from_blob(data, (-1)), "Trying to create tensor with negative dimension -1");
        FAILS_ALONE(
            fy_from_blob(data, (2), .strides = FY_STRIDES(-1), .deleter = note),
            "At least one stride in the given array is negative, and tensors with negative strides are not currently "
            "supported");
        FAILS_ALONE(fy_from_blob(data, (2, 2), .strides = FY_STRIDES(1), .deleter = note),
                    "mismatch in length of strides and shape");
        FAILS_ALONE(fy_from_blob(data + 2, (2), .deleter = note), "is not aligned to 4 bytes, as float32 requires");
        FAILS_ALONE(fy_from_blob(data, (3, 3), .strides = FY_STRIDES(INT64_MAX / 2, 1)), "the strides reach further");
        FAILS_ALONE(fy_from_blob(data, (INT64_MAX)), "Storage size calculation overflowed");
        fy_dtype none = (fy_dtype)99;
        FAILS_ALONE(fy_from_blob(data, (1), .dtype = none), "99 is not a dtype");
        fy_tensor *x = fy_from_blob(data + 4, (2));
        FAILS_ALONE(fy_view(x, FY_FLOAT64), "its memory does not begin at a multiple of 8 bytes, as float64 needs");
        assert_non_null(fy_from_blob(NULL, (0)));
        assert_int_equal(deleted, 0);
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_writes_the_other_sees),
        cmocka_unit_test(read_only_memory_is_read_and_writes_are_refused),
        cmocka_unit_test(the_deleter_is_called_once_when_the_last_view_goes),
        cmocka_unit_test(a_deleter_may_use_ferry),
        cmocka_unit_test(strides_may_leave_gaps_and_repeat),
        cmocka_unit_test(it_moves_to_a_card_like_any_other),
        cmocka_unit_test(what_cannot_be_is_refused_and_not_given_back),
    };
    int failed = cmocka_run_group_tests_name("blob", tests, NULL, NULL);
    recorded_end();
    return failed;
}
