/* fy_to in all its forms, several cards, page-locked memory, and where dtypes are converted. fy_copy_ is tested in
 * copy_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorded.h"

#define TEST(name) static void name(void **state)

/* "h2d float32 > cast float64": the copies and ops since then, in order, with the resulting dtype of each. */
static const char *copies_and_ops(void)
{
    static char text[400];
    const cJSON *e;
    text[0] = 0;
    recorded_read();
    cJSON_ArrayForEach(e, recorded_events)
    {
        bool copy = strcmp(event_kind_of(e), "copy") == 0, op = strcmp(event_kind_of(e), "op") == 0;
        size_t n = strlen(text);
        if (copy)
            snprintf(text + n, sizeof text - n, "%s%s %g%s%s", n ? " > " : "", text_of(e, "dir"), number_of(e, "bytes"),
                     *text_of(e, "cast") ? " cast at " : "", text_of(e, "cast"));
        if (op)
            snprintf(text + n, sizeof text - n, "%s%s %s %s", n ? " > " : "", text_of(e, "name"), text_of(e, "dtype"),
                     text_of(e, "device"));
    }
    return text;
}

/* ---- fy_to ---- */

TEST(to_is_the_tensor_itself_where_nothing_changes)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((3)), *g = fy_ones((3), .device = "cuda");
        since();
        assert_ptr_equal(fy_to(x, "cpu"), x);
        assert_ptr_equal(fy_to(x, FY_FLOAT32), x);
        assert_ptr_equal(fy_to(x, x), x);
        assert_ptr_equal(fy_to(x, "cpu", .non_blocking = true), x);
        assert_ptr_equal(fy_cpu(x), x);
        assert_ptr_equal(fy_to(g, "cuda:0"), g);
        assert_ptr_equal(fy_cuda(g), g);
        assert_ptr_equal(fy_cuda(g, 0), g);
        assert_string_equal(kinds(), "same same same same same same same same");
        fy_tensor *y = fy_to(x, "cpu", .copy = true);
        assert_false(fy_same_storage(x, y));
        assert_true(HOLDS(y, 1, 1, 1));
    }
}

TEST(to_another_tensor_takes_its_device_and_its_dtype)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *like = fy_ones((1), .dtype = FY_FLOAT64, .device = "cuda");
        fy_tensor *y = fy_to(fy_tensor((1, 2)), like), *z = fy_to(fy_tensor((1, 2)), like, .dtype = FY_INT32);
        assert_string_equal(fy_device(y), "cuda:0");
        assert_int_equal(fy_dtype_of(y), FY_FLOAT64);
        assert_int_equal(fy_dtype_of(z), FY_INT32);
        assert_true(HOLDS(z, 1, 2));
    }
}

TEST(dense_strides_are_kept_and_others_become_compact)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((12)), (3, 4));
        const char *devices[] = {"cpu", "cuda"};
        for (int i = 0; i < 2; i++) {
            fy_tensor *t = fy_to(fy_t(x), devices[i], .dtype = FY_FLOAT64);
            assert_true(HAS_STRIDES(t, 1, 4) && HAS_SHAPE(t, 4, 3));
            assert_true(HAS_STRIDES(fy_to(fy_slice(x, 1, 0, FY_END, 2), devices[i], .dtype = FY_FLOAT64), 2, 1));
            assert_true(HAS_STRIDES(fy_to(fy_expand(fy_ones((3, 1)), (3, 4)), devices[i], .copy = true), 4, 1));
        }
        since();
        fy_to(fy_narrow(fy_ones((1000)), 0, 5, 10), "cuda");
        assert_int_equal(number_of(event_of("copy", 0), "bytes"), 40); /* and not 4000 */
    }
}

/* Where the dtype is converted: on the CPU, unless the copy is non-blocking. */
TEST(a_dtype_is_converted_on_the_side_pytorch_picks)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_pin_memory(fy_arange((4))), *g = fy_cuda(x);
        since();
        fy_tensor *y = fy_to(x, "cuda", .dtype = FY_FLOAT32);
        assert_string_equal(copies_and_ops(), "cast float32 cpu > h2d 16 cast at source");
        assert_true(HOLDS(y, 0, 1, 2, 3));
        since();
        y = fy_to(x, "cuda", .dtype = FY_FLOAT32, .non_blocking = true);
        assert_string_equal(copies_and_ops(), "h2d 32 cast at destination > cast float32 cuda:0");
        assert_true(HOLDS(y, 0, 1, 2, 3));
        since();
        y = fy_to(g, "cpu", .dtype = FY_FLOAT32);
        assert_string_equal(copies_and_ops(), "d2h 32 cast at destination > cast float32 cpu");
        assert_true(HOLDS(y, 0, 1, 2, 3));
        since();
        y = fy_to(g, "cpu", .dtype = FY_FLOAT32, .non_blocking = true);
        assert_string_equal(copies_and_ops(), "cast float32 cuda:0 > d2h 16 cast at source");
        fy_cuda_synchronize();
        assert_true(HOLDS(y, 0, 1, 2, 3));
    }
}

TEST(every_pair_of_types_survives_the_way_there_and_back)
{
    (void)state;
    for (fy_dtype from = FY_FLOAT32; from <= FY_BOOL; from++)
        for (fy_dtype to = FY_FLOAT32; to <= FY_BOOL; to++) FY_SCOPE
            {
                double two = to == FY_BOOL || from == FY_BOOL ? 1 : 2;
                fy_tensor *x = fy_tensor((0, 1, 2), .dtype = from);
                assert_true(HOLDS(fy_to(x, "cuda", .dtype = to), 0, 1, two));
                fy_tensor *later = fy_to(fy_cuda(x), "cpu", .dtype = to, .non_blocking = true);
                fy_cuda_synchronize();
                assert_true(HOLDS(later, 0, 1, two));
                assert_true(HOLDS(fy_to(fy_cuda(x), to), 0, 1, two));
            }
}

/* ---- pinned memory ---- */

TEST(pinned_memory_is_a_copy_in_ram_that_crosses_directly)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((6)), (2, 3));
        since();
        fy_tensor *p = fy_pin_memory(fy_t(x));
        assert_string_equal(text_of(event_of("alloc", 0), "mem"), "pinned");
        assert_string_equal(text_of(event_of("alloc", 0), "device"), "cpu");
        assert_true(HAS_STRIDES(p, 1, 3) && HOLDS(p, 0, 3, 1, 4, 2, 5));
        assert_ptr_equal(fy_pin_memory(p), p);
        assert_true(fy_is_pinned(p) && fy_is_pinned(fy_narrow(p, 0, 1, 1)));
        assert_false(fy_is_pinned(x) || fy_is_pinned(fy_cuda(x)) || fy_is_pinned(fy_clone(p)));
        assert_true(fy_is_pinned(fy_zeros((2), .pin_memory = true)));
        assert_true(fy_is_pinned(fy_tensor((1, 2), .pin_memory = true)));
        since();
        fy_cuda(p);
        assert_string_equal(text_of(event_of("copy", 0), "route"), "direct");
        assert_string_equal(text_of(event_of("copy", 0), "src.mem"), "pinned");
        since();
        fy_cuda(x);
        assert_string_equal(text_of(event_of("copy", 0), "route"), "staged");
    }
}

static bool is_true(const cJSON *e, const char *name) { return cJSON_IsTrue(field(e, name)); }

TEST(only_a_pinned_non_blocking_copy_does_not_wait)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((1 << 16)), *p = fy_pin_memory(x);
        struct {
            fy_tensor *from;
            bool asked, waits;
        } cases[] = {{x, false, true}, {x, true, true}, {p, false, true}, {p, true, false}};
        for (int i = 0; i < 12; i++) {
            int form = i / 4, k = i % 4;
            fy_cuda_synchronize();
            since();
            if (form == 0) fy_to(cases[k].from, "cuda", .non_blocking = cases[k].asked);
            if (form == 1) fy_cuda(cases[k].from, .non_blocking = cases[k].asked);
            if (form == 2) fy_cuda(cases[k].from, 0, .non_blocking = cases[k].asked);
            const cJSON *copy = event_of("copy", 0), *end = event_of("complete", 0);
            assert_int_equal(is_true(copy, "async"), cases[k].asked);
            assert_int_equal(is_true(copy, "was_async"), !cases[k].waits);
            assert_int_equal((double)fy_now() >= number_of(end, "end"), cases[k].waits);
            assert_int_equal(number_of(copy, "held") < number_of(end, "wire"), !cases[k].waits);
        }
    }
}

TEST(a_non_blocking_copy_is_pinned_and_arrives_later)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_ones((1 << 16), .device = "cuda");
        since();
        fy_tensor *y = fy_to(g, "cpu", .non_blocking = true);
        assert_true(fy_is_pinned(y));
        assert_string_equal(kinds(), "alloc tensor copy complete"); /* and no sync */
        assert_true((double)fy_now() < number_of(event_of("complete", 0), "end"));
        since();
        assert_false(fy_is_pinned(fy_to(g, "cpu")));
        assert_string_equal(kinds(), "alloc tensor copy complete sync");
    }
}

TEST(what_cannot_be_pinned_says_so)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_ones((2), .device = "cuda");
        since();
        assert_null(fy_pin_memory(g));
        assert_true(failed_with("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"));
        assert_null(fy_zeros((2), .device = "cuda", .pin_memory = true));
        assert_true(failed_with("Only dense CPU tensors can be pinned"));
        assert_null(fy_pin_memory(fy_expand(fy_ones((1)), (3))));
        assert_true(failed_with("more than one element of the written-to tensor"));
    }
}

/* ---- two cards ---- */

TEST(cuda_is_the_current_card_of_the_thread)
{
    (void)state;
    FY_SCOPE
    {
        assert_int_equal(fy_cuda_device_count(), 2);
        fy_tensor *x = fy_arange((3));
        fy_cuda_set_device(1);
        assert_int_equal(fy_cuda_current_device(), 1);
        fy_tensor *g = fy_to(x, "cuda");
        assert_string_equal(fy_device(g), "cuda:1");
        assert_string_equal(fy_device(fy_cuda(x)), "cuda:1");
        fy_cuda_set_device(0);
        assert_string_equal(fy_device(fy_cuda(g)), "cuda:0"); /* g stays on cuda:1 */
        assert_string_equal(fy_device(g), "cuda:1");
        assert_string_equal(fy_device(fy_cuda(x, 1)), "cuda:1");
        assert_string_equal(fy_device(fy_zeros_like(g)), "cuda:1");
        fy_cuda_set_device(2);
        assert_true(failed_with("invalid device ordinal"));
        assert_int_equal(fy_cuda_current_device(), 0);
        assert_null(fy_cuda(x, 2));
        assert_true(failed_with("invalid device ordinal"));
        assert_null(fy_to(x, "cuda:2"));
        assert_true(failed_with("invalid device ordinal"));
    }
}

TEST(tensors_cross_between_cards_and_convert_on_the_first)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_to(fy_view(fy_arange((6)), (2, 3)), "cuda:0");
        since();
        fy_tensor *h = fy_to(fy_t(g), "cuda:1");
        assert_string_equal(copies_and_ops(), "p2p 48");
        assert_true(HAS_STRIDES(h, 1, 3) && HOLDS(h, 0, 3, 1, 4, 2, 5));
        since();
        fy_tensor *f = fy_to(g, "cuda:1", .dtype = FY_FLOAT32);
        assert_string_equal(copies_and_ops(), "cast float32 cuda:0 > p2p 24 cast at source");
        assert_true(HOLDS(f, 0, 1, 2, 3, 4, 5));
        assert_null(fy_add(g, h));
        assert_true(failed_with("found at least two devices, cuda:0 and cuda:1!"));
        assert_null(fy_add(h, g));
        assert_true(failed_with("found at least two devices, cuda:1 and cuda:0!"));
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "h200:capacity=64MiB,gpus=2", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_is_the_tensor_itself_where_nothing_changes),
        cmocka_unit_test(to_another_tensor_takes_its_device_and_its_dtype),
        cmocka_unit_test(dense_strides_are_kept_and_others_become_compact),
        cmocka_unit_test(a_dtype_is_converted_on_the_side_pytorch_picks),
        cmocka_unit_test(every_pair_of_types_survives_the_way_there_and_back),
        cmocka_unit_test(pinned_memory_is_a_copy_in_ram_that_crosses_directly),
        cmocka_unit_test(only_a_pinned_non_blocking_copy_does_not_wait),
        cmocka_unit_test(a_non_blocking_copy_is_pinned_and_arrives_later),
        cmocka_unit_test(what_cannot_be_pinned_says_so),
        cmocka_unit_test(cuda_is_the_current_card_of_the_thread),
        cmocka_unit_test(tensors_cross_between_cards_and_convert_on_the_first),
    };
    int failed = cmocka_run_group_tests_name("moving", tests, NULL, NULL);
    recorded_end();
    return failed;
}
