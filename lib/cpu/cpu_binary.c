/* cpu_binary.c: binary elementwise ops on the host. Integers are computed as unsigned, so that they wrap around. */
#include <math.h>

#include "cpu.h"
#include "half.h"
#include "op.h"
#include "run_work.h"

#define MAP(op, ...) \
    void fy_host_##op(fy_run_work *w) { fy_map_any(w, &(fy_loops){__VA_ARGS__}); }
#define ALL_OF(op) .f32 = op##_f32, .f64 = op##_f64, .i64 = op##_i64, .i32 = op##_i32, .u8 = op##_u8

/* ---- sums: x + alpha * y, rounded once ----------------------------------------------------------- */

#define SUM(name, T, R, alpha_is, ...) \
    FY_CLONES static void name(int64_t n, void *to, const void *const *in, const fy_run_work *w) \
    { \
        T *out = to; \
        const T *a = in[0], *b = in[1]; \
        const R alpha = (R)(alpha_is); \
        FY_IVDEP for (int64_t i = 0; i < n; i++) \
        { \
            R x = (R)a[i], y = (R)b[i]; \
            out[i] = (T)(__VA_ARGS__); \
        } \
    }

/* alpha as an element of the op's type, where that is a 16-bit float. */
static float small_alpha(const fy_run_work *w)
{
    switch (w->dtype) {
    case FY_FLOAT16: return fy_half_float(fy_half_of(w->real[FY_ADD_alpha]));
    case FY_BFLOAT16: return fy_bfloat_float(fy_bfloat_of(w->real[FY_ADD_alpha]));
    default: return (float)w->real[FY_ADD_alpha];
    }
}

FY_LOOP2(plus_f32, float, float, x + y)
FY_LOOP2(plus_f64, double, double, x + y)
FY_LOOP2(minus_f32, float, float, x - y)
FY_LOOP2(minus_f64, double, double, x - y)
SUM(add_f32, float, float, small_alpha(w), fmaf(alpha, y, x))
SUM(sub_f32, float, float, 0 - small_alpha(w), fmaf(alpha, y, x)) /* 0 stays 0 */
SUM(add_f64, double, double, w->real[FY_ADD_alpha], fma(alpha, y, x))
SUM(sub_f64, double, double, 0 - w->real[FY_SUB_alpha], fma(alpha, y, x))
SUM(add_i64, int64_t, uint64_t, w->integer[FY_ADD_alpha], x + alpha * y)
SUM(sub_i64, int64_t, uint64_t, w->integer[FY_SUB_alpha], x - alpha * y)
SUM(add_i32, int32_t, uint32_t, w->integer[FY_ADD_alpha], x + alpha * y)
SUM(sub_i32, int32_t, uint32_t, w->integer[FY_SUB_alpha], x - alpha * y)
SUM(add_u8, uint8_t, uint8_t, w->integer[FY_ADD_alpha], x + alpha * y)
SUM(sub_u8, uint8_t, uint8_t, w->integer[FY_SUB_alpha], x - alpha * y)
SUM(add_bool, uint8_t, bool, w->integer[FY_ADD_alpha] != 0 || w->real[FY_ADD_alpha] != 0, x | (alpha & y))

void fy_host_add(fy_run_work *w)
{
    bool plain = w->real[FY_ADD_alpha] == 1;
    fy_map_any(w, &(fy_loops){.f32 = plain ? plus_f32 : add_f32,
                              .f64 = plain ? plus_f64 : add_f64,
                              .i64 = add_i64,
                              .i32 = add_i32,
                              .u8 = add_u8,
                              .boolean = add_bool});
}

void fy_host_sub(fy_run_work *w)
{
    bool plain = w->real[FY_SUB_alpha] == 1;
    fy_map_any(w, &(fy_loops){.f32 = plain ? minus_f32 : sub_f32,
                              .f64 = plain ? minus_f64 : sub_f64,
                              .i64 = sub_i64,
                              .i32 = sub_i32,
                              .u8 = sub_u8});
}

/* ---- products and quotients ---------------------------------------------------------------------- */

FY_LOOP2(mul_f32, float, float, x *y)
FY_LOOP2(mul_f64, double, double, x *y)
FY_LOOP2(mul_i64, uint64_t, uint64_t, x *y)
FY_LOOP2(mul_i32, uint32_t, uint32_t, x *y)
FY_LOOP2(mul_u8, uint8_t, uint8_t, x *y)
FY_LOOP2(mul_bool, uint8_t, bool, (x != 0) & (y != 0))
MAP(mul, ALL_OF(mul), .boolean = mul_bool)

FY_LOOP2(div_f32, float, float, x / y)
FY_LOOP2(div_f64, double, double, x / y)
MAP(div, .f32 = div_f32, .f64 = div_f64)

/* Rounded toward minus infinity. fmod is exact, so (x - rest) / y is an integer except for the rounding of the
 * division. */
#define FLOOR_QUOTIENT(T, f) \
    static T floor_quotient##f(T x, T y) \
    { \
        if (y == 0) return x / y; \
        T rest = fmod##f(x, y), q = (x - rest) / y; \
        if (rest != 0 && (rest < 0) != (y < 0)) q -= 1; \
        if (q == 0) return copysign##f(0, x / y); \
        T whole = floor##f(q); \
        return q - whole > (T)0.5 ? whole + 1 : whole; \
    } \
    static T modulus##f(T x, T y) \
    { \
        T rest = fmod##f(x, y); \
        return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest; \
    }
FLOOR_QUOTIENT(float, f)
FLOOR_QUOTIENT(double, )

/* A zero divisor was rejected before (check_divisor.c). INT_MIN / -1 wraps around. */
#define INTEGER_QUOTIENT(T, U, type) \
    static T floor_quotient_##type(T x, T y) \
    { \
        if (y == 0) return (T)-1; \
        if (y == (T)-1) return (T)(0 - (U)x); \
        return (T)(x / y - (x % y != 0 && (x < 0) != (y < 0))); \
    } \
    static T modulus_##type(T x, T y) \
    { \
        if (y == 0) return (T)-1; \
        if (y == (T)-1) return 0; \
        T rest = x % y; \
        return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest; \
    }
INTEGER_QUOTIENT(int64_t, uint64_t, i64)
INTEGER_QUOTIENT(int32_t, uint32_t, i32)

/* A float's remainder computed in double, without branches. With a quotient below 2^28 it is exact, except that the
 * quotient may have been rounded up to the next integer, which is corrected. */
#define NEAR 268435456.0
static inline double rest_of(double x, double y, double q)
{
    double whole = trunc(q), rest = x - whole * y;
    return (x < 0) != (rest < 0) && rest != 0 ? rest + copysign(y, x) : rest;
}

static inline float modulus_near(float x, float y)
{
    double rest = rest_of(x, y, (double)x / (double)y);
    double result = rest != 0 && (rest < 0) != (y < 0) ? (double)(float)rest + (double)y : rest;
    return rest == 0 ? copysignf(0, x) : (float)result;
}

static inline float floor_quotient_near(float x, float y)
{
    float rest = (float)rest_of(x, y, (double)x / (double)y), q = (x - rest) / y;
    q = rest != 0 && (rest < 0) != (y < 0) ? q - 1 : q;
    float whole = floorf(q), result = q - whole > 0.5f ? whole + 1 : whole;
    return q == 0 ? copysignf(0, x / y) : result;
}

/* A piece with large quotients, zero divisors, infinities or NaN is computed again by fmod. The results go to a buffer
 * first, since `out` may be an input. */
enum { PIECE = 256 };
#define NEAR_LOOP(op, of) \
    FY_CLONES static bool op##_near(int64_t n, float *out, const float *a, const float *b) \
    { \
        int far = 0; \
        FY_IVDEP for (int64_t i = 0; i < n; i++) \
        { \
            float x = a[i], y = b[i]; \
            far |= !(fabs((double)x / (double)y) < NEAR) | !(fabsf(y) < HUGE_VALF); \
            out[i] = of##_near(x, y); \
        } \
        return !far; \
    } \
    static void op##_f32(int64_t n, void *to, const void *const *in, const fy_run_work *w) \
    { \
        float near[PIECE], *out = to; \
        const float *a = in[0], *b = in[1]; \
        (void)w; \
        for (int64_t at = 0, count; at < n; at += count) { \
            count = n - at < PIECE ? n - at : PIECE; \
            if (!op##_near(count, near, a + at, b + at)) \
                for (int64_t i = 0; i < count; i++) near[i] = of##f(a[at + i], b[at + i]); \
            memcpy(out + at, near, (size_t)count * sizeof *near); \
        } \
    }
NEAR_LOOP(floor_divide, floor_quotient)
NEAR_LOOP(remainder, modulus)

#define LOOPS_OF(op, of) \
    FY_LOOP2(op##_f64, double, double, of(x, y)) \
    FY_LOOP2(op##_i64, int64_t, int64_t, of##_i64(x, y)) \
    FY_LOOP2(op##_i32, int32_t, int32_t, of##_i32(x, y))
LOOPS_OF(floor_divide, floor_quotient)
LOOPS_OF(remainder, modulus)
FY_LOOP2(floor_divide_u8, uint8_t, uint8_t, y == 0 ? 255 : x / y)
FY_LOOP2(remainder_u8, uint8_t, uint8_t, y == 0 ? 255 : x % y)
MAP(floor_divide, ALL_OF(floor_divide))
MAP(remainder, ALL_OF(remainder))

/* ---- powers -------------------------------------------------------------------------------------- */

/* An integer to a negative power is 1 / x^n truncated: 0, except for 1 and -1. */
#define INTEGER_POWER(T, U, type) \
    static T power_##type(T x, T y) \
    { \
        U r = 1, base = (U)x; \
        if (y < 0) return x == 1 ? 1 : x == (T)-1 ? (y % 2 ? (T)-1 : 1) : 0; \
        for (U n = (U)y; n; n >>= 1, base = (U)(base * base)) \
            if (n & 1) r = (U)(r * base); \
        return (T)r; \
    }
INTEGER_POWER(int64_t, uint64_t, i64)
INTEGER_POWER(int32_t, uint32_t, i32)

static uint8_t power_u8(uint8_t x, uint8_t n)
{
    uint8_t r = 1;
    for (; n; n >>= 1, x = (uint8_t)(x * x))
        if (n & 1) r = (uint8_t)(r * x);
    return r;
}

FY_LOOP2(pow_f32, float, float, powf(x, y))
FY_LOOP2(pow_f64, double, double, pow(x, y))
FY_LOOP2(pow_i64, int64_t, int64_t, power_i64(x, y))
FY_LOOP2(pow_i32, int32_t, int32_t, power_i32(x, y))
FY_LOOP2(pow_u8, uint8_t, uint8_t, power_u8(x, y))
MAP(pow, ALL_OF(pow))

/* ---- the larger and the smaller: NaN if either is ------------------------------------------------ */

#define LARGER(op, T, type) FY_LOOP2(op##_##type, T, T, op##_OF(x, y))
#define maximum_OF(x, y) ((x) != (x) || (x) >= (y) ? (x) : (y))
#define minimum_OF(x, y) ((x) != (x) || (x) <= (y) ? (x) : (y))
#define LARGERS(op) \
    LARGER(op, float, f32) \
    LARGER(op, double, f64) LARGER(op, int64_t, i64) LARGER(op, int32_t, i32) LARGER(op, uint8_t, u8)
LARGERS(maximum)
LARGERS(minimum)
FY_LOOP2(maximum_bool, uint8_t, bool, (x | y) != 0)
MAP(maximum, ALL_OF(maximum), .boolean = maximum_bool)
MAP(minimum, ALL_OF(minimum), .boolean = mul_bool)
MAP(clamp_min, ALL_OF(maximum))
MAP(clamp_max, ALL_OF(minimum))
