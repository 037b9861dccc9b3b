/* cpu_elementwise.c: add, mul, relu, cast, clone and sum on the host. */
#include "cpu.h"

/* A function that walks one row: `expr` says the result from x (and y), elements of type From. The first
 * loop is for operands without gaps, which the compiler can turn into vector instructions. */
#define UNARY_ROW(name, From, To, expr) \
    static void name(int64_t n, char *const *p, const int64_t *step, void *context) \
    { \
        (void)context; \
        if (step[0] == sizeof(To) && step[1] == sizeof(From)) { \
            To *restrict out = (To *)(void *)p[0]; \
            const From *restrict a = (const From *)(void *)p[1]; \
            for (int64_t i = 0; i < n; i++) { From x = a[i]; out[i] = expr; } \
            return; \
        } \
        for (int64_t i = 0; i < n; i++) { \
            From x = *(const From *)(void *)(p[1] + i * step[1]); \
            *(To *)(void *)(p[0] + i * step[0]) = expr; \
        } \
    }

#define BINARY_ROW(name, T, expr) \
    static void name(int64_t n, char *const *p, const int64_t *step, void *context) \
    { \
        (void)context; \
        if (step[0] == sizeof(T) && step[1] == sizeof(T) && step[2] == sizeof(T)) { \
            T *restrict out = (T *)(void *)p[0]; \
            const T *restrict a = (const T *)(void *)p[1], *restrict b = (const T *)(void *)p[2]; \
            for (int64_t i = 0; i < n; i++) { T x = a[i], y = b[i]; out[i] = expr; } \
            return; \
        } \
        for (int64_t i = 0; i < n; i++) { \
            T x = *(const T *)(void *)(p[1] + i * step[1]), y = *(const T *)(void *)(p[2] + i * step[2]); \
            *(T *)(void *)(p[0] + i * step[0]) = expr; \
        } \
    }

/* A float that is no int64 becomes the nearest one, NaN the smallest, as on the card. */
static int64_t truncated(float x)
{
    if (x >= 9223372036854775808.0f) return INT64_MAX;
    return x >= -9223372036854775808.0f ? (int64_t)x : INT64_MIN;
}

UNARY_ROW(relu_f32, float, float, x < 0 ? 0 : x) /* NaN stays NaN */
UNARY_ROW(relu_i64, int64_t, int64_t, x < 0 ? 0 : x)
UNARY_ROW(same_f32, float, float, x)
UNARY_ROW(same_i64, int64_t, int64_t, x)
UNARY_ROW(f32_to_i64, float, int64_t, truncated(x))
UNARY_ROW(i64_to_f32, int64_t, float, (float)x)
BINARY_ROW(add_f32, float, x + y)
BINARY_ROW(mul_f32, float, x * y)
BINARY_ROW(add_i64, int64_t, (int64_t)((uint64_t)x + (uint64_t)y)) /* wraps */
BINARY_ROW(mul_i64, int64_t, (int64_t)((uint64_t)x * (uint64_t)y))

static void unary(fy_run_work *w, fy_row row)
{
    const fy_operand *x[] = {&w->out, &w->in[0]};
    fy_walk(2, x, NULL, row, NULL);
}

static void binary(fy_run_work *w, fy_row row)
{
    const fy_operand *x[] = {&w->out, &w->in[0], &w->in[1]};
    float real[2] = {(float)w->real[0], (float)w->real[1]};
    bool ints = w->out.dtype == FY_INT64;
    const void *numbers[] = {NULL, ints ? (void *)&w->integer[0] : &real[0], ints ? (void *)&w->integer[1] : &real[1]};
    fy_walk(3, x, numbers, row, NULL);
}

void fy_host_relu_f32(fy_run_work *w) { unary(w, relu_f32); }
void fy_host_relu_i64(fy_run_work *w) { unary(w, relu_i64); }
void fy_host_clone_f32(fy_run_work *w) { unary(w, same_f32); }
void fy_host_clone_i64(fy_run_work *w) { unary(w, same_i64); }
void fy_host_cast_f32(fy_run_work *w) { unary(w, w->out.dtype == FY_INT64 ? f32_to_i64 : same_f32); }
void fy_host_cast_i64(fy_run_work *w) { unary(w, w->out.dtype == FY_INT64 ? same_i64 : i64_to_f32); }
void fy_host_add_f32(fy_run_work *w) { binary(w, add_f32); }
void fy_host_add_i64(fy_run_work *w) { binary(w, add_i64); }
void fy_host_mul_f32(fy_run_work *w) { binary(w, mul_f32); }
void fy_host_mul_i64(fy_run_work *w) { binary(w, mul_i64); }

/* Summed in double, rounded once: close to PyTorch's cascade, and in no need of one. */
static void sum_row_f32(int64_t n, char *const *p, const int64_t *step, void *total)
{
    double part = 0;
    for (int64_t i = 0; i < n; i++) part += *(const float *)(void *)(p[0] + i * step[0]);
    *(double *)total += part;
}

static void sum_row_i64(int64_t n, char *const *p, const int64_t *step, void *total)
{
    uint64_t part = 0;
    for (int64_t i = 0; i < n; i++) part += *(const uint64_t *)(void *)(p[0] + i * step[0]);
    *(uint64_t *)total += part;
}

void fy_host_sum_f32(fy_run_work *w)
{
    const fy_operand *x[] = {&w->in[0]};
    double total = 0;
    fy_walk(1, x, NULL, sum_row_f32, &total);
    *(float *)w->out.data = (float)total;
}

void fy_host_sum_i64(fy_run_work *w)
{
    const fy_operand *x[] = {&w->in[0]};
    uint64_t total = 0;
    fy_walk(1, x, NULL, sum_row_i64, &total);
    *(uint64_t *)w->out.data = total;
}
