/* Gradients: leaves, accumulation, devices and dtypes, what is saved and when it goes, errors, events. The formulas are
 * checked by gradcheck_test.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device.h"
#include "graph.h"
#include "recorded.h"
#include "tensor.h"

#define TEST(name) static void name(void **state)

static fy_tensor *two(void) { return fy_tensor((1, 2), .dtype = FY_FLOAT32, .requires_grad = true); }

/* ---- leaves and where gradients go (C13.1 to C13.8) ---- */

TEST(the_gradient_of_a_moved_leaf_comes_home)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *moved = fy_to(w, "cuda", .dtype = FY_FLOAT64);
        assert_true(fy_is_leaf(w) && !fy_is_leaf(moved) && fy_requires_grad(moved));
        assert_int_equal(moved->node->op, FY_NODE_TO);
        assert_int_equal(moved->node->next[0]->op, FY_NODE_LEAF);
        fy_retain_grad(moved);
        since();
        assert_true(fy_backward(fy_sum(fy_mul(moved, moved))));
        assert_true(HOLDS(fy_grad(w), 2, 4));
        assert_string_equal(fy_device(fy_grad(w)), "cpu");
        assert_int_equal(fy_dtype_of(fy_grad(w)), FY_FLOAT32);
        assert_string_equal(fy_device(fy_grad(moved)), "cuda:0");
        assert_int_equal(fy_dtype_of(fy_grad(moved)), FY_FLOAT64);
        assert_string_equal(text_of(event_of("copy", 0), "why"), "grad");
        assert_string_equal(text_of(event_of("copy", 0), "dir"), "d2h");
        fy_tensor *same_dtype = two();
        assert_true(fy_backward(fy_sum(fy_cuda(same_dtype))));
        assert_string_equal(fy_device(fy_grad(same_dtype)), "cpu");
    }
}

TEST(moving_to_where_it_is_gives_the_leaf_itself)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *later = fy_requires_grad_(fy_to(fy_ones((2)), "cuda"));
        assert_ptr_equal(fy_to(w, "cpu"), w);
        assert_true(fy_is_leaf(later));
        fy_backward(fy_sum(later));
        assert_string_equal(fy_device(fy_grad(later)), "cuda:0");
        assert_false(fy_requires_grad(fy_to(w, FY_INT64)));
        assert_false(fy_requires_grad(fy_detach(w)));
        assert_false(fy_requires_grad(fy_gt(w, 0)));
        assert_false(fy_requires_grad_at(FY_AT("fy_requires_grad", "NULL"), NULL));
    }
}

TEST(an_assigned_gradient_must_fit)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two();
        assert_false(fy_set_grad(w, fy_ones((3))));
        assert_true(failed_with("assigned grad has data of a different size"));
        assert_false(fy_set_grad(w, fy_ones((2), .dtype = FY_FLOAT64)));
        assert_true(failed_with("assigned grad has data of a different type"));
        assert_false(fy_set_grad(w, fy_ones((2), .device = "cuda")));
        assert_true(failed_with("assigned grad has data of a different type"));
        assert_false(fy_set_grad(w, w));
        assert_true(failed_with("can't assign Variable as its own grad"));
        assert_true(fy_set_grad(w, fy_full((2), 3.0)));
        fy_backward(fy_sum(w));
        assert_true(HOLDS(fy_grad(w), 4, 4));
        assert_true(fy_set_grad(w, NULL));
        assert_null(fy_grad(w));
    }
}

TEST(only_leaves_of_float_types_can_be_told)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *y = fy_mul(two(), 2);
        assert_null(fy_requires_grad_(y, false));
        assert_true(failed_with("you can only change requires_grad flags of leaf variables."));
        assert_ptr_equal(fy_requires_grad_(y), y);
        assert_null(fy_requires_grad_(fy_arange((3))));
        assert_true(failed_with("only Tensors of floating point dtype can require gradients"));
        assert_null(fy_ones((2), .dtype = FY_INT64, .requires_grad = true));
        assert_true(failed_with("Only Tensors of floating point and complex dtype can require gradients"));
        fy_tensor *w = two();
        fy_requires_grad_(w, false);
        assert_false(fy_requires_grad(fy_mul(w, 2)));
        assert_null(fy_retain_grad(w));
        assert_true(failed_with("can't retain_grad on Tensor that has requires_grad=False"));
    }
}

/* ---- fy_backward (C13.9 to C13.13) ---- */

TEST(backward_starts_from_one_element_or_a_gradient)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *y = fy_mul(w, w);
        assert_false(fy_backward(y));
        assert_true(failed_with("grad can be implicitly created only for scalar outputs"));
        assert_false(fy_backward(y, .gradient = fy_ones((3))));
        assert_true(failed_with("Mismatch in shape: grad_output[0] has a shape of torch.Size([3])"));
        assert_false(fy_backward(fy_ones((1))));
        assert_true(failed_with("element 0 of tensors does not require grad and does not have a grad_fn"));
        assert_false(fy_backward(y, .create_graph = true));
        assert_true(failed_with("double backward"));
        assert_true(fy_backward(y, .gradient = fy_tensor((1, 10), .dtype = FY_FLOAT32)));
        assert_true(HOLDS(fy_grad(w), 2, 40));
    }
}

TEST(gradients_add_up_and_a_graph_is_used_once)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *loss = fy_sum(fy_exp(w)), *plain = fy_sum(fy_add(w, 1));
        assert_true(fy_backward(loss, .retain_graph = true));
        fy_tensor *first = fy_grad(w);
        assert_true(fy_backward(loss));
        assert_ptr_equal(fy_grad(w), first); /* in place */
        assert_true(fabs(element(first, 0) - 2 * exp(1)) < 1e-5);
        assert_false(fy_backward(loss));
        assert_true(failed_with("Trying to backward through the graph a second time"));
        assert_true(fabs(element(first, 0) - 2 * exp(1)) < 1e-5); /* the failed call changed nothing */
        assert_true(fy_backward(plain) && fy_backward(plain));    /* saves nothing, as in PyTorch */
    }
}

TEST(a_saved_tensor_that_was_written_is_named)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *e = fy_exp(w), *c = fy_cat((w, w), 0), *p = fy_mul(c, c);
        fy_add_(e, 1);
        assert_false(fy_backward(fy_sum(e)));
        assert_non_null(strstr(fy_error(),
                               "[torch.FloatTensor [2]], which is output 0 of ExpBackward0, is at version 1; "
                               "expected version 0 instead."));
        assert_true(failed_with("fy_exp on line"));
        FY_NO_GRAD fy_mul_(c, 2);
        assert_false(fy_backward(fy_sum(p)));
        assert_true(failed_with("[torch.FloatTensor [4]], which is output 0 of CatBackward0, is at version 1; "));
        assert_null(fy_grad(w));
    }
}

TEST(a_leaf_is_written_under_no_grad_only)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *one = fy_ones((2));
        FAILS_ALONE(fy_add_(w, 1), "a leaf Variable that requires grad is being used in an in-place operation.");
        FAILS_ALONE(fy_copy_(w, one), "a leaf Variable that requires grad is being used in an in-place");
        fy_tensor *part = fy_select(w, 0, 0), *unseen = NULL;
        FAILS_ALONE(fy_zero_(part), "a view of a leaf Variable that requires grad is being used in an in-place");
        FY_NO_GRAD fy_add_(w, 1);
        assert_true(HOLDS(w, 2, 3));
        fy_tensor *y = fy_mul(w, 2);
        FY_NO_GRAD unseen = fy_select(y, 0, 0);
        FAILS_ALONE(fy_zero_(unseen),
                    "A view was created in no_grad mode and is being modified inplace with grad mode");
    }
}

TEST(a_view_under_no_grad_requires_grad_as_its_base)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *plain = fy_ones((2)), *v = NULL, *unseen = NULL;
        FY_NO_GRAD
        {
            v = fy_narrow(w, 0, 0, 1);
            unseen = fy_narrow(plain, 0, 0, 1);
        }
        assert_true(fy_requires_grad(v) && fy_is_leaf(v));
        assert_null(fy_grad_fn(v));
        assert_false(fy_requires_grad(unseen));
        assert_false(fy_requires_grad(fy_detach(v)));
        FY_NO_GRAD assert_false(fy_requires_grad(fy_mul(v, 2)));
        fy_tensor *y = fy_mul(v, 2), *part = fy_narrow(v, 0, 0, 1), *both = fy_cat((v, v), 0);
        assert_string_equal(fy_grad_fn(y), "MulBackward0");
        assert_string_equal(fy_grad_fn(part), "SliceBackward0");
        assert_string_equal(fy_grad_fn(both), "CatBackward0");
        assert_true(fy_backward(fy_sum(fy_add(y, part)))); /* no gradient flows through it */
        assert_null(fy_grad(w));
        assert_true(fy_backward(fy_sum(fy_add(fy_mul(w, 3), y))));
        assert_true(HOLDS(fy_grad(w), 3, 3));
        assert_false(fy_backward(v, .gradient = fy_ones((1))));
        assert_true(failed_with("element 0 of tensors does not require grad and does not have a grad_fn"));
        FY_NO_GRAD v = fy_narrow(plain, 0, 0, 1);
        fy_requires_grad_(plain);
        assert_true(fy_requires_grad(v)); /* of now, not of when the view was made */
    }
}

TEST(a_norm_of_p_0_gives_no_gradient)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *n = fy_norm(w, (), .p = 0);
        assert_true(fy_requires_grad(n) && HOLDS(n, 2));
        assert_string_equal(fy_grad_fn(n), "LinalgVectorNormBackward0");
        assert_true(fy_backward(n));
        assert_null(fy_grad(w));
        assert_true(fy_backward(fy_add(fy_sum(w), fy_norm(w, (), .p = 0))));
        assert_true(HOLDS(fy_grad(w), 1, 1));
    }
}

static bool left_by_return(fy_tensor *w)
{
    FY_NO_GRAD return fy_requires_grad(fy_mul(w, 2));
    return true;
}

TEST(no_grad_ends_by_break_and_return_and_nests)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two();
        assert_false(left_by_return(w));
        assert_true(fy_is_grad_enabled());
        FY_NO_GRAD
        {
            FY_NO_GRAD { assert_false(fy_is_grad_enabled()); }
            assert_false(fy_is_grad_enabled());
            if (w) break;
        }
        assert_true(fy_is_grad_enabled());
        assert_true(fy_requires_grad(fy_mul(w, 2)));
    }
}

/* C13.14 */
TEST(equal_maxima_share_and_a_dimension_chooses_the_first)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_requires_grad_(fy_view(fy_tensor((3, 1, 3, 2), .dtype = FY_FLOAT32), (2, 2)));
        fy_backward(fy_max(x));
        assert_true(HOLDS(fy_grad(x), 0.5, 0, 0.5, 0));
        fy_set_grad(x, NULL);
        fy_backward(fy_sum(fy_max(x, (0))));
        assert_true(HOLDS(fy_grad(x), 1, 0, 0, 1));
    }
}

TEST(operands_that_are_written_are_saved_as_they_were)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *x = fy_mul(w, 2), *h = fy_mul(w, 1);
        fy_div_(x, x);
        fy_addcmul_(h, h, h);
        assert_true(fy_backward(fy_sum(fy_add(x, h))));
        assert_true(HOLDS(fy_grad(w), 3, 5)); /* of x: 0; of h = w + w * w: 1 + 2 * w */
        fy_tensor *y = fy_mul(w, 1), *same = fy_view(y, (2));
        fy_mul_(y, same);
        assert_false(fy_backward(fy_sum(y)));
        assert_true(failed_with("modified by an inplace operation"));
        fy_tensor *z = fy_mul(w, 1);
        fy_mul_(z, fy_detach(z));
        assert_false(fy_backward(fy_sum(z)));
        assert_true(failed_with("modified by an inplace operation"));
    }
}

TEST(retained_gradients_follow_writes_in_place)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *h = fy_mul(w, 2);
        fy_retain_grad(h);
        fy_mul_(fy_narrow(h, 0, 0, 1), 3);
        assert_true(fy_backward(fy_sum(h)));
        assert_true(HOLDS(fy_grad(h), 1, 1) && HOLDS(fy_grad(w), 6, 2));
    }
}

TEST(what_a_pass_gets_is_checked)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *y = fy_mul(fy_cuda(w), 2), *loss = fy_sum(fy_mul(w, w)),
                  *empty = fy_slice(w, 0, 0, 0, 5);
        assert_false(fy_backward(y, .gradient = fy_ones((2))));
        assert_true(failed_with("invalid gradient at index 0 - expected device cuda:0 but got cpu"));
        assert_true(fy_backward(fy_sum(empty)));
        assert_true(HOLDS(fy_grad(w), 0, 0));
        fy_requires_grad_(w, false);
        assert_true(fy_backward(loss));
        assert_true(HOLDS(fy_grad(w), 0, 0)); /* it asks for none any more */
    }
}

/* ---- what the graph holds ---- */

TEST(the_graph_lives_as_long_as_its_result)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_ones((256), .device = "cuda", .requires_grad = true), *loss = NULL;
        int64_t before = fy_dev_at(1)->live_bytes;
        FY_SCOPE loss = fy_keep(fy_sum(fy_exp(fy_mul(w, 2))));
        assert_int_equal(fy_saved_bytes(loss), 1024); /* exp's result alone */
        assert_int_equal(fy_dev_at(1)->live_bytes - before, 1024 + 512);
        fy_backward(loss, .retain_graph = true);
        assert_int_equal(fy_saved_bytes(loss), 1024);
        fy_backward(loss);
        assert_int_equal(fy_saved_bytes(loss), 0);
        fy_free(loss);
        assert_int_equal(fy_dev_at(1)->live_bytes - before, 1024); /* the gradient */
    }
}

TEST(a_freed_variable_is_an_error_with_its_bytes_saved)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *x = fy_ones((2)), *loss = fy_sum(fy_mul(w, x));
        fy_free(x);
        assert_null(fy_add(x, 1));
        assert_true(failed_with("freed"));
        assert_true(fy_backward(loss));
        assert_true(HOLDS(fy_grad(w), 1, 1));
    }
}

TEST(live_bytes_stay_flat_over_steps)
{
    int64_t bytes = 0;
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_ones((8, 8), .device = "cuda", .requires_grad = true);
        FY_TIMES (i, 300) {
            fy_tensor *x = fy_randn((4, 8), .device = "cuda"), *loss = fy_mean(fy_relu(fy_linear(x, w)));
            fy_backward(loss);
            fy_set_grad(w, NULL);
            if (i == 10) bytes = fy_dev_at(1)->live_bytes;
            if (i > 10) assert_int_equal(fy_dev_at(1)->live_bytes, bytes);
        }
    }
}

TEST(a_deep_graph_is_walked_and_released)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_ones((), .requires_grad = true), *x = fy_mul(w, 1);
        for (int i = 0; i < 50000; i++) fy_set(&x, fy_add(x, 1));
        assert_true(fy_backward(x));
        assert_true(HOLDS(fy_grad(w), 1));
    }
}

/* "autograd_test.c:123: fy_backward: " */
static bool reported_at(int line)
{
    char place[80];
    snprintf(place, sizeof place, "autograd_test.c:%d: fy_backward: ", line);
    return fy_error() && strstr(fy_error(), place);
}

/* The pass consists of calls of its own; errors in them are told as those of fy_backward's line. */
TEST(errors_inside_a_pass_name_tensors_and_the_line)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_ones((2), .requires_grad = true);
        fy_tensor *loss = fy_sum(fy_mul(w, w)), *other = fy_sum(fy_exp(w));
        fy_tensor *one = fy_expand(fy_ones((1)), (2));
        fy_set_grad(w, one);
        assert_false(fy_backward(loss, .retain_graph = true));
        assert_true(reported_at(__LINE__ - 1));
        assert_true(strstr(fy_error(), "\n  one is on cpu (2) float32\n"));
        assert_true(strstr(fy_error(), "\n    assert_false(fy_backward(loss, .retain_graph = true));\n"));
        assert_true(failed_with("more than one element of the written-to tensor refers to a single memory location"));

        fy_set_grad(w, NULL);
        assert_true(fy_backward(other));
        fy_tensor *borrowed = fy_grad(w);
        fy_free(borrowed); /* a mistake */
        int freed = __LINE__ - 1;
        char where[80];
        since();
        assert_false(fy_backward(loss));
        assert_true(reported_at(__LINE__ - 1));
        snprintf(where, sizeof where, " on line %d\n", freed);
        assert_true(strstr(fy_error(), where));
        assert_true(strstr(fy_error(), "fix: free w.grad once, after its last use"));
        assert_true(failed_with("w.grad was already freed"));
        const cJSON *event = event_of("error", 0);
        assert_string_equal(text_of(event, "written"), "fy_backward(loss)");
        assert_int_equal((int)number_of(event, "line"), freed + 4);
    }
}

TEST(a_pass_that_fills_the_card_names_its_line)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_ones((1 << 20), .device = "cuda", .requires_grad = true), *loss = fy_sum(fy_mul(w, w));
        while (fy_empty((1 << 24), .device = "cuda")) continue;
        fy_clear_error();
        while (fy_empty((1 << 20), .device = "cuda")) continue;
        fy_clear_error();
        assert_false(fy_backward(loss));
        assert_true(reported_at(__LINE__ - 1));
        assert_true(failed_with("CUDA out of memory. Tried to allocate"));
        assert_null(fy_grad(w));
    }
}

TEST(a_full_card_names_what_saved_its_memory)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_ones((1024, 1024), .device = "cuda", .requires_grad = true), *h = fy_exp(w);
        (void)h;
        fy_tensor *much[64];
        int n = 0;
        for (; n < 64 && (much[n] = fy_empty((1 << 24), .device = "cuda")); n++) {
        }
        assert_true(failed_with("saved by fy_exp, line"));
    }
}

/* ---- events ---- */

TEST(nodes_passes_and_gradients_are_events)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_tensor((1, 2), .dtype = FY_FLOAT32, .requires_grad = true);
        since();
        fy_tensor *e = fy_exp(w);
        assert_string_equal(kinds(), "alloc tensor op complete tensor graph");
        const cJSON *made = event_of("graph", 0);
        assert_string_equal(text_of(made, "what"), "make");
        assert_string_equal(text_of(made, "op"), "exp");
        assert_int_equal(number_of(made, "tensor"), e->id);
        assert_int_equal(number_of(made, "saves.0"), number_of(event_of("tensor", 1), "tensor"));
        assert_int_equal(number_of(event_of("tensor", 1), "view_of"), e->id);
        assert_true(cJSON_IsTrue(field(event_of("tensor", 1), "saved")));
        assert_int_equal(number_of(made, "next.0"), w->node->id);
        double node = number_of(made, "node"), line = number_of(made, "at.line");
        since();
        fy_backward(fy_sum(e));
        assert_string_equal(text_of(event_of("backward", 0), "what"), "begin");
        assert_string_equal(text_of(event_of("backward", 1), "what"), "end");
        const cJSON *run = event_of("graph", 2); /* after sum's make and run */
        assert_string_equal(text_of(run, "what"), "run");
        assert_int_equal(number_of(run, "node"), node);
        assert_int_equal(number_of(run, "at.line"), line);
        const cJSON *released = event_of("graph", 3);
        assert_string_equal(text_of(released, "what"), "release");
        const cJSON *grad = event_of("grad", 0);
        assert_int_equal(number_of(grad, "leaf"), w->id);
        assert_int_equal(number_of(grad, "tensor"), fy_grad(w)->id);
        assert_string_equal(text_of(event_of("name", 0), "name"), "grad of e");
        assert_string_equal(text_of(event_of("name", 1), "name"), "w.grad");
        fy_backward(fy_sum(w));
        since();
        fy_backward(fy_sum(w));
        assert_true(cJSON_IsTrue(field(event_of("grad", 0), "added")));
    }
}

TEST(without_gradients_nothing_more_is_recorded)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = two(), *x = fy_ones((2));
        since();
        FY_NO_GRAD fy_exp(w);
        fy_exp(x);
        fy_view(x, (1, 2));
        assert_null(event_of("graph", 0));
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "laptop", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_grad_ends_by_break_and_return_and_nests),
        cmocka_unit_test(the_gradient_of_a_moved_leaf_comes_home),
        cmocka_unit_test(moving_to_where_it_is_gives_the_leaf_itself),
        cmocka_unit_test(an_assigned_gradient_must_fit),
        cmocka_unit_test(only_leaves_of_float_types_can_be_told),
        cmocka_unit_test(backward_starts_from_one_element_or_a_gradient),
        cmocka_unit_test(gradients_add_up_and_a_graph_is_used_once),
        cmocka_unit_test(a_saved_tensor_that_was_written_is_named),
        cmocka_unit_test(a_leaf_is_written_under_no_grad_only),
        cmocka_unit_test(a_norm_of_p_0_gives_no_gradient),
        cmocka_unit_test(a_view_under_no_grad_requires_grad_as_its_base),
        cmocka_unit_test(equal_maxima_share_and_a_dimension_chooses_the_first),
        cmocka_unit_test(operands_that_are_written_are_saved_as_they_were),
        cmocka_unit_test(retained_gradients_follow_writes_in_place),
        cmocka_unit_test(what_a_pass_gets_is_checked),
        cmocka_unit_test(the_graph_lives_as_long_as_its_result),
        cmocka_unit_test(a_freed_variable_is_an_error_with_its_bytes_saved),
        cmocka_unit_test(live_bytes_stay_flat_over_steps),
        cmocka_unit_test(a_deep_graph_is_walked_and_released),
        cmocka_unit_test(errors_inside_a_pass_name_tensors_and_the_line),
        cmocka_unit_test(a_pass_that_fills_the_card_names_its_line),
        cmocka_unit_test(a_full_card_names_what_saved_its_memory),
        cmocka_unit_test(nodes_passes_and_gradients_are_events),
        cmocka_unit_test(without_gradients_nothing_more_is_recorded),
    };
    int failed = cmocka_run_group_tests_name("autograd", tests, NULL, NULL);
    recorded_end();
    return failed;
}
