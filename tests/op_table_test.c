/* op_table_test.c: for every op of the table and every dtype that it takes, one call on the card: exactly one op event,
 * with a kernel and a grid or a BLAS routine, and the result's alloc and tensor events; values equal the CPU's. For
 * every other dtype: an error, or the cast of the op's dtype rule. An op without a call in this file fails. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpu.h"
#include "dispatch.h"
#include "dtype.h"
#include "kernel_table.h"
#include "op.h"
#include "recorded.h"
#include "run_work.h"
#include "tensor.h"

static const fy_dtype dtypes[] = {FY_FLOAT32, FY_INT64, FY_FLOAT16, FY_BFLOAT16,
                                  FY_FLOAT64, FY_INT32, FY_UINT8,   FY_BOOL};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* The operands, made before the recorded call. */
typedef struct test_operands {
    const char *device;
    fy_dtype dtype;
    fy_tensor *a, *b, *c, *d; /* (3, 4), (4), (4, 2), (3, 2) */
    fy_tensor *e;             /* (3, 1) */
    fy_tensor *mask;          /* (3, 4), bool */
    fy_tensor *classes;       /* (3) */
    fy_tensor *places;        /* (3, 1), the same */
    fy_tensor *rows;          /* (3) */
} test_operands;

static test_operands make_operands(fy_dtype dtype, const char *device)
{
    test_operands g = {.device = device, .dtype = dtype};
    g.a = fy_to(fy_to(fy_div(fy_view(fy_arange((-6, 6)), (3, 4)), 2), dtype), device);
    g.b = fy_to(fy_to(fy_arange((1, 5)), dtype), device);
    g.c = fy_to(fy_to(fy_view(fy_arange((-4, 4)), (4, 2)), dtype), device);
    g.d = fy_to(fy_to(fy_view(fy_arange((6)), (3, 2)), dtype), device);
    g.e = fy_to(fy_to(fy_view(fy_arange((2, 5)), (3, 1)), dtype), device);
    g.mask = fy_to(fy_gt(fy_view(fy_arange((-6, 6)), (3, 4)), 0), device);
    g.classes = fy_to(fy_tensor((1, 0, 3)), device);
    g.places = fy_view(g.classes, (3, 1));
    g.rows = fy_view(g.e, (3));
    return g;
}

/* ---- a call of each op ---- */

static fy_tensor *make(int op, const test_operands *g)
{
    switch ((fy_op_index)op) {
    case FY_OP_fill: return fy_full((3, 4), 1, .device = g->device, .dtype = g->dtype);
    case FY_OP_arange: return fy_arange((1, 20, 3), .device = g->device, .dtype = g->dtype);
    case FY_OP_linspace: return fy_linspace((1, 9, 5), .device = g->device, .dtype = g->dtype);
    case FY_OP_eye: return fy_eye((3, 4), .device = g->device, .dtype = g->dtype);
    case FY_OP_rand: return fy_rand((3, 5), .device = g->device, .dtype = g->dtype);
    case FY_OP_randn: return fy_randn((3, 5), .device = g->device, .dtype = g->dtype);
    case FY_OP_uniform: return fy_uniform_(fy_empty((3, 5), .device = g->device, .dtype = g->dtype), 1, 2);
    case FY_OP_normal: return fy_normal_(fy_empty((3, 5), .device = g->device, .dtype = g->dtype), 1, 2);
    case FY_OP_bernoulli: return fy_bernoulli_(fy_empty((3, 5), .device = g->device, .dtype = g->dtype), 0.5);
    case FY_OP_randint:
        return fy_randint((0, g->dtype == FY_BOOL ? 2 : 9), (3, 5), .device = g->device, .dtype = g->dtype);
    case FY_OP_randperm: return fy_randperm((9), .device = g->device, .dtype = g->dtype);
    default: return NULL;
    }
}

// clang-format off
static fy_tensor *combine(int op, const test_operands *g)
{
    fy_tensor *first = fy_ops[op].dtype == FY_CHOSEN ? g->mask : g->a;
    switch ((fy_op_index)op) {
#define X(name) case FY_OP_##name: return fy_##name(g->a, g->b);
    FY_TWO_OPERAND_OPS(X) FY_ALPHA_OPS(X)
#undef X
#define X(name) case FY_OP_##name: return fy_##name(first, g->b, g->e);
    FY_THREE_OPERAND_OPS(X)
#undef X
#define X(name) case FY_OP_##name: return fy_##name(g->a, g->b, g->e, 3);
    FY_VALUE_OPS(X)
#undef X
    case FY_OP_isclose: return fy_isclose(g->a, g->b, .rtol = 0.3, .atol = 1);
    case FY_OP_masked_fill: return fy_masked_fill(g->a, g->mask, 2);
    default: return NULL;
    }
}

static fy_tensor *map(int op, const test_operands *g)
{
    switch ((fy_op_index)op) {
#define X(name) case FY_OP_##name: return fy_##name(g->a);
    FY_ONE_OPERAND_OPS(X) X(clone)
#undef X
#define X(name) case FY_OP_##name: return fy_##name(g->a, 1);
    FY_TRIANGLE_OPS(X)
#undef X
    case FY_OP_one_hot: return fy_one_hot(g->b, 6);
    case FY_OP_cast: return fy_to(g->a, g->dtype == FY_FLOAT64 ? FY_FLOAT16 : FY_FLOAT64);
    default: return NULL;
    }
}

static fy_tensor *fold(int op, const test_operands *g)
{
    switch ((fy_op_index)op) {
#define X(name) case FY_OP_##name: return fy_##name(g->a, (1));
    FY_REDUCTIONS(X)
#undef X
    case FY_OP_softmax: return fy_softmax(g->a, 1);
    case FY_OP_log_softmax: return fy_log_softmax(g->a, 1);
    case FY_OP_layer_norm: return fy_layer_norm(g->a, (4));
    case FY_OP_matmul: return fy_matmul(g->a, g->c);
    case FY_OP_addmm: return fy_addmm(g->d, g->a, g->c, 2, 3);
    case FY_OP_nll_loss: return fy_cross_entropy(g->a, g->classes, .reduction = FY_NONE);
    default: return NULL;
    }
}

// clang-format on
static fy_tensor *pick(int op, const test_operands *g)
{
    switch ((fy_op_index)op) {
    case FY_OP_repeat: return fy_repeat(g->a, (2, 1, 3));
    case FY_OP_index_select: return fy_index_select(g->a, 1, g->classes);
    case FY_OP_embedding: return fy_embedding(g->c, g->places);
    case FY_OP_gather: return fy_gather(g->a, 1, g->places);
    case FY_OP_scatter_add: return fy_scatter_add_(g->a, 1, g->places, g->e);
    case FY_OP_cumsum: return fy_cumsum(g->a, 1);
    case FY_OP_argsort: return fy_argsort(g->a, 0, .descending = true);
    case FY_OP_nonzero: return fy_nonzero(g->a);
    case FY_OP_masked_select: return fy_masked_select(g->a, g->mask);
    case FY_OP_prefix_count:
        return fy_dispatch(
            &(fy_call){.at = FY_AT("prefix_count", "x"), .op = op, .in = {fy_arg_tensor(g->a)}});
    default: return NULL;
    }
}

/* Ops that only gradients use. */
static fy_tensor *slope(int op, const test_operands *g)
{
    fy_call c = {.at = FY_AT("backward", "g, r"), .op = op, .in = {fy_arg_tensor(g->a), fy_arg_tensor(g->a)}};
    switch ((fy_op_index)op) {
    case FY_OP_threshold_backward:
    case FY_OP_tanh_backward:
    case FY_OP_sigmoid_backward: return fy_dispatch(&c);
    case FY_OP_layer_norm_backward:
        c.real[FY_LAYER_NORM_BACKWARD_eps] = 1e-5; /* fallthrough */
    case FY_OP_softmax_backward:
    case FY_OP_log_softmax_backward: c.dims = (fy_shape){1, {1}}; return fy_dispatch(&c);
    case FY_OP_nll_loss_backward:
        c.shape = (fy_shape){2, {3, 4}};
        c.in[0] = fy_arg_tensor(g->rows);
        c.in[1] = fy_arg_tensor(g->classes);
        return fy_dispatch(&c);
    default: return NULL;
    }
}

static fy_tensor *call(int op, const test_operands *g)
{
    fy_tensor *out = make(op, g);
    if (!out) out = slope(op, g);
    if (!out) out = combine(op, g);
    if (!out) out = map(op, g);
    if (!out) out = pick(op, g);
    return out ? out : fold(op, g);
}

/* Calls that consist of two ops: losses compute log_softmax; totals of integers are computed in int64. */
static const char *op_before(int op, fy_dtype d)
{
    if (op == FY_OP_nll_loss) return "log_softmax";
    if (op == FY_OP_nonzero || op == FY_OP_masked_select) return "prefix_count";
    return fy_ops[op].dtype == FY_TOTAL && !fy_dtype_is_real(d) && d != FY_INT64 ? "cast" : NULL;
}

/* Supported on the CPU but not on the card, as in PyTorch. */
static bool is_refused_on_card(int op, fy_dtype d)
{
    return (op == FY_OP_matmul || op == FY_OP_addmm) && !fy_dtype_is_real(d);
}

/* PyTorch's argmax does not take bool, but max does. */
static bool is_inner_alone(int op, fy_dtype d) { return (op == FY_OP_argmax || op == FY_OP_argmin) && d == FY_BOOL; }

/* ---- in the log ---- */

static void check_op_event(const cJSON *e, const char *name)
{
    assert_non_null(e);
    assert_string_equal(text_of(e, "name"), name);
    assert_string_equal(text_of(e, "device"), "cuda:0");
    bool kernel = text_of(e, "kernel")[0], blas = text_of(e, "blas")[0];
    if (!kernel && !blas) fail_msg("%s names neither a kernel nor a BLAS routine", name);
    if (kernel && !(number_of(e, "grid.0") >= 1)) fail_msg("%s: kernel %s has no grid", name, text_of(e, "kernel"));
    if (kernel && !(number_of(e, "block.0") >= 1)) fail_msg("%s: kernel %s has no block", name, text_of(e, "kernel"));
}

/* Exactly the result's alloc and tensor and one op; before these, the events in `before` and `temporary`. */
static void check_events(int op, fy_dtype d, const char *before)
{
    const char *one = "alloc tensor op complete", *two = "alloc tensor op complete alloc tensor op complete drop free";
    const char *inner =
        "alloc tensor alloc tensor op complete op complete drop free"; /* the result is allocated first */
    const char *counted = "alloc tensor op complete copy complete sync alloc tensor op complete drop free";
    const char *found = kinds();
    if (fy_ops[op].shape == FY_SCATTERED) one = "op complete";
    if (fy_ops[op].shape == FY_COUNTED) two = inner = counted;
    if (before ? strcmp(found, two) && strcmp(found, inner) : strcmp(found, one))
        fail_msg("%s of %s on the card is recorded as: %s", fy_ops[op].name, fy_dtype_name(d), found);
    if (before) check_op_event(event_of("op", 0), before);
    check_op_event(event_of("op", before ? 1 : 0), fy_ops[op].name);
}

/* ---- the values ---- */

static bool is_random(int op)
{
    return (op >= FY_OP_uniform && op <= FY_OP_bernoulli) || op == FY_OP_rand || op == FY_OP_randn || op == FY_OP_randint || op == FY_OP_randperm;
}

/* Not correctly rounded: some ulps are allowed. */
static double tolerance(int op, fy_dtype d)
{
    double unit = d == FY_FLOAT64 ? 0x1p-52 : d == FY_FLOAT32 ? 0x1p-23 : d == FY_FLOAT16 ? 0x1p-10 : 0x1p-7;
    switch ((fy_op_index)op) {
    case FY_OP_linspace:
    case FY_OP_pow:
    case FY_OP_exp:
    case FY_OP_log:
    case FY_OP_sin:
    case FY_OP_cos:
    case FY_OP_tanh:
    case FY_OP_sigmoid:
    case FY_OP_sum:
    case FY_OP_prod:
    case FY_OP_mean:
    case FY_OP_var:
    case FY_OP_norm:
    case FY_OP_softmax:
    case FY_OP_log_softmax:
    case FY_OP_layer_norm:
    case FY_OP_layer_norm_backward:
    case FY_OP_softmax_backward:
    case FY_OP_log_softmax_backward:
    case FY_OP_nll_loss_backward:
    case FY_OP_tanh_backward:
    case FY_OP_sigmoid_backward:
    case FY_OP_matmul:
    case FY_OP_addmm:
    case FY_OP_cumsum:
    case FY_OP_nll_loss: return fy_dtype_is_real(d) ? (d == FY_FLOAT16 || d == FY_BFLOAT16 ? unit : 16 * unit) : 0;
    default: return 0;
    }
}

static void check_same_form(int op, const fy_tensor *x, const fy_tensor *y)
{
    assert_int_equal(x->dtype, y->dtype);
    assert_int_equal(x->ndim, y->ndim);
    for (int i = 0; i < x->ndim; i++)
        if (x->shape[i] != y->shape[i] || x->strides[i] != y->strides[i])
            fail_msg("%s: another form on the card", fy_ops[op].name);
}

static void check_same_values(int op, const fy_tensor *x, fy_tensor *y)
{
    fy_tensor *on_host = fy_to(y, "cpu");
    check_same_form(op, x, y);
    for (int64_t i = 0; i < fy_numel(x) && !is_random(op); i++) {
        double a = fy_real_at(x->dtype, (char *)x->storage->data, i),
               b = fy_real_at(x->dtype, (char *)on_host->storage->data, i);
        if (!(a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance(op, x->dtype) * fmax(fabs(a), 1)))
            fail_msg("%s of %s: element %d is %.17g on the CPU and %.17g on the card", fy_ops[op].name,
                     fy_dtype_name(x->dtype), (int)i, a, b);
    }
}

/* ---- all ops and dtypes ---- */

static void check_supported(int op, fy_dtype d)
{
    test_operands host = make_operands(d, "cpu"), card = make_operands(d, "cuda");
    fy_tensor *x = call(op, &host);
    if (!x)
        fail_msg("%s of %s: %s", fy_ops[op].name, fy_dtype_name(d),
                 fy_error() ? fy_error() : "this test has no call of it");
    since();
    fy_tensor *y = call(op, &card);
    if (!y) fail_msg("%s of %s on the card: %s", fy_ops[op].name, fy_dtype_name(d), fy_error());
    check_events(op, d, op_before(op, d));
    check_same_values(op, x, y);
}

/* An error that names the dtype, and no other event. */
static void check_refused(int op, fy_dtype d, const char *device)
{
    test_operands g = make_operands(d, device);
    since();
    fy_clear_error();
    if (call(op, &g)) fail_msg("%s of %s on %s is no error", fy_ops[op].name, fy_dtype_name(d), device);
    if (!fy_error())
        fail_msg("%s of %s on %s: neither a result nor an error", fy_ops[op].name, fy_dtype_name(d), device);
    bool named =
        strstr(fy_error(), fy_dtype_torch(d)) || strstr(fy_error(), "bool") || strstr(fy_error(), "floating point");
    if (!named || !strstr(fy_error(), "fix:"))
        fail_msg("%s of %s on %s: %s", fy_ops[op].name, fy_dtype_name(d), device, fy_error());
    bool in_place = op >= FY_OP_uniform && op <= FY_OP_bernoulli; /* the target is made first */
    assert_string_equal(kinds(), in_place ? "alloc tensor error" : "error");
    fy_clear_error();
}

static void every_op_takes_every_type_of_its_row(void **state)
{
    int taken = 0, expected = 0;
    (void)state;
    for (int op = 0; op < FY_OP_COUNT; op++)
        for (int i = 0; i < DTYPES; i++) FY_SCOPE
            {
                bool takes =
                    fy_op_takes(op, dtypes[i]) && !is_refused_on_card(op, dtypes[i]) && !is_inner_alone(op, dtypes[i]);
                expected += takes;
                if (!takes) continue;
                check_supported(op, dtypes[i]);
                taken++;
            }
    assert_int_equal(taken, expected);
    assert_true(taken > 4 * FY_OP_COUNT);
}

/* Integer operands of exp and similar ops are cast first, with an event. */
static void other_types_are_cast_openly_or_refused_in_plain_words(void **state)
{
    (void)state;
    for (int op = 0; op < FY_OP_COUNT; op++)
        for (int i = 0; i < DTYPES; i++) FY_SCOPE
            {
                fy_dtype d = dtypes[i];
                bool takes = fy_op_takes(op, d) && !is_inner_alone(op, d);
                if (takes && !is_refused_on_card(op, d)) continue;
                if (fy_ops[op].dtype == FY_PROMOTED_REAL) {
                    test_operands g = make_operands(d, "cuda");
                    since();
                    fy_tensor *out = call(op, &g);
                    assert_int_equal(fy_dtype_of(out), FY_FLOAT32);
                    for (int k = 0; k < fy_ops[op].nin; k++) check_op_event(event_of("op", k), "cast");
                    check_op_event(event_of("op", fy_ops[op].nin), fy_ops[op].name);
                    assert_null(event_of("copy", 0));
                    continue;
                }
                check_refused(op, d, "cuda");
                if (!takes) check_refused(op, d, "cpu");
            }
}

/* Each row has a host version and a kernel. */
static void every_row_has_a_host_version_and_a_kernel(void **state)
{
    (void)state;
    for (int op = 0; op < FY_OP_COUNT; op++) {
        assert_non_null(fy_ops[op].name);
        assert_true(fy_ops[op].nin >= 0 && fy_ops[op].nin <= FY_MAX_INPUTS);
        assert_non_null(fy_host_op_find(op));
        assert_non_null(fy_sim_kernel(op));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_a_host_version_and_a_kernel),
        cmocka_unit_test(every_op_takes_every_type_of_its_row),
        cmocka_unit_test(other_types_are_cast_openly_or_refused_in_plain_words),
    };
    return cmocka_run_group_tests_name("op_table", tests, record_on_sim, record_no_more);
}
