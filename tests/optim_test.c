/* Optimizers: what they take, what a step does on a card, the state that they keep, gradients that are cleared and
 * clipped. The values are compared with PyTorch's by oracle_test.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph.h"
#include "recorded.h"
#include "tensor.h"

#define TEST(name) static void name(void **state)

static int count(const char *kind)
{
    int n = 0;
    while (event_of(kind, n)) n++;
    return n;
}

static fy_tensor *two(const char *device)
{
    fy_tensor *w = fy_to(fy_tensor((1, 2), .dtype = FY_FLOAT32), device);
    return fy_requires_grad_(w);
}

/* One step of w * w. */
static bool step(fy_optimizer *o, fy_tensor *w)
{
    bool ok = false;
    FY_SCOPE
    {
        fy_zero_grad(o);
        ok = fy_backward(fy_sum(fy_mul(w, w))) && fy_step(o);
    }
    return ok;
}

/* ---- what they take (C14.10) ---- */

TEST(what_cannot_be_trained_is_told)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *nothing = fy_nn_relu();
        fy_tensor *w = two("cpu"), *moved = fy_to(w, "cuda");
        assert_null(fy_optim_sgd(nothing));
        assert_true(failed_with("optimizer got an empty parameter list"));
        assert_null(fy_optim_sgd((moved), .lr = 0.1));
        assert_true(failed_with("can't optimize a non-leaf Tensor"));
        assert_null(fy_optim_sgd((w, w)));
        assert_true(strstr(fy_error(), "\n  w is on cpu (2) float32"));
        assert_true(failed_with("some parameters appear in more than one parameter group"));
        assert_null(fy_optim_sgd((w), .lr = -1));
        assert_true(failed_with("Invalid learning rate: -1"));
        assert_null(fy_optim_sgd((w), .momentum = -2));
        assert_true(failed_with("Invalid momentum value: -2"));
        assert_null(fy_optim_sgd((w), .nesterov = true));
        assert_true(failed_with("Nesterov momentum requires a momentum and zero dampening"));
        assert_null(fy_optim_adam((w), .beta2 = 1));
        assert_true(failed_with("Invalid beta parameter at index 1: 1"));
        assert_null(fy_optim_adamw((w), .eps = -1));
        assert_true(failed_with("Invalid epsilon value: -1"));
        assert_null(fy_clip_grad_norm_((w), -1));
        assert_true(failed_with("Invalid max_norm: -1"));
        fy_module_free(nothing);
        fy_optimizer *o = fy_optim_sgd((w));
        fy_set_lr(o, -3);
        assert_true(failed_with("Invalid learning rate: -3"));
        fy_optimizer_free(o);
        assert_false(fy_step(o));
        assert_true(failed_with("o was already freed"));
    }
}

/* ---- gradients ---- */

TEST(cleared_gradients_are_gone_and_their_parameters_stay)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two("cuda"), *idle = two("cuda");
        fy_optimizer *o = fy_optim_sgd((w, idle), .lr = 0.5, .momentum = 0.9);
        fy_backward(fy_sum(fy_mul(w, w)));
        since();
        assert_true(fy_step(o));
        assert_int_equal(count("op"), 2); /* the momentum's first value is a copy; then the parameter */
        assert_true(HOLDS(w, 0, 0));
        assert_true(HOLDS(idle, 1, 2));
        fy_zero_grad(o);
        assert_null(fy_grad(w));
        since();
        assert_true(fy_step(o)); /* none has a gradient */
        assert_string_equal(kinds(), "");
        fy_optimizer_free(o);
    }
}

TEST(clipping_neither_copies_nor_waits)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two("cuda"), *v = two("cuda"), *idle = two("cuda");
        fy_set_grad(w, fy_tensor((3, 0), .dtype = FY_FLOAT32, .device = "cuda"));
        fy_set_grad(v, fy_tensor((0, 4), .dtype = FY_FLOAT32, .device = "cuda"));
        since();
        fy_tensor *norm = fy_clip_grad_norm_((w, v, idle), 1);
        assert_int_equal(count("copy") + count("sync"), 0);
        assert_string_equal(norm->name, "norm");
        assert_true(HOLDS(norm, 5));
        assert_true(element(fy_grad(w), 0) > 0.5999 && element(fy_grad(w), 0) < 0.6001);
        assert_true(element(fy_grad(v), 1) > 0.7999 && element(fy_grad(v), 1) < 0.8001);
        assert_true(HOLDS(fy_clip_grad_norm_((idle), 1), 0));
    }
}

TEST(the_learning_rate_can_change)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two("cpu");
        fy_optimizer *o = fy_optim_sgd((w), .lr = 0);
        assert_true(step(o, w));
        assert_true(HOLDS(w, 1, 2));
        fy_set_lr(o, 0.25);
        assert_true(step(o, w));
        assert_true(HOLDS(w, 0.5, 1));
        fy_optimizer_free(o);
    }
}

/* ---- state (C14.7) ---- */

TEST(state_is_made_by_the_first_step_and_named)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *net = fy_sequential((fy_nn_linear(2, 2, .bias = false)));
        fy_module_to(net, "cuda");
        int64_t before = fy_cuda_memory_allocated("cuda");
        fy_optimizer *o = fy_optim_adam(net, .amsgrad = true);
        assert_true(fy_cuda_memory_allocated("cuda") == before);
        fy_tensor *x = fy_ones((1, 2), .device = "cuda");
        FY_SCOPE fy_backward(fy_sum(fy_call(net, x)));
        since();
        assert_true(fy_step(o));
        assert_string_equal(text_of(event_of("tensor", 0), "name"), "0.weight.exp_avg");
        assert_string_equal(text_of(event_of("tensor", 1), "name"), "0.weight.exp_avg_sq");
        assert_string_equal(text_of(event_of("tensor", 2), "name"), "0.weight.max_exp_avg_sq");
        fy_zero_grad(net);
        fy_free(x);
        assert_true(fy_cuda_memory_allocated("cuda") == before + 3 * 512);
        fy_optimizer_free(o);
        fy_optimizer_free(NULL);
        assert_true(fy_cuda_memory_allocated("cuda") == before);
        fy_module_free(net);
    }
}

TEST(state_is_told_with_its_parameter)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two("cuda");
        fy_optimizer *all[] = {fy_optim_sgd((w), .momentum = 0.9), fy_optim_adam((w)), fy_optim_adamw((w))};
        const char *names[] = {"SGD", "Adam", "AdamW"}, *first[] = {"momentum_buffer", "exp_avg", "exp_avg"};
        for (int i = 0; i < 3; i++) {
            since();
            assert_true(step(all[i], w) && step(all[i], w));
            assert_int_equal(count("state"), i ? 2 : 1); /* of the first step */
            const cJSON *e = event_of("state", 0);
            assert_string_equal(text_of(e, "optimizer"), names[i]);
            assert_string_equal(text_of(e, "what"), first[i]);
            assert_int_equal(number_of(e, "parameter"), w->id);
            fy_optimizer_free(all[i]);
        }
    }
}

TEST(adam_state_made_before_a_move_stays_behind)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *net = fy_nn_linear(2, 1, .bias = false);
        fy_optimizer *o = fy_optim_adam(net);
        fy_backward(fy_sum(fy_call(net, fy_ones((1, 2)))));
        assert_true(fy_step(o));
        fy_module_to(net, "cuda");
        fy_zero_grad(o);
        fy_backward(fy_sum(fy_call(net, fy_ones((1, 2), .device = "cuda"))));
        assert_false(fy_step(o));
        assert_non_null(strstr(fy_error(), "fix: move the module before the first fy_step"));
        assert_true(strstr(fy_error(), "weight.exp_avg is on cpu") && strstr(fy_error(), "weight.grad is on cuda:0"));
        assert_true(failed_with("Expected all tensors to be on the same device"));
        fy_optimizer_free(o);
        fy_module_free(net);
    }
}

TEST(an_optimizer_outlives_what_it_trains)
{
    (void)state;
    int64_t before = fy_cuda_memory_allocated("cuda");
    fy_module *net = fy_nn_linear(2, 1);
    fy_module_to(net, "cuda");
    fy_optimizer *o = fy_optim_sgd(net);
    fy_module_free(net);
    assert_true(fy_step(o));
    fy_optimizer_free(o);
    assert_true(fy_cuda_memory_allocated("cuda") == before);
}

TEST(live_bytes_stay_flat_over_steps)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *net = fy_sequential((fy_nn_linear(4, 8), fy_nn_tanh(), fy_nn_layer_norm((8)), fy_nn_linear(8, 3)));
        fy_module_to(net, "cuda");
        fy_optimizer *o = fy_optim_adamw(net, .lr = 0.01);
        fy_tensor *x = fy_randn((16, 4), .device = "cuda"), *y = fy_to(fy_randint((0, 3), (16)), "cuda");
        int64_t after_two = 0;
        double first = 0, last = 0;
        const char *more = getenv("STEPS"); /* 10000, by hand */
        int64_t steps = more ? atoi(more) : 300;
        FY_TIMES (i, steps) {
            fy_tensor *loss = fy_cross_entropy(fy_call(net, x), y);
            fy_zero_grad(o);
            assert_true(fy_backward(loss) && fy_clip_grad_norm_(net, 5) && fy_step(o));
            if (i == 1) after_two = fy_cuda_memory_allocated("cuda"), first = fy_item(loss);
            if (i == steps - 1) last = fy_item(loss);
            if (i > 1) assert_true(fy_cuda_memory_allocated("cuda") == after_two);
        }
        assert_true(last < first / 4);
        fy_optimizer_free(o);
        fy_module_free(net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_trained_is_told),
        cmocka_unit_test(cleared_gradients_are_gone_and_their_parameters_stay),
        cmocka_unit_test(clipping_neither_copies_nor_waits),
        cmocka_unit_test(the_learning_rate_can_change),
        cmocka_unit_test(state_is_made_by_the_first_step_and_named),
        cmocka_unit_test(state_is_told_with_its_parameter),
        cmocka_unit_test(adam_state_made_before_a_move_stays_behind),
        cmocka_unit_test(an_optimizer_outlives_what_it_trains),
        cmocka_unit_test(live_bytes_stay_flat_over_steps),
    };
    return cmocka_run_group_tests(tests, record_on_sim, record_no_more);
}
