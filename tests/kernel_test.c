/* The kernels of the simulated card, each compared with a plain loop. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kernel_table.h"
#include "op.h"
#include "run_work.h"

static fy_operand operand(void *data, fy_dtype dtype, int ndim, const int64_t *shape)
{
    fy_operand o = {data, dtype, {.ndim = ndim, .numel = 1}};
    for (int d = ndim - 1; d >= 0; d--) {
        o.layout.shape[d] = shape[d];
        o.layout.strides[d] = o.layout.numel;
        o.layout.numel *= shape[d];
    }
    return o;
}
#define DIMS(...) \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (const int64_t[]) { __VA_ARGS__ }

static void swap_dims(fy_operand *o)
{
    int64_t shape = o->layout.shape[0], stride = o->layout.strides[0];
    o->layout.shape[0] = o->layout.shape[1], o->layout.strides[0] = o->layout.strides[1];
    o->layout.shape[1] = shape, o->layout.strides[1] = stride;
}

static void run(fy_run_work *w)
{
    const fy_kernel *k = fy_sim_kernel(w->op);
    w->dtype = w->nin ? w->in[0].dtype : w->out.dtype;
    w->reduced = fy_ops[w->op].shape == FY_REDUCED ? w->in[0].layout.ndim - w->out.layout.ndim : 0;
    assert_non_null(k);
    k->launch(w);
    assert_null(fy_sim_kernel_fault());
}

/* ---- element by element ---- */

static void add_and_mul_follow_any_layout(void **state)
{
    float a[6] = {1, 2, 3, 4, 5, 6}, row[3] = {10, 20, 30}, out[6];
    (void)state;
    fy_run_work w = {.op = FY_OP_add,
                     .nin = 2,
                     .in = {operand(a, FY_FLOAT32, DIMS(3, 2)), operand(row, FY_FLOAT32, DIMS(2, 3))},
                     .out = operand(out, FY_FLOAT32, DIMS(2, 3))};
    w.real[FY_ADD_alpha] = 1;
    swap_dims(&w.in[0]);           /* a is read as its transpose, 2 x 3 */
    w.in[1].layout.strides[0] = 0; /* row is broadcast over both rows */
    run(&w);
    const float sums[6] = {11, 23, 35, 12, 24, 36};
    assert_memory_equal(out, sums, sizeof sums);
    assert_string_equal(w.kernel, "add_f32");
    assert_int_equal(w.grid[0], 1);
    assert_int_equal(w.block[0], 256);
    w.op = FY_OP_mul;
    run(&w);
    const float products[6] = {10, 60, 150, 20, 80, 180};
    assert_memory_equal(out, products, sizeof products);
}

static void a_number_stands_for_an_operand_on_either_side(void **state)
{
    float a[3] = {1, 2, 3}, out[3];
    int64_t b[2] = {5, -7}, long_out[2];
    (void)state;
    fy_run_work w = {.op = FY_OP_mul,
                     .nin = 2,
                     .real = {0, 2.5},
                     .in = {operand(a, FY_FLOAT32, DIMS(3)), {.dtype = FY_FLOAT32}},
                     .out = operand(out, FY_FLOAT32, DIMS(3))};
    run(&w);
    assert_true(out[0] == 2.5f && out[1] == 5 && out[2] == 7.5f);
    fy_run_work v = {.op = FY_OP_add,
                     .nin = 2,
                     .integer = {100, [FY_ADD_alpha] = 1},
                     .in = {{.dtype = FY_INT64}, operand(b, FY_INT64, DIMS(2))},
                     .out = operand(long_out, FY_INT64, DIMS(2))};
    run(&v);
    assert_true(long_out[0] == 105 && long_out[1] == 93);
}

static void integers_wrap_as_on_a_card(void **state)
{
    int64_t a[1] = {INT64_MAX}, b[1] = {1}, out[1];
    (void)state;
    fy_run_work w = {.op = FY_OP_add,
                     .nin = 2,
                     .integer = {[FY_ADD_alpha] = 1},
                     .in = {operand(a, FY_INT64, DIMS(1)), operand(b, FY_INT64, DIMS(1))},
                     .out = operand(out, FY_INT64, DIMS(1))};
    run(&w);
    assert_true(out[0] == INT64_MIN);
}

static void relu_keeps_what_is_positive_and_nan(void **state)
{
    float a[4] = {-1, 0, 2, NAN}, out[4];
    (void)state;
    fy_run_work w = {
        .op = FY_OP_relu, .nin = 1, .in = {operand(a, FY_FLOAT32, DIMS(4))}, .out = operand(out, FY_FLOAT32, DIMS(4))};
    run(&w);
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 2 && isnan(out[3]));
}

static void cast_drops_fractions_and_keeps_to_the_range(void **state)
{
    float a[7] = {1.9f, -1.9f, 1e30f, -1e30f, INFINITY, NAN, 0}, back[3];
    int64_t out[7], n[3] = {7, -8, 1 << 24};
    (void)state;
    fy_run_work w = {
        .op = FY_OP_cast, .nin = 1, .in = {operand(a, FY_FLOAT32, DIMS(7))}, .out = operand(out, FY_INT64, DIMS(7))};
    run(&w);
    const int64_t expected[7] = {1, -1, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, 0};
    assert_memory_equal(out, expected, sizeof expected);
    assert_string_equal(w.kernel, "cast_f32_i64");
    fy_run_work v = {
        .op = FY_OP_cast, .nin = 1, .in = {operand(n, FY_INT64, DIMS(3))}, .out = operand(back, FY_FLOAT32, DIMS(3))};
    run(&v);
    assert_true(back[0] == 7 && back[1] == -8 && back[2] == 16777216);
}

static void clone_turns_columns_into_rows(void **state)
{
    int64_t a[6] = {1, 2, 3, 4, 5, 6}, out[6];
    (void)state;
    fy_run_work w = {.op = FY_OP_clone,
                     .nin = 1,
                     .in = {operand(a, FY_INT64, DIMS(2, 3))},
                     .out = operand(out, FY_INT64, DIMS(3, 2))};
    swap_dims(&w.in[0]);
    run(&w);
    const int64_t expected[6] = {1, 4, 2, 5, 3, 6};
    assert_memory_equal(out, expected, sizeof expected);
}

static void fill_and_arange_reach_the_last_element_and_not_beyond(void **state)
{
    (void)state;
    for (int64_t n = 0; n <= 1030; n += n < 255 ? 255 : n < 258 ? 1 : 386) {
        float out[1040];
        int64_t whole[1040];
        for (int i = 0; i < 1040; i++) out[i] = -1, whole[i] = -1;
        fy_run_work f = {.op = FY_OP_fill, .real = {7.5}, .out = operand(out, FY_FLOAT32, DIMS(n))};
        run(&f);
        fy_run_work r = {.op = FY_OP_arange, .integer = {3, -2}, .out = operand(whole, FY_INT64, DIMS(n))};
        run(&r);
        for (int64_t i = 0; i < n; i++) assert_true(out[i] == 7.5f && whole[i] == 3 - 2 * i);
        assert_true(out[n] == -1 && whole[n] == -1);
    }
    float tenths[10];
    fy_run_work r = {.op = FY_OP_arange, .real = {0, 0.1}, .out = operand(tenths, FY_FLOAT32, DIMS(10))};
    run(&r);
    for (int i = 0; i < 10; i++) assert_true(tenths[i] == (float)(0 + i * 0.1));
}

/* ---- random ---- */

static void randn_is_philox_and_box_muller(void **state)
{
    /* the published first words for counter 0 and key 0: 6627e8d5 e169c58d bc57ac4c 9b00dbd8 */
    const uint32_t word[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    static float out[1024];
    (void)state;
    /* one block: thread 0 makes the first of every 256 */
    fy_run_work w = {
        .op = FY_OP_randn, .integer = {[FY_RANDOM_blocks] = 1}, .out = operand(out, FY_FLOAT32, DIMS(1024))};
    run(&w);
    for (int i = 0; i < 4; i += 2) {
        double radius = sqrt(-2 * log((word[i] + 0.5) / 4294967296)), angle = 2 * acos(-1) * word[i + 1] / 4294967296;
        assert_true(fabs(out[256 * i] - radius * sin(angle)) < 1e-5);
        assert_true(fabs(out[256 * i + 256] - radius * cos(angle)) < 1e-5);
    }
}

static void randn_hangs_on_seed_and_counter_alone(void **state)
{
    enum { N = 2503, EACH_COUNTER = 1024 };
    static float once[N], again[N], later[N], other[N];
    (void)state;
    fy_run_work w = {.op = FY_OP_randn,
                     .integer = {[FY_RANDOM_seed] = 42, [FY_RANDOM_blocks] = 1},
                     .out = operand(once, FY_FLOAT32, DIMS(N))};
    run(&w);
    w.out.data = again;
    run(&w);
    assert_memory_equal(once, again, sizeof once);
    w.out.data = later, w.integer[FY_RANDOM_counter] = 1;
    run(&w);
    assert_memory_equal(later, once + EACH_COUNTER, (N - EACH_COUNTER) * sizeof(float));
    w.out.data = other, w.integer[FY_RANDOM_seed] = 43;
    run(&w);
    assert_memory_not_equal(other, later, sizeof other);
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) sum += once[i], squares += (double)once[i] * once[i];
    assert_true(fabs(sum / N) < 0.15 && fabs(squares / N - 1) < 0.2);
}

/* ---- kernels with barriers ---- */

static void sum_is_right_for_odd_sizes_and_layouts(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 255, 256, 257, 1000, 3333};
    int64_t a[3333];
    float b[3333];
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t n = sizes[s], expected = 0, out = -1;
        float real = -1;
        for (int64_t i = 0; i < n; i++) expected += a[i] = i * 7 % 101 - 50, b[i] = (float)a[i];
        fy_run_work w = {
            .op = FY_OP_sum, .nin = 1, .in = {operand(a, FY_INT64, DIMS(n))}, .out = {&out, FY_INT64, {.numel = 1}}};
        run(&w);
        assert_true(out == expected);
        fy_run_work v = {.op = FY_OP_sum,
                         .nin = 1,
                         .in = {operand(b, FY_FLOAT32, DIMS(n))},
                         .out = {&real, FY_FLOAT32, {.numel = 1}}};
        run(&v);
        assert_true(real == (float)expected);
    }
    int64_t grid[4] = {1, 2, 3, 4}, out = 0;
    fy_run_work w = {
        .op = FY_OP_sum, .nin = 1, .in = {operand(grid, FY_INT64, DIMS(2, 2))}, .out = {&out, FY_INT64, {.numel = 1}}};
    w.in[0].layout.strides[0] = 0; /* the first row twice */
    run(&w);
    assert_true(out == 6);
}

static void multiply(int64_t n, int64_t k, int64_t m, bool transposed)
{
    static float a[40 * 40], b[40 * 40], out[40 * 40];
    static double full_a[40 * 40], full_b[40 * 40], whole[40 * 40];
    for (int64_t i = 0; i < 40 * 40; i++) {
        a[i] = (float)(full_a[i] = (double)(i * 5 % 13 - 6));
        b[i] = (float)(full_b[i] = (double)(i * 3 % 11 - 5));
        out[i] = -1, whole[i] = -1;
    }
    fy_run_work w = {.op = FY_OP_matmul,
                     .nin = 2,
                     .in = {operand(a, FY_FLOAT32, DIMS(n, k)), operand(b, FY_FLOAT32, DIMS(k, m))},
                     .out = operand(out, FY_FLOAT32, DIMS(n, m))};
    if (transposed) {
        w.in[0] = operand(a, FY_FLOAT32, DIMS(k, n)), swap_dims(&w.in[0]);
        w.in[1] = operand(b, FY_FLOAT32, DIMS(m, k)), swap_dims(&w.in[1]);
    }
    fy_run_work v = w;
    v.in[0].data = full_a, v.in[1].data = full_b, v.out.data = whole;
    v.in[0].dtype = v.in[1].dtype = v.out.dtype = FY_FLOAT64;
    run(&w);
    run(&v);
    const fy_layout *la = &w.in[0].layout, *lb = &w.in[1].layout;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double dot = 0;
            for (int64_t x = 0; x < k; x++)
                dot +=
                    full_a[i * la->strides[0] + x * la->strides[1]] * full_b[x * lb->strides[0] + j * lb->strides[1]];
            assert_true(out[i * m + j] == (float)dot && whole[i * m + j] == dot);
        }
    assert_true(out[n * m] == -1 && whole[n * m] == -1);
}

static void matmul_is_right_for_odd_sizes_and_layouts(void **state)
{
    static const int64_t sizes[][3] = {{1, 1, 1},  {2, 3, 4},   {16, 16, 16}, {17, 16, 15},
                                       {1, 33, 1}, {35, 7, 20}, {3, 0, 2},    {0, 4, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int t = 0; t < 2; t++) multiply(sizes[i][0], sizes[i][1], sizes[i][2], t);
}

static void *in_a_thread(void *state)
{
    sum_is_right_for_odd_sizes_and_layouts(state);
    return NULL;
}

static void threads_of_the_host_run_kernels_of_their_own(void **state)
{
    pthread_t t[2];
    (void)state;
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, in_a_thread, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

static void every_op_has_a_kernel(void **state)
{
    (void)state;
    for (int op = 0; op < FY_OP_COUNT; op++) {
        assert_non_null(fy_sim_kernel(op));
        assert_int_equal(fy_sim_kernel(op)->op, op);
        assert_non_null(fy_sim_kernel(op)->launch);
    }
    assert_null(fy_sim_kernel(FY_OP_COUNT));
    assert_null(fy_sim_kernel(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_and_mul_follow_any_layout),
        cmocka_unit_test(a_number_stands_for_an_operand_on_either_side),
        cmocka_unit_test(integers_wrap_as_on_a_card),
        cmocka_unit_test(relu_keeps_what_is_positive_and_nan),
        cmocka_unit_test(cast_drops_fractions_and_keeps_to_the_range),
        cmocka_unit_test(clone_turns_columns_into_rows),
        cmocka_unit_test(fill_and_arange_reach_the_last_element_and_not_beyond),
        cmocka_unit_test(randn_is_philox_and_box_muller),
        cmocka_unit_test(randn_hangs_on_seed_and_counter_alone),
        cmocka_unit_test(sum_is_right_for_odd_sizes_and_layouts),
        cmocka_unit_test(matmul_is_right_for_odd_sizes_and_layouts),
        cmocka_unit_test(threads_of_the_host_run_kernels_of_their_own),
        cmocka_unit_test(every_op_has_a_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
