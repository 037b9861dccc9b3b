/* Modules: what they hold under which names, moving, training and evaluation, ownership. Initial values
 * and results are compared with PyTorch's by oracle_test.sh. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph.h"
#include "recorded.h"
#include "tensor.h"

#define TEST(name) static void name(void **state)

static fy_module *two_layers(void) { return fy_sequential((fy_nn_linear(3, 4), fy_nn_relu(), fy_nn_linear(4, 2))); }

/* A learner's own module: one parameter, one buffer, one tensor that is only a member, one module. */
typedef struct scale {
    fy_module base;
    fy_tensor *factor, *offset, *plain;
    fy_module *inner;
} scale;

static fy_tensor *scale_forward(void *module, fy_tensor *x)
{
    scale *self = module;
    fy_tensor *scaled = fy_mul(x, self->factor);
    return fy_call(self->inner, fy_add(scaled, self->offset));
}

static scale *own(void)
{
    scale *m = fy_module_new(scale, scale_forward);
    m->factor = fy_parameter(m, "factor", fy_full((3), 2.0));
    m->offset = fy_buffer(m, "offset", fy_ones((3)));
    m->inner = fy_submodule(m, "inner", fy_nn_linear(3, 1));
    m->plain = fy_ones((3));
    return m;
}

/* ---- moving (C14.1, C14.3 to C14.6, C14.12) ---- */

TEST(a_moved_module_keeps_parameters_and_an_earlier_optimizer)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *net = two_layers();
        fy_tensor *weight = fy_get_parameter(net, "0.weight"), *x = fy_ones((5, 3), .device = "cuda");
        fy_optimizer *optimizer = fy_optim_sgd(net, .lr = 0.5);
        double before = element(weight, 0);
        assert_true(fy_module_to(net, "cuda"));
        assert_ptr_equal(fy_get_parameter(net, "0.weight"), weight);
        assert_string_equal(fy_device(weight), "cuda:0");
        assert_true(fy_is_leaf(weight) && fy_requires_grad(weight));
        assert_true(element(weight, 0) == before);
        assert_true(fy_backward(fy_sum(fy_call(net, x))));
        fy_tensor *gradient = fy_grad(weight);
        assert_string_equal(fy_device(gradient), "cuda:0");
        double slope = 0;
        for (int64_t i = 0; i < 12; i++) slope += element(gradient, i) * element(gradient, i);
        assert_true(slope > 0);
        double first = element(weight, 3), gradient_of_first = element(gradient, 3);
        assert_true(fy_step(optimizer));
        assert_true(element(weight, 3) == (double)(float)(first - 0.5 * gradient_of_first));
        fy_optimizer_free(optimizer);
        fy_module_free(net);
    }
}

TEST(moving_a_linear_module_allocates_and_copies_twice)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *m = fy_nn_linear(100, 50);
        since();
        assert_true(fy_module_to(m, "cuda"));
        assert_string_equal(kinds(), "alloc tensor copy complete drop free alloc tensor copy complete drop free");
        assert_int_equal((int)number_of(event_of("alloc", 0), "bytes"), 20480);
        assert_int_equal((int)number_of(event_of("alloc", 1), "bytes"), 512);
        assert_int_equal((int)number_of(event_of("copy", 0), "bytes"), 20000);
        assert_int_equal((int)number_of(event_of("copy", 1), "bytes"), 200);
        assert_string_equal(text_of(event_of("tensor", 0), "name"), "weight");
        assert_string_equal(text_of(event_of("drop", 0), "why"), "data");
        since();
        assert_true(fy_module_to(m, "cuda"));
        assert_string_equal(kinds(), "");
        fy_module_free(m);
    }
}

TEST(what_is_only_a_member_of_the_struct_stays_behind)
{
    (void)state;
    FY_SCOPE
    {
        scale *m = own();
        fy_tensor *offset = m->offset;
        assert_true(fy_module_to(m, "cuda"));
        assert_string_equal(fy_device(m->factor), "cuda:0");
        assert_string_equal(fy_device(m->offset), "cuda:0");
        assert_ptr_equal(m->offset, offset);
        assert_string_equal(fy_device(fy_get_parameter(m, "inner.weight")), "cuda:0");
        assert_string_equal(fy_device(m->plain), "cpu");
        assert_null(fy_add(fy_call(m, fy_ones((2, 3), .device = "cuda")), m->plain));
        assert_true(failed_with("Expected all tensors to be on the same device"));
        fy_module_free(&m->base);
    }
}

TEST(only_tensors_of_float_types_are_converted)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *m = fy_nn_linear(3, 2);
        fy_tensor *count = fy_buffer(m, "count", fy_tensor((1, 2)));
        assert_true(fy_module_to(m, FY_FLOAT64));
        assert_int_equal(fy_dtype_of(fy_get_parameter(m, "weight")), FY_FLOAT64);
        assert_int_equal(fy_dtype_of(count), FY_INT64);
        assert_false(fy_module_to(m, FY_INT64));
        assert_true(failed_with("nn.Module.to only accepts floating point or complex dtypes, but got desired "
                                "dtype=torch.int64"));
        assert_true(fy_module_to(m, fy_ones((1), .device = "cuda")));
        assert_string_equal(fy_device(count), "cuda:0");
        assert_int_equal(fy_dtype_of(fy_get_parameter(m, "weight")), FY_FLOAT32);
        fy_module_free(m);
    }
}

TEST(gradients_move_with_their_parameters)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *m = fy_nn_linear(3, 1);
        fy_tensor *weight = fy_get_parameter(m, "weight");
        assert_true(fy_backward(fy_sum(fy_call(m, fy_ones((2, 3))))));
        since();
        assert_true(fy_module_to(m, "cuda"));
        assert_string_equal(fy_device(fy_grad(weight)), "cuda:0");
        assert_true(HOLDS(fy_grad(weight), 2, 2, 2));
        assert_string_equal(text_of(event_of("tensor", 1), "name"), "weight.grad");
        fy_zero_grad(m);
        assert_null(fy_grad(weight));
        fy_module_free(m);
    }
}

/* ---- results ---- */

TEST(a_learners_own_module_is_called_like_any_other)
{
    (void)state;
    FY_SCOPE
    {
        scale *m = own();
        FY_NO_GRAD
        {
            fy_fill_(fy_get_parameter(m, "inner.weight"), 1);
            fy_fill_(fy_get_parameter(m, "inner.bias"), 10);
        }
        fy_tensor *x = fy_ones((1, 3)), *y = fy_call(m, x);
        assert_true(HOLDS(y, 19));
        assert_true(fy_backward(fy_sum(y)));
        assert_true(HOLDS(fy_grad(m->factor), 1, 1, 1));
        assert_null(fy_grad(m->offset));
        size_t n = 0;
        fy_tensor *const *all = fy_parameters(m, &n);
        assert_int_equal((int)n, 3);
        assert_ptr_equal(all[0], m->factor);
        fy_module_free(&m->base);
    }
}

TEST(what_a_module_makes_on_the_way_is_freed)
{
    (void)state;
    FY_SCOPE
    {
        scale *m = own();
        fy_module *net = two_layers();
        fy_tensor *x = fy_ones((2, 3));
        FY_NO_GRAD
        {
            since();
            fy_tensor *y = fy_call(m, x);
            assert_non_null(y);
            recorded_read();
            assert_int_equal(cJSON_GetArraySize(recorded_events) > 0, true);
            int live = 0;
            const cJSON *e;
            cJSON_ArrayForEach(e, recorded_events)
            {
                live += !strcmp(event_kind_of(e), "alloc");
                live -= !strcmp(event_kind_of(e), "free");
            }
            assert_int_equal(live, 1);
            since();
            fy_tensor *scores = fy_call(net, x);
            recorded_read();
            assert_string_equal(text_of(event_of("tensor", 1), "name"), "0.out");
            assert_string_equal(scores->name, "scores");
        }
        fy_module_free(net);
        fy_module_free(&m->base);
    }
}

static fy_tensor *passes_on(void *module, fy_tensor *x) { return (void)module, x; }
static fy_tensor *returns_nothing(void *module, fy_tensor *x) { return (void)module, (void)x, (fy_tensor *)NULL; }
static fy_tensor *returns_freed(void *module, fy_tensor *x)
{
    (void)module;
    fy_tensor *y = fy_mul(x, 2);
    fy_free(y);
    return y;
}

TEST(odd_results_of_a_forward_function_are_told)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2));
        scale *same = fy_module_new(scale, passes_on), *none = fy_module_new(scale, returns_nothing),
              *freed = fy_module_new(scale, returns_freed);
        fy_tensor *y = fy_call(same, x);
        assert_ptr_equal(y, x);
        fy_free(y);
        assert_true(HOLDS(x, 1, 1));
        assert_null(fy_call(none, x));
        assert_true(failed_with("the forward function of scale returned NULL"));
        assert_null(fy_call(freed, x));
        assert_true(failed_with("the forward function of scale returned a tensor that was freed"));
        fy_module_free(&same->base);
        fy_module_free(&none->base);
        fy_module_free(&freed->base);
    }
}

TEST(a_dropout_of_all_draws_nothing)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *drop = fy_nn_dropout(1);
        fy_tensor *x = fy_ones((2), .requires_grad = true);
        fy_manual_seed(0);
        fy_tensor *y = fy_call(drop, x), *next = fy_randn((2));
        assert_true(HOLDS(y, 0, 0));
        assert_string_equal(fy_grad_fn(y), "MulBackward0");
        assert_true(fabs(element(next, 0) - 1.5410) < 1e-4 && fabs(element(next, 1) + 0.2934) < 1e-4);
        fy_backward(fy_sum(y));
        assert_true(HOLDS(fy_grad(x), 0, 0));
        fy_module_free(drop);
    }
}

TEST(dropout_drops_in_training_alone)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *net = fy_sequential((fy_nn_linear(3, 3), fy_sequential((fy_nn_dropout(0.5)))));
        fy_tensor *x = fy_ones((40, 3));
        fy_manual_seed(1);
        assert_true(fy_is_training(net));
        fy_tensor *dropped = fy_call(net, x);
        since();
        fy_eval(net);
        assert_string_equal(kinds(), "mode");
        assert_string_equal(text_of(event_of("mode", 0), "mode"), "training");
        assert_false(fy_is_training(net));
        fy_tensor *whole = fy_call(net, x);
        int zeros = 0;
        for (int64_t i = 0; i < 120; i++) {
            double a = element(dropped, i), b = element(whole, i);
            zeros += a == 0;
            assert_true(a == 0 || a == (double)(float)(2 * b));
        }
        assert_true(zeros > 30 && zeros < 90);
        fy_train(net);
        assert_true(fy_is_training(net));
        fy_module_free(net);
    }
}

TEST(an_error_in_a_layer_names_tensors_and_the_call)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *net = two_layers();
        assert_null(fy_call(net, fy_ones((2, 5))));
        assert_true(failed_with("mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)"));
        fy_tensor *images = fy_ones((2, 3), .device = "cuda");
        assert_null(fy_call(net, images));
        assert_true(strstr(fy_error(), "fy_call") && strstr(fy_error(), "images is on cuda:0 (2, 3) float32"));
        assert_true(strstr(fy_error(), "0.weight.T is on cpu (3, 4) float32"));
        assert_true(failed_with("fix: move the module: fy_module_to(net, \"cuda\")"));
        fy_module_to(net, "cuda");
        assert_null(fy_call(net, fy_ones((2, 3))));
        assert_true(failed_with("fix: copy fy_ones((2, 3)) with fy_to(fy_ones((2, 3)), \"cuda\")"));
        fy_module_to(net, FY_BFLOAT16);
        assert_null(fy_call(net, images));
        assert_true(failed_with("fix: convert with fy_to(images, FY_BFLOAT16)"));
        fy_module_free(net);
        fy_module *norm = fy_nn_layer_norm((3), .device = "cuda");
        assert_null(fy_call(norm, fy_ones((2, 3))));
        assert_true(failed_with("fix: copy fy_ones((2, 3)) with"));
        fy_module_free(norm);
    }
}

/* ---- names and ownership ---- */

TEST(names_are_those_of_pytorch)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *net = fy_sequential((two_layers(), fy_nn_embedding(2, 3)));
        assert_string_equal(fy_get_parameter(net, "0.2.bias")->name, "0.2.bias");
        assert_string_equal(fy_get_parameter(net, "1.weight")->name, "1.weight");
        assert_null(fy_get_parameter(net, "2.weight"));
        assert_true(failed_with("Sequential has no attribute `2.weight`"));
        fy_module_free(net);
    }
}

TEST(a_name_or_tensor_that_cannot_be_held_is_told)
{
    (void)state;
    FY_SCOPE
    {
        scale *m = own();
        fy_tensor *w = fy_ones((2), .requires_grad = true);
        assert_null(fy_parameter(m, "factor", fy_ones((1))));
        assert_true(failed_with("attribute 'factor' already exists"));
        assert_null(fy_parameter(m, "a.b", fy_ones((1))));
        assert_true(failed_with("parameter name can't contain \".\""));
        assert_null(fy_buffer(m, "", fy_ones((1))));
        assert_true(failed_with("buffer name can't be empty string"));
        assert_null(fy_parameter(m, "computed", fy_mul(w, 2)));
        assert_true(failed_with("Cannot assign non-leaf Tensor to parameter 'computed'"));
        assert_null(fy_parameter(m, "whole", fy_tensor((1, 2))));
        assert_true(failed_with("Only Tensors of floating point"));
        assert_null(fy_submodule(m, "self", m));
        assert_true(failed_with("already part of itself"));
        assert_null(fy_submodule(m, "twice", m->inner));
        assert_true(failed_with("already part of a module"));
        fy_module_free(m->inner);
        assert_true(failed_with("'inner' of another module, which frees it"));
        fy_module_free(&m->base);
        assert_null(fy_call(&m->base, w));
        assert_true(failed_with("was already freed"));
        assert_null(fy_nn_linear(-1, 2));
        assert_true(failed_with("negative dimension -1"));
        assert_null(fy_nn_dropout(1.5));
        assert_true(failed_with("dropout probability has to be between 0 and 1, but got 1.5"));
        fy_tensor *x = fy_ones((2, 3)), *half = fy_ones((3), .dtype = FY_FLOAT16);
        assert_null(fy_layer_norm(x, (3), .weight = half));
        assert_true(failed_with("expected scalar type Float but found Half"));
        assert_null(fy_layer_norm(fy_to(x, FY_FLOAT16), (3), .weight = half, .bias = fy_ones((3))));
        assert_true(failed_with("expected scalar type Half but found Float"));
        assert_null(fy_layer_norm(fy_to(x, FY_INT64), (3)));
        assert_true(failed_with("\"LayerNormKernelImpl\" not implemented for 'Long'"));
        assert_null(fy_nn_linear(2, 2, .device = "cuda:9"));
        assert_true(failed_with("invalid device ordinal"));
    }
}

TEST(a_tied_weight_lives_as_long_as_its_last_module)
{
    (void)state;
    FY_SCOPE
    {
        scale *a = own(), *b = own();
        fy_tensor *w = fy_parameter(b, "tied", a->factor);
        fy_module_free(&a->base);
        fy_tensor *more = fy_add(w, 1);
        assert_non_null(more);
        assert_true(element(more, 0) == 3);
        fy_module_free(&b->base);
        assert_null(fy_add(w, 1));
        assert_true(failed_with("was already freed"));
    }
}

TEST(tied_weights_are_one_parameter_of_two_modules)
{
    (void)state;
    FY_SCOPE
    {
        size_t n;
        scale *a = own(), *b = own(), *both = fy_module_new(scale, scale_forward);
        fy_tensor *w = a->factor;
        assert_ptr_equal(fy_parameter(b, "tied", w), w);
        assert_ptr_equal(fy_parameter(b, "again", fy_to(w, "cpu")), w); /* a reference of its own */
        fy_submodule(both, "a", a);
        fy_submodule(both, "b", b);
        fy_parameters(both, &n);
        assert_int_equal(n, 6);
        fy_optimizer *o = fy_optim_sgd(both);
        assert_non_null(o);
        fy_optimizer_free(o);
        fy_module_free(&both->base);
        assert_null(fy_add(w, 1));
        assert_true(failed_with("was already freed"));
    }
}

TEST(what_a_module_holds_is_freed_by_it_alone)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *net = fy_nn_linear(2, 1);
        fy_tensor *weight = fy_get_parameter(net, "weight"), *same = fy_to(weight, "cpu");
        fy_free(same); /* its own reference */
        fy_free(weight);
        assert_true(failed_with("'weight' belongs to a module, which frees it"));
        assert_null(fy_set(&weight, fy_ones((1, 2))));
        assert_true(failed_with("fy_copy_"));
        assert_non_null(fy_call(net, fy_ones((1, 2))));
        fy_module_free(net);
    }
}

TEST(a_list_of_modules_that_fails_takes_none)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *a = fy_nn_linear(2, 2), *b = fy_nn_relu(), *net = fy_sequential((b));
        assert_null(fy_sequential((a, a)));
        assert_true(failed_with("module '1' (Linear) is already part of a module"));
        assert_null(fy_sequential((a, b)));
        assert_true(failed_with("module '1' (ReLU) is already part of a module"));
        assert_string_equal(fy_get_parameter(a, "weight")->name, "weight");
        fy_module_free(a);
        assert_null(fy_error());
        assert_null(fy_sequential((b, a)));
        assert_true(failed_with("module '0' (ReLU) is already part of a module"));
        assert_null(fy_sequential((fy_nn_dropout(2), a)));
        fy_clear_error();
        fy_module_free(net);
    }
}

TEST(a_module_owns_its_tensors_and_scopes_do_not)
{
    (void)state;
    fy_module *net = NULL;
    int64_t before = fy_cuda_memory_allocated("cuda");
    FY_SCOPE
    {
        net = two_layers();
        fy_module_to(net, "cuda");
    }
    fy_tensor *weight = fy_get_parameter(net, "0.weight");
    assert_int_equal(weight->magic, FY_ALIVE);
    assert_true(fy_cuda_memory_allocated("cuda") == before + 4 * 512);
    FY_SCOPE fy_backward(fy_sum(fy_call(net, fy_ones((2, 3), .device = "cuda"))));
    fy_module_requires_grad_(net, false);
    FY_SCOPE assert_false(fy_requires_grad(fy_call(net, fy_ones((2, 3), .device = "cuda"))));
    fy_module_free(net);
    fy_module_free((fy_module *)NULL);
    assert_true(fy_cuda_memory_allocated("cuda") == before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moved_module_keeps_parameters_and_an_earlier_optimizer),
        cmocka_unit_test(moving_a_linear_module_allocates_and_copies_twice),
        cmocka_unit_test(what_is_only_a_member_of_the_struct_stays_behind),
        cmocka_unit_test(only_tensors_of_float_types_are_converted),
        cmocka_unit_test(gradients_move_with_their_parameters),
        cmocka_unit_test(a_learners_own_module_is_called_like_any_other),
        cmocka_unit_test(what_a_module_makes_on_the_way_is_freed),
        cmocka_unit_test(odd_results_of_a_forward_function_are_told),
        cmocka_unit_test(a_dropout_of_all_draws_nothing),
        cmocka_unit_test(dropout_drops_in_training_alone),
        cmocka_unit_test(an_error_in_a_layer_names_tensors_and_the_call),
        cmocka_unit_test(names_are_those_of_pytorch),
        cmocka_unit_test(a_name_or_tensor_that_cannot_be_held_is_told),
        cmocka_unit_test(a_tied_weight_lives_as_long_as_its_last_module),
        cmocka_unit_test(tied_weights_are_one_parameter_of_two_modules),
        cmocka_unit_test(what_a_module_holds_is_freed_by_it_alone),
        cmocka_unit_test(a_list_of_modules_that_fails_takes_none),
        cmocka_unit_test(a_module_owns_its_tensors_and_scopes_do_not),
    };
    return cmocka_run_group_tests(tests, record_on_sim, record_no_more);
}
