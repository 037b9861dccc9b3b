/* gradcheck_test.c: the gradient of every differentiable op of the table, and of every view, copy and op in place,
 * against finite differences in float64 on the CPU; on the card the same gradients. An op without a row here fails. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "graph.h"
#include "op.h"
#include "recorded.h"
#include "shape.h"
#include "tensor.h"

#define TEST(name) static void name(void **state)

enum { MOST = 3 };

/* A function of up to three tensors. */
typedef struct row {
    const char *name;
    int op; /* of the node that it records last, or -1 */
    fy_tensor *(*of)(fy_tensor *a, fy_tensor *b, fy_tensor *c);
    fy_shape shape[MOST]; /* of a, b, c; -1: none */
    bool positive;        /* defined for positive numbers only */
} row;

#define NO_SHAPE \
    { \
        -1, { 0 } \
    }
#define ONE(...) \
    { \
        __VA_ARGS__, NO_SHAPE, NO_SHAPE \
    }
#define A \
    { \
        2, { 3, 4 } \
    }
#define B \
    { \
        1, { 4 } \
    }
#define C \
    { \
        2, { 3, 1 } \
    }
#define F(name, ...) \
    static fy_tensor *name(fy_tensor *a, fy_tensor *b, fy_tensor *c) \
    { \
        (void)a, (void)b, (void)c; \
        return __VA_ARGS__; \
    }

static const char *device = "cpu"; /* of constants in the functions */

static fy_tensor *on_device(fy_tensor *x) { return fy_to(x, device); }
static fy_tensor *mask(void)
{
    return on_device(fy_gt(fy_view(fy_tensor((1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0)), (3, 4)), 0));
}
static fy_tensor *classes(void) { return on_device(fy_tensor((1, 0, 3))); }

/* clang-format off */
F(cast, fy_mse_loss(a, fy_to(b, FY_FLOAT32))) F(clone, fy_clone(a)) F(add, fy_add(a, b, 3)) F(sub, fy_sub(a, b, 3)) F(mul, fy_mul(a, b))
F(div_, fy_div(a, b)) F(remainder_, fy_remainder(a, b)) F(power, fy_pow(a, b)) F(square, fy_pow(a, 2)) F(two_to, fy_pow(2, a))
F(maximum, fy_maximum(a, b)) F(minimum, fy_minimum(a, b)) F(clamp_min, fy_clamp_min(a, b)) F(clamp_max, fy_clamp_max(a, b))
F(clamp, fy_clamp(a, b, c)) F(clamp_numbers, fy_clamp(a, 0.7, 1.9)) F(lerp, fy_lerp(a, b, c)) F(lerp_number, fy_lerp(a, b, 0.3))
F(addcmul, fy_addcmul(a, b, c, 2)) F(addcdiv, fy_addcdiv(a, b, c, 2)) F(masked_fill, fy_masked_fill(a, mask(), 2))
F(where, fy_where(mask(), a, b)) F(neg, fy_neg(a)) F(abs_, fy_abs(a)) F(sign, fy_sign(a)) F(relu, fy_relu(a))
F(floor_, fy_floor(a)) F(ceil_, fy_ceil(a)) F(round_, fy_round(a)) F(exp_, fy_exp(a)) F(log_, fy_log(a)) F(sqrt_, fy_sqrt(a))
F(sin_, fy_sin(a)) F(cos_, fy_cos(a)) F(tanh_, fy_tanh(a)) F(sigmoid, fy_sigmoid(a)) F(tril, fy_tril(a, 1)) F(triu, fy_triu(a, -1))
F(sum, fy_sum(a, (1))) F(sum_all, fy_sum(a)) F(prod, fy_prod(a, (0), .keepdim = true)) F(mean, fy_mean(a, (0)))
F(mean_all, fy_mean(a)) F(var, fy_var(a, (-1))) F(var_biased, fy_var(a, (), .biased = true)) F(max, fy_max(a, (1)))
F(max_all, fy_max(a)) F(min, fy_min(a, (0), .keepdim = true)) F(norm, fy_norm(a, (1))) F(norm_1, fy_norm(a, (1), .p = 1))
F(norm_3, fy_norm(a, (0), .p = 3)) F(norm_half, fy_norm(a, (0), .p = 0.5)) F(norm_max, fy_norm(a, (1), .p = INFINITY))
F(softmax, fy_softmax(a, 0)) F(log_softmax, fy_log_softmax(a, 1)) F(log_softmax_0, fy_log_softmax(a, 0))
F(layer_norm, fy_layer_norm(a, (4))) F(layer_norm_2d, fy_layer_norm(a, (3, 4), .eps = 0.1))
F(layer_norm_affine, fy_layer_norm(a, (4), .weight = b, .bias = b)) F(dropout, (fy_manual_seed(3), fy_dropout(a, 0.4)))
F(uniform, (fy_manual_seed(3), fy_uniform_(fy_mul(a, 1), 2, 3))) F(normal, (fy_manual_seed(3), fy_normal_(fy_mul(a, 1), 2, 3)))
F(bernoulli, (fy_manual_seed(3), fy_bernoulli_(fy_mul(a, 1), 0.5)))
F(matmul, fy_matmul(a, b)) F(row_times, fy_matmul(b, fy_t(a))) F(batched, fy_matmul(a, b))
F(addmm, fy_addmm(a, b, c, 2, 3)) F(linear, fy_linear(a, b, c)) F(linear_3d, fy_linear(a, b, c)) F(dot, fy_dot(a, b))
F(nll_loss, fy_cross_entropy(a, classes(), .reduction = FY_NONE, .label_smoothing = 0.2))
F(cross_entropy, fy_cross_entropy(a, on_device(fy_tensor((1, -100, 3)))))
F(cross_entropy_2d, fy_cross_entropy(a, on_device(fy_view(fy_tensor((1, 0, 2, 1)), (2, 2))), .reduction = FY_SUM))
F(probabilities, fy_cross_entropy(a, b)) F(mse_loss, fy_mse_loss(a, b)) F(repeat, fy_repeat(a, (2, 1, 3)))
F(index_select, fy_index_select(a, 1, on_device(fy_tensor((2, 0, 2))))) F(gather, fy_gather(a, 1, on_device(fy_view(fy_tensor((1, 1, 0, 3, 2, 2)), (3, 2)))))
F(embedding, fy_embedding(a, on_device(fy_view(fy_tensor((1, 0, 1, 2)), (2, 2))))) F(cumsum, fy_cumsum(a, 0)) F(cumsum_1, fy_cumsum(a, -1))
F(scatter_add, fy_scatter_add_(fy_mul(a, 1), 1, fy_view(classes(), (3, 1)), c)) F(masked_select, fy_masked_select(a, mask()))
F(index_rows, fy_index(a, on_device(fy_gt(fy_tensor((1, 0, 1)), 0)))) F(sort, fy_sort(a, 1, .descending = true)) F(topk, fy_topk(a, 2))
F(fill, fy_fill_(fy_mul(a, 1), 2))
F(view, fy_view(a, (2, 6))) F(reshape, fy_reshape(fy_t(a), (2, 6))) F(transpose, fy_transpose(a, 0, 1)) F(permute, fy_permute(a, (2, 0, 1)))
F(expand, fy_expand(a, (2, 3, 4))) F(expand_1, fy_expand(c, (3, 4))) F(squeeze, fy_squeeze(c)) F(unsqueeze, fy_unsqueeze(a, 1))
F(selected, fy_select(a, 1, 2)) F(narrow, fy_narrow(a, 1, 1, 2)) F(slice, fy_slice(a, 1, 0, 4, 3)) F(split, fy_split(a, 3, 1).at[1])
F(slice_of_expanded, fy_slice(fy_expand(b, (3, 4)), 0, 1, 3, 1)) F(cat, fy_cat((a, a, fy_unsqueeze(b, 0)), 0)) F(stack, fy_stack((b, b), 1))
F(contiguous, fy_contiguous(fy_t(a))) F(moved, fy_to(a, "cuda")) F(narrowed, fy_to(a, "cuda", .dtype = FY_FLOAT32)) F(twice, fy_add(fy_mul(a, a), a))
F(same, fy_to(fy_mul(a, a), a)) F(mul_in_place, fy_mul_(fy_mul(a, 2), b)) F(div_in_place, fy_div_(fy_mul(a, 2), b)) F(exp_in_place, fy_exp_(fy_mul(a, 1)))
F(add_in_place, fy_add_(fy_mul(a, 2), b, 3)) F(sub_in_place, fy_sub_(fy_mul(a, 2), b)) F(relu_in_place, fy_relu_(fy_mul(a, 1)))
F(addcmul_in_place, fy_addcmul_(fy_mul(a, 2), b, c, 2)) F(addcdiv_in_place, fy_addcdiv_(fy_mul(a, 2), b, c)) F(neg_in_place, fy_neg_(fy_mul(a, 2)))
F(sqrt_in_place, fy_sqrt_(fy_mul(a, 2))) F(masked_fill_in_place, fy_masked_fill_(fy_mul(a, 2), mask(), 1))
F(masked_fill_tensor, fy_masked_fill(a, mask(), b)) F(fill_tensor, fy_mul(fy_fill_(fy_mul(a, 1), b), a)) F(copy, fy_copy_(fy_mul(a, 2), b))
F(copy_across, fy_copy_(fy_mul(a, 2), fy_to(fy_mul(b, 3), "cuda")))
    /* clang-format on */

    /* ---- in place through views: the base, and its other views, follow ---- */

    static fy_tensor *part_written(fy_tensor *a, fy_tensor *b, fy_tensor *c)
{
    fy_tensor *y = fy_mul(a, 2), *other = fy_select(y, 0, 1);
    (void)c;
    fy_mul_(fy_select(y, 0, 1), b);
    return fy_add(y, other);
}

static fy_tensor *base_written(fy_tensor *a, fy_tensor *b, fy_tensor *c)
{
    fy_tensor *y = fy_mul(a, 2), *column = fy_select(fy_t(y), 0, 1);
    (void)c;
    fy_mul_(y, b);
    return fy_mul(column, column);
}

static fy_tensor *written_twice(fy_tensor *a, fy_tensor *b, fy_tensor *c)
{
    fy_tensor *y = fy_zeros((3, 4), .device = device, .dtype = FY_FLOAT64), *third = fy_select(y, 0, 2);
    fy_copy_(third, b);
    fy_neg_(fy_narrow(third, 0, 1, 2));
    fy_add_(fy_narrow(y, 1, 0, 1), c);
    return fy_mul(y, a);
}

static fy_tensor *part_filled(fy_tensor *a, fy_tensor *b, fy_tensor *c)
{
    fy_tensor *y = fy_mul(a, 2);
    (void)b, (void)c;
    fy_zero_(fy_slice(y, 1, 0, 4, 2));
    return fy_mul(y, y);
}

#define OF(op, f, ...) \
    { \
#f, FY_OP_##op, f, {__VA_ARGS__ }, false \
    }
#define POSITIVE(op, f, ...) \
    { \
#f, FY_OP_##op, f, {__VA_ARGS__ }, true \
    }
#define NODE(f, ...) \
    { \
#f, -1, f, {__VA_ARGS__ }, false \
    }
#define NONE NO_SHAPE

static const row rows[] = {
    OF(cast, cast, A, {0, {0}}, NONE),
    OF(clone, clone, A, NONE, NONE),
    OF(add, add, A, B, NONE),
    OF(sub, sub, A, B, NONE),
    OF(mul, mul, A, C, NONE),
    POSITIVE(div, div_, A, B, NONE),
    POSITIVE(remainder, remainder_, A, B, NONE),
    POSITIVE(pow, power, A, B, NONE),
    OF(pow, square, A, NONE, NONE),
    OF(pow, two_to, A, NONE, NONE),
    OF(maximum, maximum, A, B, NONE),
    OF(minimum, minimum, A, B, NONE),
    OF(clamp_min, clamp_min, A, C, NONE),
    OF(clamp_max, clamp_max, A, C, NONE),
    OF(clamp, clamp, A, B, C),
    OF(clamp, clamp_numbers, A, NONE, NONE),
    OF(lerp, lerp, A, B, C),
    OF(lerp, lerp_number, A, B, NONE),
    OF(addcmul, addcmul, A, B, C),
    POSITIVE(addcdiv, addcdiv, A, B, C),
    OF(masked_fill, masked_fill, A, NONE, NONE),
    OF(where, where, A, B, NONE),
    OF(neg, neg, A, NONE, NONE),
    OF(abs, abs_, A, NONE, NONE),
    OF(sign, sign, A, NONE, NONE),
    OF(relu, relu, A, NONE, NONE),
    OF(floor, floor_, A, NONE, NONE),
    OF(ceil, ceil_, A, NONE, NONE),
    OF(round, round_, A, NONE, NONE),
    OF(exp, exp_, A, NONE, NONE),
    POSITIVE(log, log_, A, NONE, NONE),
    POSITIVE(sqrt, sqrt_, A, NONE, NONE),
    OF(sin, sin_, A, NONE, NONE),
    OF(cos, cos_, A, NONE, NONE),
    OF(tanh, tanh_, A, NONE, NONE),
    OF(sigmoid, sigmoid, A, NONE, NONE),
    OF(tril, tril, A, NONE, NONE),
    OF(triu, triu, A, NONE, NONE),
    OF(sum, sum, A, NONE, NONE),
    OF(sum, sum_all, A, NONE, NONE),
    OF(prod, prod, A, NONE, NONE),
    OF(mean, mean, A, NONE, NONE),
    OF(mean, mean_all, A, NONE, NONE),
    OF(var, var, A, NONE, NONE),
    OF(var, var_biased, A, NONE, NONE),
    OF(max, max, A, NONE, NONE),
    OF(max, max_all, A, NONE, NONE),
    OF(min, min, A, NONE, NONE),
    OF(norm, norm, A, NONE, NONE),
    OF(norm, norm_1, A, NONE, NONE),
    OF(norm, norm_3, A, NONE, NONE),
    POSITIVE(norm, norm_half, A, NONE, NONE),
    OF(norm, norm_max, A, NONE, NONE),
    OF(softmax, softmax, A, NONE, NONE),
    OF(log_softmax, log_softmax, A, NONE, NONE),
    OF(log_softmax, log_softmax_0, A, NONE, NONE),
    OF(layer_norm, layer_norm, A, NONE, NONE),
    NODE(layer_norm_2d, A, NONE, NONE),
    OF(addcmul, layer_norm_affine, A, B, NONE),
    OF(mul, dropout, A, NONE, NONE),
    OF(uniform, uniform, A, NONE, NONE),
    OF(normal, normal, A, NONE, NONE),
    OF(bernoulli, bernoulli, A, NONE, NONE),
    OF(matmul, matmul, A, {2, {4, 2}}, NONE),
    OF(matmul, row_times, A, B, NONE),
    OF(matmul, batched, {3, {2, 1, 4}}, {4, {3, 1, 4, 2}}, NONE),
    OF(matmul, matmul, {3, {2, 3, 4}}, B, NONE),
    OF(matmul, matmul, B, {3, {2, 4, 3}}, NONE),
    OF(matmul, dot, B, B, NONE),
    OF(addmm, addmm, {1, {2}}, A, {2, {4, 2}}),
    OF(addmm, linear, A, {2, {2, 4}}, {1, {2}}),
    OF(add, linear_3d, {3, {2, 3, 4}}, {2, {2, 4}}, {1, {2}}),
    OF(nll_loss, nll_loss, A, NONE, NONE),
    OF(div, cross_entropy, A, NONE, NONE),
    OF(sum, cross_entropy_2d, {3, {2, 3, 2}}, NONE, NONE),
    OF(div, probabilities, A, A, NONE),
    OF(mean, mse_loss, A, A, NONE),
    OF(repeat, repeat, A, NONE, NONE),
    OF(index_select, index_select, A, NONE, NONE),
    OF(gather, gather, A, NONE, NONE),
    OF(embedding, embedding, A, NONE, NONE),
    OF(cumsum, cumsum, A, NONE, NONE),
    OF(cumsum, cumsum_1, A, NONE, NONE),
    OF(scatter_add, scatter_add, A, NONE, C),
    OF(masked_select, masked_select, A, NONE, NONE),
    OF(masked_select, masked_select, B, NONE, NONE),
    OF(masked_select, index_rows, A, NONE, NONE),
    OF(gather, sort, A, NONE, NONE),
    OF(gather, topk, A, NONE, NONE),
    OF(fill, fill, A, NONE, NONE),
    OF(add, twice, A, NONE, NONE),
    OF(mul, mul_in_place, A, B, NONE),
    POSITIVE(div, div_in_place, A, B, NONE),
    OF(exp, exp_in_place, A, NONE, NONE),
    OF(add, add_in_place, A, B, NONE),
    OF(sub, sub_in_place, A, B, NONE),
    OF(relu, relu_in_place, A, NONE, NONE),
    OF(addcmul, addcmul_in_place, A, B, C),
    POSITIVE(addcdiv, addcdiv_in_place, A, B, C),
    OF(neg, neg_in_place, A, NONE, NONE),
    POSITIVE(sqrt, sqrt_in_place, A, NONE, NONE),
    OF(masked_fill, masked_fill_in_place, A, NONE, NONE),
    OF(where, masked_fill_tensor, A, {0, {0}}, NONE),
    OF(mul, fill_tensor, A, {0, {0}}, NONE),
    NODE(view, A, NONE, NONE),
    NODE(reshape, A, NONE, NONE),
    NODE(transpose, A, NONE, NONE),
    NODE(permute, {3, {2, 3, 4}}, NONE, NONE),
    NODE(expand, A, NONE, NONE),
    NODE(expand_1, NONE, NONE, C),
    NODE(squeeze, NONE, NONE, C),
    NODE(unsqueeze, A, NONE, NONE),
    NODE(selected, A, NONE, NONE),
    NODE(narrow, A, NONE, NONE),
    NODE(slice, A, NONE, NONE),
    NODE(split, A, NONE, NONE),
    NODE(slice_of_expanded, NONE, B, NONE),
    NODE(cat, A, B, NONE),
    NODE(stack, NONE, B, NONE),
    NODE(contiguous, A, NONE, NONE),
    NODE(moved, A, NONE, NONE),
    NODE(narrowed, A, NONE, NONE),
    NODE(same, A, NONE, NONE),
    NODE(copy, A, B, NONE),
    NODE(copy_across, A, B, NONE),
    NODE(part_written, A, B, NONE),
    NODE(base_written, A, B, NONE),
    NODE(written_twice, A, B, C),
    NODE(part_filled, A, NONE, NONE),
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- finite differences ---- */

/* Numbers that differ from each other, and lie away from integers and halves, where some ops jump. */
static double start(const row *r, int input, int64_t i)
{
    double x = 0.13 + 0.31 * (double)((i * 7 + input * 5) % 12) + 0.017 * input;
    return r->positive || (i + input) % 3 ? x : -x;
}

static fy_tensor *make(const row *r, int input, int bumped, int64_t at, double step)
{
    if (r->shape[input].ndim < 0) return NULL;
    int64_t n = fy_shape_numel(&r->shape[input]);
    double values[64];
    for (int64_t i = 0; i < n; i++) values[i] = start(r, input, i) + (input == bumped && i == at ? step : 0);
    fy_tensor *x = fy_clone(fy_from_blob(values, (64), .dtype = FY_FLOAT64));
    return fy_to(fy_view_at(FY_AT("fy_view", ""), fy_narrow(x, 0, 0, n), r->shape[input]), device);
}

/* A sum of the result's elements with different weights, so that no error cancels out. */
static fy_tensor *weighed(fy_tensor *x)
{
    fy_tensor *flat = fy_reshape(fy_to(x, device, .dtype = FY_FLOAT64), (-1));
    fy_tensor *weights = fy_to(fy_add(fy_cos(fy_arange((fy_numel(x)), .dtype = FY_FLOAT64)), 1.7), device);
    return fy_sum(fy_mul(flat, weights));
}

static double value(const row *r, int bumped, int64_t at, double step)
{
    double v = 0;
    FY_NO_GRAD FY_SCOPE
    {
        fy_tensor *in[MOST];
        for (int k = 0; k < MOST; k++) in[k] = make(r, k, bumped, at, step);
        v = fy_item(weighed(r->of(in[0], in[1], in[2])));
    }
    return v;
}

/* Float32 in between loses digits. */
static bool is_narrow(const row *r) { return r->of == cast || r->of == narrowed; }

static void check_differences(const row *r, int input, fy_tensor *gradient)
{
    double step = is_narrow(r) ? 1e-2 : 1e-6, most = is_narrow(r) ? 1e-4 : 2e-7;
    fy_tensor *flat = fy_reshape(fy_cpu(gradient), (-1));
    assert_int_equal(gradient->ndim, r->shape[input].ndim);
    for (int64_t i = 0; i < fy_numel(flat); i++) {
        double got = fy_item(fy_select(flat, 0, i));
        double want = (value(r, input, i, step) - value(r, input, i, -step)) / (2 * step);
        if (!(fabs(got - want) <= most * fmax(1, fabs(want))))
            fail_msg("%s on %s: gradient of operand %c, element %d: %.12g, by differences %.12g", r->name, device,
                     'a' + input, (int)i, got, want);
    }
}

static bool has_node(const fy_node *node, int op)
{
    bool found = node && node->op == op;
    for (int i = 0; node && i < node->n && !found; i++) found = has_node(node->next[i], op);
    return found;
}

static void check_row(const row *r)
{
    fy_tensor *in[MOST];
    for (int k = 0; k < MOST; k++)
        if ((in[k] = make(r, k, -1, 0, 0))) fy_requires_grad_(in[k]);
    fy_tensor *out = r->of(in[0], in[1], in[2]);
    if (!out || fy_error()) fail_msg("%s on %s: %s", r->name, device, fy_error() ? fy_error() : "no result");
    if (r->op >= 0 && !has_node(out->node, r->op)) fail_msg("%s records no %s", r->name, fy_ops[r->op].name);
    if (!fy_backward(weighed(out))) fail_msg("%s on %s: %s", r->name, device, fy_error());
    for (int k = 0; k < MOST; k++) {
        if (!in[k]) continue;
        if (!fy_grad(in[k])) fail_msg("%s on %s: operand %c has no gradient", r->name, device, 'a' + k);
        assert_string_equal(fy_device(fy_grad(in[k])), fy_device(in[k]));
        check_differences(r, k, fy_grad(in[k]));
    }
}

static void check_rows(const char *where)
{
    device = where;
    fy_on_error(FY_RETURN);
    for (int i = 0; i < ROWS; i++) FY_SCOPE
        {
            check_row(&rows[i]);
        }
}

TEST(gradients_on_the_cpu_equal_finite_differences)
{
    (void)state;
    check_rows("cpu");
}

TEST(gradients_on_the_card_equal_finite_differences)
{
    (void)state;
    check_rows("cuda");
}

TEST(every_differentiable_op_has_a_row)
{
    (void)state;
    for (int op = 0; op < FY_OP_COUNT; op++) {
        int i = 0;
        bool differentiable = fy_op_is_differentiable(op, 0) || fy_op_is_differentiable(op, 1);
        while (i < ROWS && rows[i].op != op) i++;
        if (differentiable && i == ROWS && !fy_op_refuses_gradient(op)) fail_msg("no row for %s", fy_ops[op].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_differentiable_op_has_a_row),
        cmocka_unit_test(gradients_on_the_cpu_equal_finite_differences),
        cmocka_unit_test(gradients_on_the_card_equal_finite_differences),
    };
    return cmocka_run_group_tests_name("gradcheck", tests, record_on_sim, record_no_more);
}
