/* Optimizers with .foreach: one launch in place of one a parameter, the same results to the last bit, and what the log,
 * the race detector and the modelled clock say of such a launch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorded.h"
#include "tensor.h"

#define TEST(name) static void name(void **state)

enum { MOST = 150 };

static int count(const char *kind)
{
    int n = 0;
    while (event_of(kind, n)) n++;
    return n;
}

static const cJSON *op_named(const char *name, int n)
{
    const cJSON *e;
    for (int i = 0; (e = event_of("op", i)); i++)
        if (!strcmp(text_of(e, "name"), name) && n-- == 0) return e;
    return NULL;
}

static int length(const cJSON *e, const char *list) { return cJSON_GetArraySize(cJSON_GetObjectItem(e, list)); }

/* n parameters of different shapes, each with a gradient; the same in every call. */
static void make_parameters(int n, fy_tensor **w, fy_dtype dtype, const char *device)
{
    fy_manual_seed(7);
    for (int i = 0; i < n; i++) {
        fy_tensor *x = i % 3 == 0 ? fy_randn((3, 5)) : i % 3 == 1 ? fy_randn((300)) : fy_randn(());
        w[i] = fy_requires_grad_(fy_to(fy_to(x, dtype), device));
    }
}

static void set_gradients(int n, fy_tensor **w, double scale)
{
    for (int i = 0; i < n; i++) FY_SCOPE FY_NO_GRAD fy_set_grad(w[i], fy_mul(fy_add(w[i], i), scale));
}

/* By their bytes: in float16 Adam's eps is 0, and 0 / 0 is NaN. */
static bool all_equal(int n, fy_tensor **a, fy_tensor **b)
{
    bool same = true;
    FY_SCOPE FY_NO_GRAD for (int i = 0; same && i < n; i++)
    {
        fy_tensor *x = fy_cpu(fy_detach(a[i])), *y = fy_cpu(fy_detach(b[i]));
        same = !memcmp(fy_data(x), fy_data(y), (size_t)fy_numel(x) * x->element_size);
    }
    return same;
}

typedef fy_optimizer *(*maker)(size_t n, fy_tensor **w, bool foreach);

#define LIST fy_trained_tensors(n, w)
#define SGD(name, ...) \
    static fy_optimizer *name(size_t n, fy_tensor **w, bool foreach) \
    { \
        return fy_optim_sgd_at(FY_AT("fy_optim_sgd", ""), LIST, \
                               (fy_sgd_opts){.lr = 0.1, .fy_end_ = ~0, .foreach = foreach, __VA_ARGS__}); \
    }
#define ADAM(name, of, ...) \
    static fy_optimizer *name(size_t n, fy_tensor **w, bool foreach) \
    { \
        return fy_optim_##of##_at( \
            FY_AT("fy_optim_" #of, ""), LIST, \
            (fy_adam_opts){ \
                .lr = 0.1, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .fy_end_ = ~0, .foreach = foreach, __VA_ARGS__}); \
    }
SGD(plain, .momentum = 0)
SGD(decaying, .weight_decay = 0.1, .maximize = true)
SGD(with_momentum, .momentum = 0.9, .dampening = 0.25)
SGD(nesterov, .momentum = 0.9, .nesterov = true, .weight_decay = 0.05)
ADAM(adam, adam, .amsgrad = false)
ADAM(adam_amsgrad, adam, .amsgrad = true, .weight_decay = 0.1, .maximize = true)
ADAM(adamw, adamw, .weight_decay = 0.1)
ADAM(adamw_amsgrad, adamw, .weight_decay = 0.2, .amsgrad = true)

/* Three steps of both, from the same values. */
static void assert_same_bits(maker make, fy_dtype dtype, const char *device)
{
    enum { N = 7 };
    fy_tensor *a[N], *b[N];
    FY_SCOPE
    {
        make_parameters(N, a, dtype, device);
        make_parameters(N, b, dtype, device);
        fy_optimizer *single = make(N, a, false), *listed = make(N, b, true);
        for (int i = 0; i < 3; i++) {
            set_gradients(N, a, 0.3 + i);
            set_gradients(N, b, 0.3 + i);
            assert_true(fy_step(single) && fy_step(listed));
            assert_true(all_equal(N, a, b));
        }
        fy_optimizer_free(single);
        fy_optimizer_free(listed);
    }
}

TEST(results_are_the_same_to_the_last_bit)
{
    static const maker all[] = {plain, decaying, with_momentum, nesterov, adam, adam_amsgrad, adamw, adamw_amsgrad};
    static const fy_dtype dtypes[] = {FY_FLOAT32, FY_FLOAT64, FY_FLOAT16, FY_BFLOAT16};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
            assert_same_bits(all[i], dtypes[k], "cpu");
            assert_same_bits(all[i], dtypes[k], "cuda");
        }
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

TEST(a_step_is_one_launch_that_names_every_tensor)
{
    enum { N = 20 };
    fy_tensor *w[N];
    (void)state;
    FY_SCOPE
    {
        make_parameters(N, w, FY_FLOAT32, "cuda");
        set_gradients(N, w, 0.5);
        fy_optimizer *o = plain(N, w, true);
        uint32_t before = fy_storage_version(w[19]->storage);
        since();
        assert_true(fy_step(o));
        assert_int_equal(count("op"), 1);
        assert_int_equal(count("complete"), 1);
        const cJSON *e = event_of("op", 0);
        assert_string_equal(text_of(e, "name"), "foreach_add");
        assert_string_equal(text_of(e, "kernel"), "foreach_add_f32");
        assert_int_equal(length(e, "out"), N);
        assert_int_equal(length(e, "in"), 2 * N);
        assert_int_equal(number_of(e, "out.19.tensor"), w[19]->id);
        assert_int_equal(number_of(e, "in.38.storage"), w[19]->storage->id);
        assert_int_equal(number_of(e, "out.19.version"), before + 1);
        assert_int_equal(fy_storage_version(w[19]->storage), before + 1);
        int64_t elements = 7 * 15 + 7 * 300 + 6;
        assert_int_equal(number_of(e, "flops"), elements);
        assert_int_equal(number_of(e, "bytes"), 3 * 4 * elements);
        assert_int_equal(number_of(e, "grid.0"), 7 + 7 * 2 + 6); /* blocks of 256 threads, none of two tensors */
        fy_optimizer_free(o);
    }
}

/* On the modelled clock, until the card is done. */
static int64_t step_time(bool foreach)
{
    enum { N = 20 };
    fy_tensor *w[N];
    int64_t time = 0;
    FY_SCOPE
    {
        make_parameters(N, w, FY_FLOAT32, "cuda");
        set_gradients(N, w, 0.5);
        fy_optimizer *o = adam(N, w, foreach);
        fy_step(o); /* makes the state */
        fy_cuda_synchronize();
        since();
        int64_t start = fy_now();
        fy_step(o);
        fy_cuda_synchronize();
        time = fy_now() - start;
        assert_int_equal(count("op"), foreach ? 8 : 8 * N);
        fy_optimizer_free(o);
    }
    return time;
}

TEST(a_step_of_20_parameters_takes_less_time)
{
    (void)state;
    int64_t listed = step_time(true), single = step_time(false);
    assert_true(listed * 5 < single);
}

TEST(a_list_longer_than_a_launch_takes_several)
{
    fy_tensor *a[MOST], *b[MOST];
    (void)state;
    FY_SCOPE
    {
        make_parameters(MOST, a, FY_FLOAT32, "cuda");
        make_parameters(MOST, b, FY_FLOAT32, "cuda");
        set_gradients(MOST, a, 0.5);
        set_gradients(MOST, b, 0.5);
        fy_optimizer *listed = plain(MOST, a, true), *single = plain(MOST, b, false);
        since();
        assert_true(fy_step(listed));
        assert_int_equal(count("op"), 3);
        assert_int_equal(length(event_of("op", 0), "out"), 64);
        assert_int_equal(length(event_of("op", 1), "out"), 64);
        assert_int_equal(length(event_of("op", 2), "out"), MOST - 128);
        assert_true(fy_step(single));
        assert_true(all_equal(MOST, a, b));
        fy_optimizer_free(listed);
        fy_optimizer_free(single);
    }
}

TEST(on_the_cpu_it_is_one_operation_as_well)
{
    enum { N = 5 };
    fy_tensor *w[N];
    (void)state;
    FY_SCOPE
    {
        make_parameters(N, w, FY_FLOAT64, "cpu");
        set_gradients(N, w, 0.5);
        fy_optimizer *o = plain(N, w, true);
        since();
        assert_true(fy_step(o));
        assert_string_equal(kinds(), "op complete");
        assert_int_equal(length(event_of("op", 0), "out"), N);
        assert_string_equal(text_of(event_of("complete", 0), "engine"), "host");
        fy_optimizer_free(o);
    }
}

/* ---- what goes together -------------------------------------------------------------------------------------------- */

TEST(each_device_and_dtype_has_a_launch_of_its_own)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w[6];
        make_parameters(2, w, FY_FLOAT32, "cuda");
        make_parameters(2, w + 2, FY_FLOAT32, "cuda:1");
        make_parameters(1, w + 4, FY_FLOAT64, "cuda");
        make_parameters(1, w + 5, FY_FLOAT32, "cpu");
        set_gradients(6, w, 0.5);
        fy_optimizer *o = plain(6, w, true);
        since();
        assert_true(fy_step(o));
        assert_int_equal(count("op"), 4);
        assert_string_equal(text_of(event_of("op", 0), "device"), "cuda:0");
        assert_int_equal(length(event_of("op", 0), "out"), 2);
        assert_string_equal(text_of(event_of("op", 1), "device"), "cuda:1");
        assert_int_equal(length(event_of("op", 1), "out"), 2);
        assert_string_equal(text_of(event_of("op", 2), "dtype"), "float64");
        assert_string_equal(text_of(event_of("op", 3), "device"), "cpu");
        fy_optimizer_free(o);
    }
}

TEST(a_gradient_in_another_order_is_used_alone)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w[3];
        for (int i = 0; i < 3; i++) w[i] = fy_requires_grad_(fy_zeros((2, 2), .device = "cuda"));
        fy_tensor *g = fy_to(fy_view(fy_tensor((1, 2, 3, 4), .dtype = FY_FLOAT32), (2, 2)), "cuda");
        fy_set_grad(w[0], g);
        fy_set_grad(w[1], fy_t(g));
        fy_set_grad(w[2], g);
        fy_optimizer *o = plain(3, w, true);
        since();
        assert_true(fy_step(o));
        assert_int_equal(count("op"), 2);
        assert_int_equal(length(event_of("op", 0), "out"), 2);
        assert_string_equal(text_of(event_of("op", 1), "name"), "add");
        assert_true(fy_allclose(w[1], fy_t(w[0])));
        assert_true(element(w[1], 1) < -0.29 && element(w[2], 1) > -0.21);
        fy_optimizer_free(o);
    }
}

TEST(parameters_that_share_bytes_are_updated_in_turn)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *all = fy_ones((4), .device = "cuda"), *w[3];
        w[0] = fy_requires_grad_(fy_detach(fy_narrow(all, 0, 0, 3)));
        w[1] = fy_requires_grad_(fy_detach(fy_narrow(all, 0, 1, 3)));
        w[2] = fy_requires_grad_(fy_ones((3), .device = "cuda"));
        for (int i = 0; i < 3; i++) fy_set_grad(w[i], fy_zeros((3), .device = "cuda"));
        fy_optimizer *o = decaying(3, w, true); /* w - 0.1 * 0.1 * w, by way of maximize: + */
        since();
        assert_true(fy_step(o));
        assert_non_null(op_named("add", 3)); /* two ops each of the two */
        assert_int_equal(length(op_named("foreach_add", 0), "out"), 1);
        double once = element(w[2], 0);
        assert_true(element(all, 0) == once && element(all, 3) == once);
        assert_true(element(all, 1) != once && element(all, 1) == element(all, 2));
        fy_optimizer_free(o);
    }
}

TEST(a_parameter_that_missed_a_step_is_launched_apart)
{
    enum { N = 3 };
    fy_tensor *a[N], *b[N];
    (void)state;
    FY_SCOPE
    {
        make_parameters(N, a, FY_FLOAT32, "cuda");
        make_parameters(N, b, FY_FLOAT32, "cuda");
        fy_optimizer *listed = adam(N, a, true), *single = adam(N, b, false);
        set_gradients(2, a, 0.5);
        set_gradients(2, b, 0.5);
        assert_true(fy_step(listed) && fy_step(single));
        set_gradients(N, a, 0.5);
        set_gradients(N, b, 0.5);
        since();
        assert_true(fy_step(listed));
        assert_int_equal(length(op_named("foreach_sqrt", 0), "out"), 2);
        assert_int_equal(length(op_named("foreach_sqrt", 1), "out"), 1);
        assert_true(fy_step(single));
        assert_true(all_equal(N, a, b));
        fy_optimizer_free(listed);
        fy_optimizer_free(single);
    }
}

TEST(empty_tensors_take_part_and_nothing_runs_for_them)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w[3];
        w[0] = fy_requires_grad_(fy_zeros((0, 3), .device = "cuda"));
        w[1] = fy_requires_grad_(fy_ones((2), .device = "cuda"));
        w[2] = fy_requires_grad_(fy_zeros((0), .device = "cuda"));
        for (int i = 0; i < 3; i++) fy_set_grad(w[i], fy_ones_like(w[i]));
        fy_optimizer *o = adamw(3, w, true), *of_none = adamw(1, w, true);
        since();
        assert_true(fy_step(o));
        const cJSON *e = op_named("foreach_addcdiv", 0);
        assert_int_equal(length(e, "out"), 3);
        assert_int_equal(number_of(e, "grid.0"), 1);
        assert_true(element(w[1], 1) > 0.889 && element(w[1], 1) < 0.891);
        since();
        assert_true(fy_step(of_none));
        assert_null(field(op_named("foreach_addcdiv", 0), "kernel"));
        fy_optimizer_free(o);
        fy_optimizer_free(of_none);
    }
}

/* ---- races --------------------------------------------------------------------------------------------------------- */

TEST(a_race_of_one_tensor_spoils_that_tensor_alone)
{
    enum { N = 5 };
    fy_tensor *w[N];
    (void)state;
    FY_SCOPE
    {
        fy_stream *side = fy_cuda_stream();
        for (int i = 0; i < N; i++) {
            w[i] = fy_requires_grad_(fy_ones((4), .device = "cuda"));
            fy_set_grad(w[i], fy_ones((4), .device = "cuda"));
        }
        fy_optimizer *o = plain(N, w, true);
        fy_cuda_synchronize();
        since();
        FY_STREAM(side) fy_fill_(fy_grad(w[2]), 2);
        assert_true(fy_step(o));
        assert_int_equal(count("data_race"), 1);
        const cJSON *race = event_of("data_race", 0);
        assert_string_equal(text_of(race, "type"), "race");
        assert_int_equal(number_of(race, "storage"), fy_grad(w[2])->storage->id);
        assert_int_equal(number_of(race, "b"), number_of(op_named("foreach_add", 0), "seq"));
        fy_cuda_synchronize();
        for (int i = 0; i < N; i++) assert_true(i == 2 ? element(w[i], 0) != element(w[i], 0) : element(w[i], 0) > 0.8);
        fy_optimizer_free(o);
    }
}

TEST(what_a_later_race_overwrites_is_that_tensor_alone)
{
    enum { N = 5 };
    fy_tensor *w[N];
    (void)state;
    FY_SCOPE
    {
        fy_stream *side = fy_cuda_stream();
        for (int i = 0; i < N; i++) {
            w[i] = fy_requires_grad_(fy_ones((4), .device = "cuda"));
            fy_set_grad(w[i], fy_ones((4), .device = "cuda"));
        }
        fy_optimizer *o = plain(N, w, true);
        fy_cuda_synchronize();
        since();
        assert_true(fy_step(o));
        FY_STREAM(side) fy_fill_(fy_grad(w[3]), 2); /* the step may read the new gradient or the old */
        assert_int_equal(count("data_race"), 1);
        assert_int_equal(number_of(event_of("data_race", 0), "a"), number_of(op_named("foreach_add", 0), "seq"));
        fy_cuda_synchronize();
        for (int i = 0; i < N; i++) assert_true(i == 3 ? element(w[i], 0) != element(w[i], 0) : element(w[i], 0) > 0.8);
        fy_optimizer_free(o);
    }
}

/* ---- errors -------------------------------------------------------------------------------------------------------- */

TEST(a_full_card_fails_the_step_and_loses_nothing)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w[2];
        int64_t million = (int64_t)1 << 20; /* elements; of 64 MiB that the card has, 6 are left */
        for (int i = 0; i < 2; i++) {
            w[i] = fy_requires_grad_(fy_ones((million), .device = "cuda:1"));
            fy_set_grad(w[i], fy_ones((million), .device = "cuda:1"));
        }
        fy_optimizer *o = decaying(2, w, true);
        fy_tensor *rest = fy_empty((10 * million + million / 2), .device = "cuda:1");
        int64_t before = fy_cuda_memory_allocated("cuda:1");
        assert_non_null(rest);
        since();
        assert_false(fy_step(o));
        assert_true(failed_with("out of memory"));
        assert_true(fy_cuda_memory_allocated("cuda:1") == before);
        assert_int_equal(count("op"), 0);
        assert_true(element(w[0], 0) == 1 && element(w[1], million - 1) == 1);
        fy_free(rest);
        assert_true(fy_step(o));
        fy_optimizer_free(o);
    }
}

TEST(freed_with_work_in_its_queue_nothing_leaks)
{
    (void)state;
    int64_t before = fy_cuda_memory_allocated("cuda");
    FY_SCOPE
    {
        fy_tensor *w[4];
        make_parameters(4, w, FY_FLOAT32, "cuda");
        set_gradients(4, w, 0.5);
        fy_optimizer *o = adam_amsgrad(4, w, true);
        assert_true(fy_step(o) && fy_step(o));
        fy_optimizer_free(o);
    }
    assert_true(fy_cuda_memory_allocated("cuda") == before);
}

TEST(a_program_asks_for_it_by_its_name)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_requires_grad_(fy_ones((2))), *v = fy_requires_grad_(fy_ones((2)));
        fy_optimizer *o = fy_optim_adamw((w, v), .lr = 0.1, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8,
                                         .weight_decay = 0.1, .amsgrad = true, .maximize = false, .foreach = true);
        fy_set_grad(w, fy_ones((2)));
        fy_set_grad(v, fy_ones((2)));
        since();
        assert_true(fy_step(o));
        assert_int_equal(length(op_named("foreach_maximum", 0), "out"), 2);
        fy_optimizer_free(o);
    }
}

static int two_cards(void **state)
{
    setenv("FERRY_SIM", "h200:gpus=2,capacity=64MiB", 1);
    return record_on_sim(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_the_same_to_the_last_bit),
        cmocka_unit_test(a_step_is_one_launch_that_names_every_tensor),
        cmocka_unit_test(a_step_of_20_parameters_takes_less_time),
        cmocka_unit_test(a_list_longer_than_a_launch_takes_several),
        cmocka_unit_test(on_the_cpu_it_is_one_operation_as_well),
        cmocka_unit_test(each_device_and_dtype_has_a_launch_of_its_own),
        cmocka_unit_test(a_gradient_in_another_order_is_used_alone),
        cmocka_unit_test(parameters_that_share_bytes_are_updated_in_turn),
        cmocka_unit_test(a_parameter_that_missed_a_step_is_launched_apart),
        cmocka_unit_test(empty_tensors_take_part_and_nothing_runs_for_them),
        cmocka_unit_test(a_race_of_one_tensor_spoils_that_tensor_alone),
        cmocka_unit_test(what_a_later_race_overwrites_is_that_tensor_alone),
        cmocka_unit_test(a_full_card_fails_the_step_and_loses_nothing),
        cmocka_unit_test(freed_with_work_in_its_queue_nothing_leaks),
        cmocka_unit_test(a_program_asks_for_it_by_its_name),
    };
    return cmocka_run_group_tests(tests, two_cards, record_no_more);
}
