/* Mixed precision: which calls FY_AUTOCAST casts, by PyTorch's lists, and which not; weights are cast once; gradients
 * in float32; blocks and warnings. Values of the CPU were computed by PyTorch 1.13. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forked.h"
#include "graph.h"
#include "recorded.h"
#include "tensor.h"

#define TEST(name) static void name(void **state)
#define IS(dtype, x) assert_int_equal(fy_dtype_of(x), FY_##dtype)

/* Operands of a call, (3, 3) and (3), in float32 and bfloat16. */
typedef struct operands {
    fy_tensor *x, *b, *v, *bv, *classes;
} operands;

static operands operands_on(const char *device)
{
    operands o;
    o.x = fy_add(fy_eye((3), .device = device), 0.5);
    o.b = fy_to(o.x, FY_BFLOAT16);
    o.v = fy_contiguous(fy_select(o.x, 0, 0));
    o.bv = fy_to(o.v, FY_BFLOAT16);
    o.classes = fy_arange((3), .device = device);
    return o;
}

/* How many ops of that name since then. */
static int count(const char *name)
{
    int n = 0;
    for (int i = 0; event_of("op", i); i++) n += strcmp(text_of(event_of("op", i), "name"), name) == 0;
    return n;
}

static bool close_to(fy_tensor *x, size_t n, const double *want, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(element(x, (int64_t)i) - want[i]) <= tolerance * (1 + fabs(want[i])))) return false;
    return fy_numel(x) == (int64_t)n;
}
#define CLOSE(x, tolerance, ...) \
    close_to(x, sizeof((const double[]){__VA_ARGS__}) / sizeof(double), (const double[]){__VA_ARGS__}, tolerance)

/* ---- the lists ---- */

TEST(on_a_card_products_are_computed_in_the_blocks_dtype)
{
    (void)state;
    FY_SCOPE FY_AUTOCAST("cuda", FY_BFLOAT16)
    {
        operands o = operands_on("cuda");
        IS(BFLOAT16, fy_matmul(o.x, o.x));
        IS(BFLOAT16, fy_matmul(o.v, o.v));
        IS(BFLOAT16, fy_matmul(o.x, o.b));
        IS(BFLOAT16, fy_mm(o.x, o.x));
        IS(BFLOAT16, fy_mv(o.x, o.v));
        IS(BFLOAT16, fy_bmm(fy_unsqueeze(o.x, 0), fy_unsqueeze(o.x, 0)));
        IS(BFLOAT16, fy_addmm(o.v, o.x, o.b));
        IS(BFLOAT16, fy_linear(o.x, o.x));
        IS(BFLOAT16, fy_linear(o.b, o.x, o.v));
        IS(BFLOAT16, fy_linear(o.v, o.x, o.v));
        IS(BFLOAT16, fy_matmul(fy_to(o.x, FY_FLOAT16), o.x));
    }
}

TEST(on_a_card_these_are_computed_in_float32)
{
    (void)state;
    FY_SCOPE FY_AUTOCAST("cuda", FY_BFLOAT16)
    {
        operands o = operands_on("cuda");
        fy_tensor *in_f32[] = {fy_exp(o.b),
                               fy_log(o.b),
                               fy_pow(o.b, 2),
                               fy_pow(2.0, o.b),
                               fy_pow(o.b, o.b),
                               fy_div(1.0, o.b),
                               fy_softmax(o.b, 0),
                               fy_log_softmax(o.b, 0),
                               fy_sum(o.b),
                               fy_sum(o.b, (0)),
                               fy_prod(o.b),
                               fy_cumsum(o.b, 0),
                               fy_norm(o.b),
                               fy_layer_norm(o.b, (3)),
                               fy_cross_entropy(o.b, o.classes),
                               fy_cross_entropy(o.b, o.classes, .reduction = FY_NONE),
                               fy_cross_entropy(o.b, o.b),
                               fy_mse_loss(o.b, o.b),
                               fy_mse_loss(o.b, o.b, .reduction = FY_NONE)};
        FY_EACH (x, in_f32) IS(FLOAT32, x);
        IS(BFLOAT16, fy_sum(o.b, (0), .dtype = FY_BFLOAT16)); /* the call says */
    }
}

TEST(on_a_card_others_stay_or_take_the_widest)
{
    (void)state;
    FY_SCOPE FY_AUTOCAST("cuda", FY_BFLOAT16)
    {
        operands o = operands_on("cuda");
        fy_tensor *own[] = {fy_sqrt(o.b), fy_tanh(o.b), fy_sigmoid(o.b), fy_relu(o.b),   fy_mean(o.b),      fy_max(o.b),
                            fy_var(o.b),  fy_neg(o.b),  fy_mul(o.b, 2),  fy_div(o.b, 2), fy_dot(o.bv, o.bv)};
        FY_EACH (x, own) IS(BFLOAT16, x);
        fy_tensor *wide[] = {fy_add(o.x, o.b),          fy_dot(o.v, o.v),
                             fy_dot(o.v, o.bv),         fy_cat((o.x, o.b), 0),
                             fy_stack((o.b, o.x), 0),   fy_addcmul(o.b, o.x, o.b),
                             fy_addcdiv(o.b, o.b, o.x), fy_where(fy_gt(o.x, 0), o.x, o.b)};
        FY_EACH (x, wide) IS(FLOAT32, x);
        IS(FLOAT32, fy_sqrt(o.x));
    }
}

/* As PyTorch 1.13 gave for each of these. */
TEST(the_cpu_has_shorter_lists)
{
    (void)state;
    FY_SCOPE FY_AUTOCAST("cpu")
    {
        operands o = operands_on("cpu");
        fy_tensor *narrow[] = {fy_matmul(o.x, o.x),
                               fy_matmul(o.v, o.v),
                               fy_matmul(o.x, o.v),
                               fy_mm(o.x, o.x),
                               fy_bmm(fy_unsqueeze(o.x, 0), fy_unsqueeze(o.x, 0)),
                               fy_addmm(o.v, o.x, o.x),
                               fy_linear(o.x, o.x),
                               fy_linear(o.v, o.x, o.v),
                               fy_matmul(fy_to(o.x, FY_FLOAT16), fy_to(o.x, FY_FLOAT16)),
                               fy_exp(o.b),
                               fy_log(o.b),
                               fy_pow(o.b, 2),
                               fy_div(1.0, o.b),
                               fy_sum(o.b),
                               fy_cumsum(o.b, 0),
                               fy_norm(o.b),
                               fy_softmax(o.b, 0),
                               fy_log_softmax(o.b, 0)};
        FY_EACH (x, narrow) IS(BFLOAT16, x);
        fy_tensor *wide[] = {fy_mv(o.x, o.v),
                             fy_dot(o.v, o.v),
                             fy_prod(o.b),
                             fy_prod(o.b, (0)),
                             fy_cross_entropy(o.b, o.classes),
                             fy_cross_entropy(o.b, o.classes, .reduction = FY_NONE),
                             fy_cross_entropy(o.b, o.b),
                             fy_mse_loss(o.b, o.b),
                             fy_cat((o.x, o.b), 0),
                             fy_stack((o.x, o.b), 0)};
        FY_EACH (x, wide) IS(FLOAT32, x);
        assert_null(fy_dot(o.v, o.bv));
        assert_true(failed_with("expected both vectors to have same dtype"));
    }
}

TEST(float64_integers_and_calls_in_place_stay)
{
    (void)state;
    FY_SCOPE FY_AUTOCAST("cuda", FY_BFLOAT16)
    {
        fy_tensor *d = fy_ones((2, 2), .device = "cuda", .dtype = FY_FLOAT64), *f = fy_ones((2, 2), .device = "cuda");
        IS(FLOAT64, fy_matmul(d, d));
        IS(FLOAT64, fy_exp(d));
        IS(FLOAT64, fy_sum(d));
        assert_null(fy_matmul(d, f));
        assert_true(failed_with("expected mat1 and mat2 to have the same dtype, but got: double != c10::BFloat16"));
        IS(INT64, fy_sum(fy_arange((3), .device = "cuda")));
        fy_tensor *b = fy_to(f, FY_BFLOAT16);
        since();
        IS(BFLOAT16, fy_exp_(b));
        IS(FLOAT32, fy_mul_(f, f));
        assert_int_equal(count("cast"), 0);
        fy_tensor *home = fy_ones((2, 2));
        IS(FLOAT32, fy_matmul(home, home)); /* on the CPU */
    }
}

/* ---- values and gradients ---- */

typedef struct mlp {
    fy_tensor *x, *y, *w1, *b1, *w2, *h, *scores, *loss;
} mlp;

static mlp make_mlp(const char *device)
{
    mlp m;
    m.x = fy_view(fy_tensor((0.5, -1.25, 2.0, 1.5, 0.75, -0.3), .device = device), (2, 3));
    m.y = fy_tensor((1, 0), .device = device);
    fy_tensor *w1 = fy_tensor((0.1, -0.2, 0.3, 0.4, 0.5, -0.6, -0.7, 0.8, 0.9, 1.1, -1.2, 0.15), .device = device);
    fy_tensor *w2 = fy_tensor((0.2, -0.3, 0.4, 0.55, -0.6, 0.7, 0.8, -0.9), .device = device);
    m.w1 = fy_requires_grad_(fy_clone(fy_view(w1, (4, 3))));
    m.b1 = fy_tensor((0.05, -0.1, 0.2, 0.3), .device = device, .requires_grad = true);
    m.w2 = fy_requires_grad_(fy_clone(fy_view(w2, (2, 4))));
    return m;
}

static void products(mlp *m)
{
    m->h = fy_linear(m->x, m->w1, m->b1);
    m->scores = fy_linear(fy_relu(m->h), m->w2);
}

static void forward(mlp *m)
{
    products(m);
    m->loss = fy_cross_entropy(m->scores, m->y);
}

/* The values of PyTorch's CPU autocast; the last bit of a bfloat16 may differ. */
static void check_mlp(const char *device)
{
    double bit = 1.0 / 128;
    mlp m = make_mlp(device);
    FY_AUTOCAST(strcmp(device, "cpu") ? "cuda" : "cpu", FY_BFLOAT16) forward(&m);
    IS(BFLOAT16, m.h);
    IS(BFLOAT16, m.scores);
    IS(FLOAT32, m.loss);
    assert_true(
        CLOSE(m.h, bit, 0.953125, -1.7265625, 0.6484375, 2.65625, -0.04052734375, 1.0546875, -0.51953125, 1.0078125));
    assert_true(CLOSE(m.scores, bit, 1.9140625, -2.4375, 0.23828125, -0.16796875));
    assert_true(CLOSE(m.loss, 0.004, 2.437439441680908));
    assert_true(fy_backward(m.loss));
    fy_tensor *leaves[] = {m.w1, m.b1, m.w2};
    FY_EACH (w, leaves) IS(FLOAT32, fy_grad(w));
    assert_true(CLOSE(fy_grad(m.w1), bit, 0.1982421875, -0.49609375, 0.79296875, 0.30078125, 0.150390625,
                      -0.060302734375, -0.09912109375, 0.248046875, -0.396484375, -0.076171875, -1.109375, 1.515625));
    assert_true(CLOSE(fy_grad(m.b1), bit, 0.396484375, 0.2001953125, -0.1982421875, 0.42578125));
    assert_true(CLOSE(fy_grad(m.w2), bit, 0.470703125, -0.2109375, 0.3203125, 1.109375, -0.470703125, 0.2109375,
                      -0.3203125, -1.109375));
}

TEST(a_network_gives_what_pytorch_gives)
{
    (void)state;
    FY_SCOPE check_mlp("cpu");
    FY_SCOPE check_mlp("cuda");
}

TEST(gradients_in_bfloat16_are_close_to_those_in_float32)
{
    (void)state;
    FY_SCOPE
    {
        mlp narrow = make_mlp("cuda"), full = make_mlp("cuda");
        FY_AUTOCAST("cuda", FY_BFLOAT16) forward(&narrow);
        forward(&full);
        IS(FLOAT32, full.h);
        assert_true(fy_backward(narrow.loss) && fy_backward(full.loss));
        fy_tensor *a[] = {narrow.w1, narrow.b1, narrow.w2}, *b[] = {full.w1, full.b1, full.w2};
        for (int i = 0; i < 3; i++) {
            assert_true(fy_allclose(fy_grad(a[i]), fy_grad(b[i]), .rtol = 0.03, .atol = 0.01));
            assert_false(fy_equal(fy_grad(a[i]), fy_grad(b[i])));
        }
    }
}

TEST(gradients_reach_through_what_runs_in_float32)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_tensor((1, 2), .dtype = FY_FLOAT32, .device = "cuda", .requires_grad = true), *y = NULL;
        FY_AUTOCAST("cuda", FY_BFLOAT16) y = fy_sum(fy_exp(fy_mul(fy_to(w, FY_BFLOAT16), 1)));
        IS(FLOAT32, y);
        assert_true(fy_backward(y));
        IS(FLOAT32, fy_grad(w));
        assert_true(CLOSE(fy_grad(w), 1.0 / 128, exp(1), exp(2)));
        fy_tensor *v = fy_tensor((3, 4), .dtype = FY_BFLOAT16, .device = "cuda", .requires_grad = true), *n = NULL;
        FY_AUTOCAST("cuda", FY_BFLOAT16)
        {
            n = fy_norm(v);
            fy_backward(fy_add(n, fy_add(fy_prod(v), fy_sum(fy_softmax(v, 0)))));
        }
        assert_true(fy_item(n) == 5 && HOLDS(n, 5));
        assert_true(CLOSE(fy_grad(v), 1.0 / 128, 0.6 + 4, 0.8 + 3));
    }
}

/* ---- casts of weights ---- */

TEST(a_weight_is_cast_once_in_a_block)
{
    (void)state;
    FY_SCOPE
    {
        mlp m = make_mlp("cuda");
        since();
        FY_AUTOCAST("cuda", FY_BFLOAT16)
        {
            products(&m);
            assert_int_equal(count("cast"), 4); /* x, w1, b1, w2 */
            since();
            products(&m);
            assert_int_equal(count("cast"), 1); /* x */
            FY_AUTOCAST("cuda", FY_BFLOAT16)
            {
                since();
                products(&m);
                assert_int_equal(count("cast"), 1);
            }
            since();
            products(&m); /* the block inside has thrown nothing away */
            assert_int_equal(count("cast"), 1);
        }
        since();
        FY_AUTOCAST("cuda", FY_BFLOAT16) products(&m);
        assert_int_equal(count("cast"), 4);
    }
}

TEST(parameters_of_a_module_are_cast_once)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *net = fy_sequential((fy_nn_linear(4, 8), fy_nn_layer_norm((8)), fy_nn_relu(), fy_nn_linear(8, 2)));
        fy_tensor *x = fy_ones((3, 4), .device = "cuda"), *y = NULL;
        fy_module_to(net, "cuda");
        FY_AUTOCAST("cuda", FY_BFLOAT16)
        {
            since();
            y = fy_call(net, x);
            assert_int_equal(count("cast"), 7); /* 4 parameters; x; into and out of the normalization, in float32 */
            IS(BFLOAT16, y);
            since();
            y = fy_call(net, x);
            assert_int_equal(count("cast"), 3);
        }
        assert_true(fy_backward(fy_sum(y)));
        size_t n;
        fy_tensor *const *p = fy_parameters(net, &n);
        assert_int_equal(n, 6);
        for (size_t i = 0; i < n; i++) IS(FLOAT32, fy_grad(p[i]));
        fy_module_free(net);
    }
}

TEST(the_cast_of_a_weight_goes_with_the_block)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_ones((64, 64), .device = "cuda", .requires_grad = true);
        int64_t before = fy_cuda_memory_allocated(NULL);
        FY_AUTOCAST("cuda", FY_BFLOAT16)
        {
            FY_SCOPE fy_matmul(w, w);
            assert_int_equal(fy_cuda_memory_allocated(NULL), before + 64 * 64 * 2);
        }
        assert_int_equal(fy_cuda_memory_allocated(NULL), before);
    }
}

TEST(only_leaves_that_require_grad_are_kept)
{
    (void)state;
    FY_SCOPE FY_AUTOCAST("cuda", FY_BFLOAT16)
    {
        fy_tensor *x = fy_ones((2, 2), .device = "cuda"), *w = fy_ones((2, 2), .device = "cuda", .requires_grad = true);
        fy_tensor *computed = fy_mul(w, 1), *view = fy_t(w);
        fy_tensor *others[] = {x, computed, view};
        FY_EACH (o, others) {
            since();
            fy_matmul(o, o);
            fy_matmul(o, o);
            assert_int_equal(count("cast"), 4);
        }
        since();
        fy_matmul(w, w);
        fy_matmul(w, w);
        assert_int_equal(count("cast"), 1);
    }
}

TEST(a_cast_made_without_gradients_does_not_cut_the_graph)
{
    (void)state;
    FY_SCOPE FY_AUTOCAST("cuda", FY_BFLOAT16)
    {
        fy_tensor *w = fy_ones((2, 2), .device = "cuda", .requires_grad = true);
        since();
        FY_NO_GRAD
        {
            fy_matmul(w, w);
            fy_matmul(w, w);
        }
        assert_int_equal(count("cast"), 1);
        assert_true(fy_backward(fy_sum(fy_matmul(w, w))));
        assert_true(HOLDS(fy_grad(w), 4, 4, 4, 4));
    }
}

TEST(the_graph_names_casts_as_pytorch_does)
{
    (void)state;
    FY_SCOPE FY_AUTOCAST("cuda", FY_BFLOAT16)
    {
        fy_tensor *w = fy_ones((2, 2), .device = "cuda", .requires_grad = true);
        fy_tensor *y = fy_matmul(w, w);
        assert_int_equal(y->node->op, FY_OP_matmul);
        assert_int_equal(y->node->next[0]->op, FY_NODE_TO);
        assert_ptr_equal(y->node->next[0], y->node->next[1]);
        assert_int_equal(y->node->next[0]->next[0]->op, FY_NODE_LEAF);
    }
}

/* ---- blocks ---- */

static void leave_by_return(void) { FY_AUTOCAST("cuda") return; }

TEST(blocks_nest_and_end_by_break_and_return)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2, 2), .device = "cuda");
        FY_AUTOCAST("cuda")
        {
            IS(FLOAT16, fy_matmul(x, x));
            FY_AUTOCAST("cuda", FY_BFLOAT16) IS(BFLOAT16, fy_matmul(x, x));
            IS(FLOAT16, fy_matmul(x, x));
            FY_NO_AUTOCAST("cuda")
            {
                IS(FLOAT32, fy_matmul(x, x));
                assert_false(fy_is_autocast_enabled("cuda"));
                break;
            }
            FY_AUTOCAST("cpu") assert_true(fy_is_autocast_enabled("cpu") && fy_is_autocast_enabled("cuda"));
            assert_true(fy_is_autocast_enabled("cuda") && !fy_is_autocast_enabled("cpu"));
        }
        leave_by_return();
        assert_false(fy_is_autocast_enabled("cuda"));
        IS(FLOAT32, fy_matmul(x, x));
    }
}

static void *is_on_elsewhere(void *on)
{
    *(bool *)on = fy_is_autocast_enabled("cuda");
    return NULL;
}

TEST(a_block_is_for_its_thread)
{
    (void)state;
    pthread_t other;
    bool on = true;
    FY_AUTOCAST("cuda")
    {
        assert_int_equal(pthread_create(&other, NULL, is_on_elsewhere, &on), 0);
        pthread_join(other, NULL);
    }
    assert_false(on);
}

TEST(the_log_tells_where_a_block_begins_and_ends)
{
    (void)state;
    since();
    FY_AUTOCAST("cuda", FY_BFLOAT16) fy_mark("inside");
    assert_string_equal(kinds(), "mode mark mode");
    assert_string_equal(text_of(event_of("mode", 0), "mode"), "autocast cuda bfloat16");
    assert_true(cJSON_IsTrue(field(event_of("mode", 0), "on")));
    assert_string_equal(text_of(event_of("mode", 1), "mode"), "autocast cuda bfloat16");
    assert_true(cJSON_IsFalse(field(event_of("mode", 1), "on")));
}

TEST(another_device_or_dtype_is_refused)
{
    (void)state;
    FY_AUTOCAST("cuda:0") assert_false(fy_is_autocast_enabled("cuda"));
    assert_true(failed_with("User specified autocast device_type must be 'cuda' or 'cpu'"));
    FY_AUTOCAST("cpu", FY_FLOAT16) assert_false(fy_is_autocast_enabled("cpu")); /* a warning */
    FY_AUTOCAST("cuda", FY_FLOAT64) assert_false(fy_is_autocast_enabled("cuda"));
    assert_null(fy_error());
}

static void cast_without_a_card(void)
{
    fy_tensor *x = fy_ones((2, 2));
    for (int i = 0; i < 2; i++) FY_AUTOCAST("cuda") printf("%s\n", fy_dtype_name(fy_dtype_of(fy_matmul(x, x))));
}

TEST(without_a_card_it_is_a_warning_and_nothing_more)
{
    (void)state;
    assert_exited_with(0);
    assert_said("float32\nfloat32\n");
    assert_said("): User provided device_type of 'cuda', but CUDA is not available. Disabling");
    const char *first = strstr(last_child.output, "Disabling");
    assert_null(strstr(first + 1, "Disabling")); /* once a line */
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "laptop", 1);
    run_forked(cast_without_a_card, ENVIRONMENT("FERRY_GPU", "none"), true);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_card_products_are_computed_in_the_blocks_dtype),
        cmocka_unit_test(on_a_card_these_are_computed_in_float32),
        cmocka_unit_test(on_a_card_others_stay_or_take_the_widest),
        cmocka_unit_test(the_cpu_has_shorter_lists),
        cmocka_unit_test(float64_integers_and_calls_in_place_stay),
        cmocka_unit_test(a_network_gives_what_pytorch_gives),
        cmocka_unit_test(gradients_in_bfloat16_are_close_to_those_in_float32),
        cmocka_unit_test(gradients_reach_through_what_runs_in_float32),
        cmocka_unit_test(a_weight_is_cast_once_in_a_block),
        cmocka_unit_test(parameters_of_a_module_are_cast_once),
        cmocka_unit_test(the_cast_of_a_weight_goes_with_the_block),
        cmocka_unit_test(only_leaves_that_require_grad_are_kept),
        cmocka_unit_test(a_cast_made_without_gradients_does_not_cut_the_graph),
        cmocka_unit_test(the_graph_names_casts_as_pytorch_does),
        cmocka_unit_test(blocks_nest_and_end_by_break_and_return),
        cmocka_unit_test(a_block_is_for_its_thread),
        cmocka_unit_test(the_log_tells_where_a_block_begins_and_ends),
        cmocka_unit_test(another_device_or_dtype_is_refused),
        cmocka_unit_test(without_a_card_it_is_a_warning_and_nothing_more),
    };
    int failed = cmocka_run_group_tests_name("autocast", tests, NULL, NULL);
    recorded_end();
    return failed;
}
