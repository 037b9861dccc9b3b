/* The streams of a backward pass: each gradient in the stream of its call, waits where it crosses to another, and at
 * the end. A wait that is missing is a data race, which the log reports, and which poisons the values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorded.h"

#define TEST(name) static void name(void **state)

static fy_tensor *weights(const char *device)
{
    fy_tensor *w = fy_tensor((1, 2), .dtype = FY_FLOAT32, .device = device, .requires_grad = true);
    fy_cuda_synchronize();
    return w;
}

static int count(const char *kind)
{
    int n = 0;
    while (event_of(kind, n)) n++;
    return n;
}

/* The streams of the ops since then, one digit each, the streams' numbers counted from `first`: 0 is the default. */
static const char *op_streams(const fy_stream *first)
{
    static char text[64];
    int n = 0;
    for (; event_of("op", n) && n < 63; n++) {
        int number = (int)number_of(event_of("op", n), "stream");
        text[n] = (char)('0' + (number ? number - fy_stream_id(first) + 1 : 0));
    }
    text[n] = 0;
    return text;
}

/* sum(w * w * w), in that stream; its gradient is 3 * w * w. */
static fy_tensor *cubes(fy_stream *s, fy_tensor *w)
{
    fy_tensor *y = NULL;
    FY_STREAM(s) y = fy_sum(fy_mul(fy_mul(w, w), w));
    return y;
}

TEST(a_gradient_is_computed_in_the_stream_of_its_call)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *w = weights("cuda"), *y = cubes(s, w);
        since();
        assert_true(fy_backward(y));
        assert_string_equal(op_streams(s), "00111111"); /* the 1 to start from is made in the current stream */
        assert_true(fy_cuda_current_stream() == fy_cuda_default_stream());
        assert_int_equal(count("data_race"), 0);
        assert_true(HOLDS(fy_grad(w), 3, 12));
    }
}

TEST(the_callers_stream_waits_for_the_leaves)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *w = weights("cuda"), *y = cubes(s, w);
        since();
        fy_backward(y);
        assert_int_equal(count("event_record"), 2);
        assert_int_equal(count("event_wait"), 2);
        assert_int_equal(number_of(event_of("event_record", 0), "stream"), 0);
        assert_int_equal(number_of(event_of("event_wait", 0), "stream"), fy_stream_id(s));
        assert_int_equal(number_of(event_of("event_record", 1), "stream"), fy_stream_id(s));
        assert_int_equal(number_of(event_of("event_wait", 1), "stream"), 0);
        assert_int_equal(number_of(event_of("record_stream", 0), "stream"), fy_stream_id(s));
        FY_NO_GRAD fy_sub_(w, fy_grad(w)); /* in the default stream, without a wait of its own */
        assert_int_equal(count("data_race"), 0);
        assert_true(HOLDS(w, -2, -10));
    }
}

TEST(with_one_stream_nothing_waits)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *w = weights("cuda");
        for (int inside = 0; inside < 2; inside++) FY_SCOPE /* a graph that is alive keeps the stream of its leaves */
            {
                fy_stream *now = inside ? s : fy_cuda_default_stream();
                fy_tensor *y = cubes(now, w);
                since();
                FY_STREAM(now) fy_backward(y);
                assert_int_equal(count("event_record") + count("event_wait") + count("record_stream"), 0);
                assert_int_equal(count("set_stream"), inside ? 2 : 0); /* of FY_STREAM */
                fy_cuda_synchronize();
                fy_set_grad(w, NULL);
            }
    }
}

TEST(a_gradient_that_crosses_streams_is_waited_for)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream(), *t = fy_cuda_stream(), *here = fy_cuda_default_stream();
        fy_tensor *w = weights("cuda"), *a = NULL, *b = NULL;
        FY_STREAM(s) a = fy_mul(w, 3);
        FY_STREAM(t) b = fy_mul(w, w);
        fy_stream_wait_stream(here, s);
        fy_stream_wait_stream(here, t);
        fy_tensor *loss = fy_sum(fy_mul(a, b)); /* 3 w^3 */
        since();
        assert_true(fy_backward(loss));
        /* Default to s and to t; t to s, where the leaf was used first; and s to the default stream at the end. */
        assert_int_equal(count("event_wait"), 5);
        assert_int_equal(count("data_race"), 0);
        assert_true(HOLDS(fy_grad(w), 9, 36));
    }
}

TEST(a_later_pass_adds_up_in_the_leafs_new_stream)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream(), *t = fy_cuda_stream();
        fy_tensor *w = weights("cuda");
        fy_stream *used[] = {s, t, s};
        for (int i = 0; i < 3; i++) FY_SCOPE
            {
                fy_tensor *y = NULL;
                fy_stream_wait_stream(used[i], fy_cuda_default_stream());
                FY_STREAM(used[i])
                y = fy_sum(fy_matmul(fy_t(fy_unsqueeze(w, 1)), fy_unsqueeze(w, 1))); /* views of it */
                since();
                fy_backward(y);
                assert_int_equal(number_of(event_of("event_wait", count("event_wait") - 1), "stream"), 0);
                assert_int_equal(number_of(event_of("event_record", count("event_record") - 1), "stream"),
                                 fy_stream_id(used[i]));
                assert_int_equal(count("data_race"), 0);
            }
        assert_true(HOLDS(fy_grad(w), 6, 12));
    }
}

TEST(gradients_of_two_cards_and_of_the_host_meet)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream(.device = "cuda:1");
        fy_tensor *w = weights("cuda:0"), *v = weights("cuda:1"), *h = weights("cpu"), *y = NULL;
        fy_tensor *there = fy_to(w, "cuda:1"), *up = fy_to(h, "cuda:1");
        fy_stream_wait_stream(s, fy_cuda_default_stream(.device = "cuda:1"));
        FY_STREAM(s) y = fy_cpu(fy_sum(fy_mul(fy_mul(there, v), up)));
        since();
        assert_true(fy_backward(y));
        assert_int_equal(count("data_race"), 0);
        assert_true(HOLDS(fy_grad(w), 1, 4) && HOLDS(fy_grad(v), 1, 4) && HOLDS(fy_grad(h), 1, 4));
        assert_int_equal(fy_cuda_current_device(), 0);
        assert_int_equal(fy_stream_id(fy_cuda_current_stream(.device = "cuda:1")), 0);
    }
}

TEST(a_pass_that_fails_restores_the_streams)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *w = weights("cuda"), *big = NULL, *y = NULL;
        FY_STREAM(s)
        {
            big = fy_expand(fy_reshape(w, (2, 1)), (2, 2 << 20));
            y = fy_sum(fy_mul(big, big));
        }
        fy_cuda_empty_cache();
        while (fy_empty((1 << 20), .device = "cuda")) continue; /* until the card is full */
        fy_clear_error();
        assert_false(fy_backward(y));
        assert_true(failed_with("out of memory"));
        assert_true(fy_cuda_current_stream() == fy_cuda_default_stream());
    }
}

TEST(a_retained_gradient_is_stored_in_its_stream)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream(), *t = fy_cuda_stream();
        fy_tensor *w = weights("cuda"), *h = NULL, *y = NULL;
        FY_STREAM(s) h = fy_retain_grad(fy_mul(w, 2));
        fy_stream_wait_stream(t, s);
        FY_STREAM(t) y = fy_sum(fy_mul(h, h));
        since();
        assert_true(fy_backward(y));
        assert_int_equal(count("data_race"), 0);
        assert_true(HOLDS(fy_grad(h), 4, 8) && HOLDS(fy_grad(w), 8, 16));
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "laptop:gpus=2,capacity=64MiB", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gradient_is_computed_in_the_stream_of_its_call),
        cmocka_unit_test(the_callers_stream_waits_for_the_leaves),
        cmocka_unit_test(with_one_stream_nothing_waits),
        cmocka_unit_test(a_gradient_that_crosses_streams_is_waited_for),
        cmocka_unit_test(a_later_pass_adds_up_in_the_leafs_new_stream),
        cmocka_unit_test(gradients_of_two_cards_and_of_the_host_meet),
        cmocka_unit_test(a_retained_gradient_is_stored_in_its_stream),
        cmocka_unit_test(a_pass_that_fails_restores_the_streams),
    };
    int failed = cmocka_run_group_tests_name("backward_streams", tests, NULL, NULL);
    recorded_end();
    return failed;
}
