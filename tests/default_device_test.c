/* The default device: which factories it moves and which not, its blocks and threads; and a model that is split over
 * two cards by hand, whose gradients cross between them. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npy_files.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)
#define IS_ON(where, x) assert_string_equal(fy_device(x), where)

TEST(every_factory_follows_the_default_device)
{
    (void)state;
    assert_string_equal(fy_get_default_device(), "cpu");
    assert_true(fy_set_default_device("cuda:1"));
    assert_string_equal(fy_get_default_device(), "cuda:1");
    FY_SCOPE
    {
        fy_tensor *made[] = {fy_zeros((2)),           fy_ones((2)),    fy_full((2), 7),   fy_empty((2)), fy_arange((3)),
                             fy_linspace((0, 1, 3)),  fy_eye((2)),     fy_tensor((1, 2)), fy_rand((2)),  fy_randn((2)),
                             fy_randint((0, 9), (2)), fy_randperm((4))};
        FY_EACH (x, made) IS_ON("cuda:1", x);
        assert_true(HOLDS(made[2], 7, 7) && HOLDS(made[4], 0, 1, 2) && HOLDS(made[7], 1, 2));
        fy_tensor *w = fy_ones((2), .requires_grad = true);
        IS_ON("cuda:1", w);
        assert_true(fy_requires_grad(w));
    }
    assert_true(fy_set_default_device("cpu"));
    FY_SCOPE IS_ON("cpu", fy_ones((2)));
}

TEST(parameters_of_modules_follow_it_too)
{
    (void)state;
    FY_SCOPE FY_DEVICE("cuda:1")
    {
        size_t n;
        fy_module *m = fy_nn_linear(2, 3), *home = fy_nn_linear(2, 3, .device = "cpu");
        fy_tensor **p = (fy_tensor **)fy_parameters(m, &n);
        for (size_t i = 0; i < n; i++) IS_ON("cuda:1", p[i]);
        IS_ON("cpu", fy_parameters(home, &n)[0]);
        IS_ON("cuda:1", fy_call(m, fy_ones((4, 2))));
        fy_module_free(m);
        fy_module_free(home);
    }
}

TEST(what_has_a_place_stays_there)
{
    (void)state;
    float mine[] = {1, 2};
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2));
        assert_true(fy_save_npy(npy_path("x.npy"), x));
        FY_DEVICE("cuda")
        {
            IS_ON("cpu", fy_ones((2), .device = "cpu"));
            IS_ON("cpu", fy_zeros_like(x));
            IS_ON("cpu", fy_randn_like(x));
            IS_ON("cpu", fy_from_blob(mine, (2)));
            IS_ON("cpu", fy_load_npy(npy_path("x.npy")));
            IS_ON("cpu", fy_one_hot(fy_arange((3), .device = "cpu"), 3));
            IS_ON("cpu", fy_add(x, 1));
            IS_ON("cuda:0", fy_ones_like(fy_ones((2))));
        }
    }
}

TEST(cuda_is_the_card_that_is_current_then)
{
    (void)state;
    FY_SCOPE FY_DEVICE("cuda")
    {
        IS_ON("cuda:0", fy_ones((2)));
        fy_cuda_set_device(1);
        IS_ON("cuda:1", fy_ones((2)));
        assert_string_equal(fy_get_default_device(), "cuda:1");
        FY_DEVICE("cuda:0") IS_ON("cuda:0", fy_ones((2)));
        assert_int_equal(fy_cuda_current_device(), 1);
        fy_cuda_set_device(0);
    }
}

static void leave_by_return(void) { FY_DEVICE("cuda:1") return; }

TEST(a_block_ends_by_break_and_return_and_nests)
{
    (void)state;
    FY_SCOPE
    {
        FY_DEVICE("cuda:0")
        {
            FY_DEVICE("cuda:1") IS_ON("cuda:1", fy_ones((2)));
            IS_ON("cuda:0", fy_ones((2)));
            FY_DEVICE("cpu") IS_ON("cpu", fy_ones((2)));
            FY_DEVICE("cuda:1") break;
            IS_ON("cuda:0", fy_ones((2)));
            leave_by_return();
            IS_ON("cuda:0", fy_ones((2)));
            fy_set_default_device("cuda:1"); /* until the block ends */
            IS_ON("cuda:1", fy_ones((2)));
        }
        IS_ON("cpu", fy_ones((2)));
    }
}

TEST(a_bad_name_is_an_error_and_changes_nothing)
{
    (void)state;
    assert_false(fy_set_default_device("gpu"));
    assert_true(failed_with("Expected one of cpu, cuda device type at start of device string: gpu"));
    assert_false(fy_set_default_device("cuda:2"));
    assert_true(failed_with("invalid device ordinal"));
    assert_false(fy_set_default_device(NULL));
    assert_true(failed_with("Device string must not be empty"));
    FY_DEVICE("cuda:7") assert_string_equal(fy_get_default_device(), "cpu");
    assert_true(failed_with("invalid device ordinal"));
    assert_string_equal(fy_get_default_device(), "cpu");
}

TEST(pinned_memory_is_refused_where_a_card_is_the_default)
{
    (void)state;
    FY_DEVICE("cuda")
    {
        assert_null(fy_ones((2), .pin_memory = true));
        assert_true(failed_with("Only dense CPU tensors can be pinned"));
        fy_tensor *x = fy_ones((2), .pin_memory = true, .device = "cpu");
        assert_true(fy_is_pinned(x));
        fy_free(x);
    }
}

static void *device_of_a_new_tensor(void *name)
{
    fy_tensor *x = fy_ones((2));
    snprintf(name, 16, "%s", fy_device(x));
    fy_free(x);
    return NULL;
}

TEST(each_thread_has_a_default_of_its_own)
{
    (void)state;
    pthread_t other;
    char name[16] = "";
    FY_DEVICE("cuda:1")
    {
        assert_int_equal(pthread_create(&other, NULL, device_of_a_new_tensor, name), 0);
        pthread_join(other, NULL);
    }
    assert_string_equal(name, "cpu");
}

TEST(the_default_device_moves_nothing_over_the_bus)
{
    (void)state;
    FY_SCOPE FY_DEVICE("cuda")
    {
        since();
        fy_ones((2));
        assert_string_equal(kinds(), "alloc tensor op complete");
        assert_string_equal(text_of(event_of("op", 0), "device"), "cuda:0");
    }
}

/* ---- a model split over two cards ---- */

enum { STEPS = 5 };
typedef struct training {
    double loss[STEPS], first[6], second[6]; /* the gradients of the first step */
} training;

static void keep(double *to, fy_tensor *g)
{
    for (int i = 0; i < 6; i++) to[i] = element(g, i);
}

static void descend(fy_tensor *w)
{
    FY_NO_GRAD fy_sub_(w, fy_grad(w), 0.05);
    fy_set_grad(w, NULL);
}

/* y = relu(x @ w1) @ w2, w1 on one card and w2 on another. */
static training train(const char *one, const char *two)
{
    training t;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_tensor((1, 2, -1, 0.5, 3, -2), .device = one), (3, 2));
        fy_tensor *y = fy_view(fy_tensor((1, 0, -1, 2, 0.5, 1), .device = two), (3, 2));
        fy_tensor *w1 = fy_view(fy_tensor((0.5, -0.25, 1, 0.75, 0.125, -0.5), .device = one), (2, 3));
        fy_tensor *w2 = fy_view(fy_tensor((0.25, 0.5, -1, 0.75, 0.5, -0.125), .device = two), (3, 2));
        w1 = fy_requires_grad_(fy_clone(w1));
        w2 = fy_requires_grad_(fy_clone(w2));
        FY_TIMES (i, STEPS) {
            fy_tensor *h = fy_to(fy_relu(fy_matmul(x, w1)), two);
            fy_tensor *loss = fy_mse_loss(fy_matmul(h, w2), y);
            IS_ON(two, loss);
            assert_true(fy_backward(loss));
            IS_ON(one, fy_grad(w1));
            IS_ON(two, fy_grad(w2));
            t.loss[i] = fy_item(loss);
            if (i == 0) keep(t.first, fy_grad(w1)), keep(t.second, fy_grad(w2));
            descend(w1);
            descend(w2);
        }
    }
    return t;
}

TEST(a_model_split_over_two_cards_trains_as_on_one)
{
    (void)state;
    training alone = train("cpu", "cpu");
    since();
    training split = train("cuda:0", "cuda:1");
    for (int i = 0; i < STEPS; i++) {
        assert_true(fabs(split.loss[i] - alone.loss[i]) < 1e-6);
        if (i > 0) assert_true(split.loss[i] < split.loss[i - 1]);
    }
    for (int i = 0; i < 6; i++) {
        assert_true(fabs(split.first[i] - alone.first[i]) < 1e-6);
        assert_true(fabs(split.second[i] - alone.second[i]) < 1e-6);
    }
    int there = 0, back = 0;
    const cJSON *c;
    for (int i = 0; (c = event_of("copy", i)); i++) {
        if (strcmp(text_of(c, "dir"), "p2p") != 0) continue;
        bool grad = strcmp(text_of(c, "why"), "grad") == 0;
        assert_string_equal(text_of(c, "src.device"), grad ? "cuda:1" : "cuda:0");
        assert_string_equal(text_of(c, "dst.device"), grad ? "cuda:0" : "cuda:1");
        if (grad) back++;
        else there++;
    }
    assert_int_equal(there, STEPS); /* activations */
    assert_int_equal(back, STEPS);  /* their gradients */
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "laptop:gpus=2", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_factory_follows_the_default_device),
        cmocka_unit_test(parameters_of_modules_follow_it_too),
        cmocka_unit_test(what_has_a_place_stays_there),
        cmocka_unit_test(cuda_is_the_card_that_is_current_then),
        cmocka_unit_test(a_block_ends_by_break_and_return_and_nests),
        cmocka_unit_test(a_bad_name_is_an_error_and_changes_nothing),
        cmocka_unit_test(pinned_memory_is_refused_where_a_card_is_the_default),
        cmocka_unit_test(each_thread_has_a_default_of_its_own),
        cmocka_unit_test(the_default_device_moves_nothing_over_the_bus),
        cmocka_unit_test(a_model_split_over_two_cards_trains_as_on_one),
    };
    int failed = cmocka_run_group_tests_name("default_device", tests, make_npy_folder, remove_npy_folder);
    recorded_end();
    return failed;
}
