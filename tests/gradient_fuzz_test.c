/* gradient_fuzz_test.c: random graphs, some of them over both devices, with views and writes in place: their gradients
 * equal finite differences, or the graph is refused because a saved tensor was written; in the end nothing is alive.
 * The long run tries more, and GRAPHS=50000 as many as it says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "device.h"
#include "recorded.h"
#include "tensor.h"

#define TEST(name) static void name(void **state)

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { FEW = 400, MANY = 2000 }; /* several times slower */
#else
enum { FEW = 1500, MANY = 20000 };
#endif
enum { LEAVES = 3, MOST_STEPS = 14, ROWS = 3, COLUMNS = 4 };

/* ---- random numbers, by a seed ---- */

static uint64_t random_state;

static uint32_t draw(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

/* ---- a graph: every tensor is (3, 4), or broadcasts to it ---- */

static const fy_shape shapes[] = {{2, {ROWS, COLUMNS}}, {1, {COLUMNS}}, {2, {ROWS, 1}}, {0, {0}}};

static fy_tensor *one_operand(fy_tensor *x)
{
    switch (draw(20)) {
    case 0: return fy_sin(x);
    case 1: return fy_cos(x);
    case 2: return fy_tanh(x);
    case 3: return fy_sigmoid(x);
    case 4: return fy_exp(fy_sin(x));
    case 5: return fy_log(fy_add(fy_mul(x, x), 1));
    case 6: return fy_sqrt(fy_add(fy_mul(x, x), 0.5));
    case 7: return fy_relu(x);
    case 8: return fy_abs(x);
    case 9: return fy_softmax(x, -1);
    case 10: return fy_log_softmax(x, -1);
    case 11: return fy_cumsum(x, -1);
    case 12: return fy_pow(x, 3);
    case 13: return fy_clamp(x, -0.9, 0.8);
    case 14: return fy_sum(x, (-1), .keepdim = true);
    case 15: return fy_mean(x);
    case 16: return fy_max(x, (-1), .keepdim = true);
    case 17: return fy_neg(x);
    case 18: return fy_norm(x, (-1), .keepdim = true);
    default: return fy_var(x, (), .biased = true);
    }
}

static fy_tensor *two_operands(fy_tensor *x, fy_tensor *y)
{
    switch (draw(8)) {
    case 0: return fy_add(x, y, 0.5);
    case 1: return fy_sub(x, y);
    case 2: return fy_mul(x, y);
    case 3: return fy_div(x, fy_add(fy_mul(y, y), 1));
    case 4: return fy_maximum(x, y);
    case 5: return fy_minimum(x, y);
    case 6: return fy_lerp(x, y, 0.3);
    default: return fy_where(fy_gt(x, y), x, y);
    }
}

/* Of a (3, 4) tensor. */
static fy_tensor *view_or_part(fy_tensor *x)
{
    switch (draw(8)) {
    case 0: return fy_t(fy_reshape(x, (COLUMNS, ROWS)));
    case 1: return fy_select(x, 0, draw(ROWS));
    case 2: return fy_narrow(x, 1, draw(COLUMNS), 1);
    case 3: return fy_cat((fy_narrow(x, 1, 2, 2), fy_narrow(x, 1, 0, 2)), 1);
    case 4: return fy_index_select(x, 0, fy_to(fy_tensor((2, 0, 2)), fy_device(x)));
    case 5: return fy_matmul(fy_matmul(x, fy_t(x)), x);
    case 6: return fy_sort(x, 1);
    default: return fy_flatten(fy_unsqueeze(x, 1), 1, 2);
    }
}

/* A copy that is written in place, perhaps through a view. */
static fy_tensor *written(fy_tensor *x, fy_tensor *y)
{
    fy_tensor *copy = fy_clone(fy_expand(x, (ROWS, COLUMNS))), *part = fy_select(copy, 0, draw(ROWS));
    switch (draw(6)) {
    case 0: fy_add_(copy, y); break;
    case 1: fy_mul_(copy, y); break;
    case 2: fy_mul_(part, 2); break;
    case 3: fy_zero_(part); break;
    case 4: fy_copy_(part, fy_mean(y)); break;
    default: fy_neg_(fy_narrow(copy, 1, 0, 2)); break;
    }
    return draw(3) ? copy : fy_mul(copy, part);
}

/* Of a (3, 4) tensor. weight and bias are rows of what y and x broadcast to. */
static fy_tensor *normalized(fy_tensor *x, fy_tensor *y)
{
    fy_tensor *row = fy_select(fy_expand(y, (ROWS, COLUMNS)), 0, draw(ROWS)), *own = fy_select(x, 0, draw(ROWS));
    switch (draw(5)) {
    case 0: return fy_layer_norm(x, (COLUMNS));
    case 1: return fy_layer_norm(x, (COLUMNS), .weight = row);
    case 2: return fy_layer_norm(x, (COLUMNS), .bias = row);
    case 3: return fy_layer_norm(x, (COLUMNS), .weight = row, .bias = own);
    default: return fy_layer_norm(x, (ROWS, COLUMNS), .eps = 0.1);
    }
}

static fy_tensor *step(fy_tensor *x, fy_tensor *y)
{
    bool full = fy_dim(x) == 2 && fy_size(x, 0) == ROWS && fy_size(x, 1) == COLUMNS;
    fy_tensor *near = fy_to(y, fy_device(x));
    switch (draw(full ? 10 : 7)) {
    case 0:
    case 1:
    case 2: return one_operand(x);
    case 3:
    case 4: return two_operands(x, near);
    case 5: return fy_to(x, fy_is_cuda(x) ? "cpu" : "cuda");
    case 6: return written(x, near);
    case 7: return normalized(x, near);
    default: return view_or_part(x);
    }
}

/* The same graph for the same seed: a number. */
static fy_tensor *graph(uint64_t seed, fy_tensor *const *leaf)
{
    fy_tensor *all[LEAVES + MOST_STEPS];
    int n = LEAVES;
    memcpy(all, leaf, LEAVES * sizeof *all);
    random_state = seed;
    for (int steps = 3 + (int)draw(MOST_STEPS - 3); steps > 0; steps--, n++) {
        fy_tensor *x = all[draw((uint32_t)n)], *y = all[draw((uint32_t)n)];
        all[n] = step(x, y);
        if (!all[n]) return NULL;
    }
    fy_tensor *total = fy_cpu(fy_sum(all[n - 1]));
    for (int i = n - 2; i >= n - 3; i--) total = fy_add(total, fy_mul(fy_cpu(fy_mean(all[i])), 0.7));
    return total;
}

/* ---- leaves ---- */

typedef struct leaves {
    double value[LEAVES][ROWS * COLUMNS];
    fy_shape shape[LEAVES];
} leaves;

static leaves random_leaves(uint64_t seed)
{
    leaves l;
    random_state = seed * 7919 + 1;
    for (int k = 0; k < LEAVES; k++) {
        l.shape[k] = shapes[k == 0 ? 0 : draw(4)];
        for (int i = 0; i < ROWS * COLUMNS; i++) l.value[k][i] = (draw(2000001) - 1e6) * 1.3e-6;
    }
    return l;
}

static void make_leaves(const leaves *l, bool gradient, fy_tensor **leaf)
{
    for (int k = 0; k < LEAVES; k++) {
        int64_t n = 1;
        for (int d = 0; d < l->shape[k].ndim; d++) n *= l->shape[k].dims[d];
        fy_tensor *all = fy_from_blob((void *)l->value[k], (ROWS * COLUMNS), .dtype = FY_FLOAT64);
        leaf[k] = fy_clone(fy_view_at(FY_AT("fy_view", ""), fy_narrow(all, 0, 0, n), l->shape[k]));
        if (gradient) fy_requires_grad_(leaf[k]);
    }
}

static double value(uint64_t seed, const leaves *l)
{
    double v = 0;
    FY_NO_GRAD FY_SCOPE
    {
        fy_tensor *leaf[LEAVES];
        make_leaves(l, false, leaf);
        v = fy_item(graph(seed, leaf));
    }
    return v;
}

/* ---- a program ---- */

typedef struct tally {
    int right, refused, kinks, wild;
} tally;

/* Left and right differ where the graph has a kink there: relu, abs, max. */
static void check_element(uint64_t seed, leaves *l, int k, int i, double got, tally *t)
{
    const double h = 1e-6, x = l->value[k][i], here = value(seed, l);
    l->value[k][i] = x + h;
    double right = (value(seed, l) - here) / h;
    l->value[k][i] = x - h;
    double left = (here - value(seed, l)) / h;
    l->value[k][i] = x;
    double want = (left + right) / 2, unit = fmax(1, fmax(fabs(want), fabs(here)));
    if (!isfinite(want) || fabs(here) > 1e6 || unit > 1e6) t->wild++;
    else if (fabs(left - right) > 1e-3 * unit) t->kinks++;
    else if (fabs(got - want) > 1e-4 * unit)
        fail_msg("graph %llu: gradient of leaf %d, element %d: %.12g, by differences %.12g", (unsigned long long)seed,
                 k, i, got, want);
    else t->right++;
}

static void check_gradients(uint64_t seed, leaves *l, fy_tensor **leaf, tally *t)
{
    for (int k = 0; k < LEAVES; k++) {
        fy_tensor *g = fy_grad(leaf[k]);
        int i = (int)(seed % (uint64_t)fy_numel(leaf[k]));
        double got = 0; /* the graph need not use every leaf */
        if (g) got = element(g, i);
        check_element(seed, l, k, i, got, t);
    }
}

static void check_graph(uint64_t seed, tally *t)
{
    leaves l = random_leaves(seed);
    FY_SCOPE
    {
        fy_tensor *leaf[LEAVES];
        make_leaves(&l, true, leaf);
        fy_tensor *loss = graph(seed, leaf);
        if (!loss) fail_msg("graph %llu: %s", (unsigned long long)seed, fy_error());
        if (!fy_requires_grad(loss)) break;
        if (fy_backward(loss)) check_gradients(seed, &l, leaf, t);
        else if (failed_with("modified by an inplace operation")) t->refused++;
        else fail_msg("graph %llu: %s", (unsigned long long)seed, fy_error());
    }
}

TEST(random_graphs_agree_with_finite_differences)
{
    const char *more = getenv("GRAPHS");
    uint64_t n = more ? strtoull(more, NULL, 10) : getenv("LONG") ? MANY : FEW;
    tally t = {0};
    (void)state;
    fy_on_error(FY_RETURN);
    fy_free(fy_ones((1), .device = "cuda"));
    int64_t host = fy_dev_at(0)->live_bytes, card = fy_dev_at(1)->live_bytes;
    for (uint64_t seed = 1; seed <= n; seed++) {
        check_graph(seed, &t);
        assert_int_equal(fy_dev_at(0)->live_bytes, host);
        assert_int_equal(fy_dev_at(1)->live_bytes, card);
    }
    print_message("%d right, %d at a kink, %d too large, %d graphs refused\n", t.right, t.kinks, t.wild, t.refused);
    assert_true(t.right > 2 * (int)n && t.refused < (int)n / 10);
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs_agree_with_finite_differences)};
    return cmocka_run_group_tests_name("gradient_fuzz", tests, NULL, NULL);
}
