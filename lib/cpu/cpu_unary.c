/* cpu_unary.c: unary elementwise ops on the host. */
#include "cpu.h"
#include "cpu_float.h"
#include "run_work.h"

#define MAP(op, ...) \
    void fy_host_##op(fy_run_work *w) { fy_map_any(w, &(fy_loops){__VA_ARGS__}); }
#define REALS(op) .f32 = op##_f32, .f64 = op##_f64
#define INTEGERS(op) .i64 = op##_i64, .i32 = op##_i32, .u8 = op##_u8

/* ---- for floats and integers ---------------------------------------------------------------------- */

FY_LOOP(neg_f32, float, float, -x)
FY_LOOP(neg_f64, double, double, -x)
FY_LOOP(neg_i64, uint64_t, uint64_t, 0 - x)
FY_LOOP(neg_i32, uint32_t, uint32_t, 0 - x)
FY_LOOP(neg_u8, uint8_t, uint8_t, 0 - x)
MAP(neg, REALS(neg), INTEGERS(neg))

FY_LOOP(same_i64, int64_t, int64_t, x)
FY_LOOP(same_i32, int32_t, int32_t, x)
FY_LOOP(same_u8, uint8_t, uint8_t, x)

FY_LOOP(abs_f32, float, float, fabsf(x))
FY_LOOP(abs_f64, double, double, fabs(x))
FY_LOOP(abs_i64, int64_t, int64_t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
FY_LOOP(abs_i32, int32_t, int32_t, x < 0 ? 0 - (uint32_t)x : (uint32_t)x)
MAP(abs, REALS(abs), .i64 = abs_i64, .i32 = abs_i32, .u8 = same_u8)

/* Of NaN: 0. */
FY_LOOP(sign_f32, float, float, (x > 0) - (x < 0))
FY_LOOP(sign_f64, double, double, (x > 0) - (x < 0))
FY_LOOP(sign_i64, int64_t, int64_t, (x > 0) - (x < 0))
FY_LOOP(sign_i32, int32_t, int32_t, (x > 0) - (x < 0))
FY_LOOP(sign_u8, uint8_t, uint8_t, x > 0)
MAP(sign, REALS(sign), INTEGERS(sign), .boolean = sign_u8)

/* Of NaN: NaN. */
FY_LOOP(relu_f32, float, float, x < 0 ? 0 : x)
FY_LOOP(relu_f64, double, double, x < 0 ? 0 : x)
FY_LOOP(relu_i64, int64_t, int64_t, x < 0 ? 0 : x)
FY_LOOP(relu_i32, int32_t, int32_t, x < 0 ? 0 : x)
MAP(relu, REALS(relu), .i64 = relu_i64, .i32 = relu_i32, .u8 = same_u8)

#define ROUNDING(op, of_float, of_double) \
    FY_LOOP(op##_f32, float, float, of_float(x)) \
    FY_LOOP(op##_f64, double, double, of_double(x)) \
    MAP(op, REALS(op), INTEGERS(same))
ROUNDING(floor, floorf, floor)
ROUNDING(ceil, ceilf, ceil)
ROUNDING(round, rintf, rint) /* halves to even */

/* ---- for floats only -------------------------------------------------------------------------------- */

#define REAL_FUNCTION(op, of_float, of_double) \
    FY_LOOP(op##_f32, float, float, of_float(x)) \
    FY_LOOP(op##_f64, double, double, of_double(x)) \
    MAP(op, REALS(op))

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

REAL_FUNCTION(exp, fy_exp_float, exp)
REAL_FUNCTION(log, fy_log_float, log)
REAL_FUNCTION(sqrt, sqrtf, sqrt)
REAL_FUNCTION(tanh, fy_tanh_float, tanh)
REAL_FUNCTION(sigmoid, fy_sigmoid_float, sigmoid)

/* Elements beyond FY_SINE_LIMIT, which are rare, are computed again by libm. A piece is computed into a buffer first,
 * since `out` may be `a`. */
enum { PIECE = 256 };
#define SINE(name, quarters, of_float) \
    FY_CLONES static bool name##_near(int64_t n, float *out, const float *a) \
    { \
        int far = 0; \
        FY_IVDEP for (int64_t i = 0; i < n; i++) \
        { \
            float x = a[i]; \
            far |= !(fabsf(x) < FY_SINE_LIMIT); \
            out[i] = fy_sine_float(x, quarters); \
        } \
        return !far; \
    } \
    static void name(int64_t n, void *to, const void *const *in, const fy_run_work *w) \
    { \
        float near[PIECE], *out = to; \
        const float *a = in[0]; \
        (void)w; \
        for (int64_t at = 0, count; at < n; at += count) { \
            count = n - at < PIECE ? n - at : PIECE; \
            bool all = name##_near(count, near, a + at); \
            for (int64_t i = 0; i < count && !all; i++) \
                if (!(fabsf(a[at + i]) < FY_SINE_LIMIT)) near[i] = of_float(a[at + i]); \
            memcpy(out + at, near, (size_t)count * sizeof *near); \
        } \
    }
SINE(sin_f32, 0, sinf)
SINE(cos_f32, 1, cosf)
FY_LOOP(sin_f64, double, double, sin(x))
FY_LOOP(cos_f64, double, double, cos(x))
MAP(sin, REALS(sin))
MAP(cos, REALS(cos))
