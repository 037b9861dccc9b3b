/* cpu_compare.c: the elementwise ops with a bool result, on the host. */
#include <math.h>

#include "cpu.h"
#include "half.h"
#include "op.h"
#include "run_work.h"

#define QUESTION(op, ...) \
    FY_LOOP2(op##_f32, float, bool, __VA_ARGS__) \
    FY_LOOP2(op##_f64, double, bool, __VA_ARGS__) \
    FY_LOOP2(op##_i64, int64_t, bool, __VA_ARGS__) \
    FY_LOOP2(op##_i32, int32_t, bool, __VA_ARGS__) \
    FY_LOOP2(op##_u8, uint8_t, bool, __VA_ARGS__) \
    FY_LOOP2_AS(op##_bool, uint8_t, bool, bool, __VA_ARGS__) \
    void fy_host_##op(fy_run_work *w) \
    { \
        fy_map_any(w, &(fy_loops){op##_f32, op##_f64, op##_i64, op##_i32, op##_u8, op##_bool}); \
    }

QUESTION(eq, x == y)
QUESTION(ne, x != y)
QUESTION(lt, x < y)
QUESTION(le, x <= y)
QUESTION(gt, x > y)
QUESTION(ge, x >= y)
QUESTION(logical_and, (x != 0) & (y != 0))
QUESTION(logical_or, (x != 0) | (y != 0))

/* ---- isclose: floats are rounded to their type at each step, as if each were an op; integers are compared as floats
 * ---- */

#define AS_HALF(x) fy_half_float(fy_half_of_float(x))
#define AS_BFLOAT(x) fy_bfloat_float(fy_bfloat_of_float(x))
#define SAME(x) (x)
#define TRUTH(x) ((x) != 0)
#define CLOSE(name, E, READ, W, SIZE, ROUND) \
    FY_CLONES static void name(int64_t n, void *to, const void *const *in, const fy_run_work *w) \
    { \
        bool *out = to; \
        const E *a = in[0], *b = in[1]; \
        const W rtol = (W)w->real[FY_ISCLOSE_rtol], atol = (W)w->real[FY_ISCLOSE_atol]; \
        const bool nans = w->integer[FY_ISCLOSE_equal_nan] != 0; \
        const bool near = w->real[FY_ISCLOSE_rtol] != 0 || w->real[FY_ISCLOSE_atol] != 0; \
        FY_IVDEP for (int64_t i = 0; i < n; i++) \
        { \
            W x = (W)READ(a[i]), y = (W)READ(b[i]); \
            W allowed = ROUND(atol + SIZE(ROUND(rtol * y))), apart = SIZE(ROUND(x - y)); \
            out[i] = (READ(a[i]) == READ(b[i])) | (nans & (x != x) & (y != y)) | \
                     (near & (apart < (W)INFINITY) & (apart <= allowed)); \
        } \
    }
CLOSE(close_f32, float, SAME, float, fabsf, SAME)
CLOSE(close_f16, float, SAME, float, fabsf, AS_HALF)
CLOSE(close_bf16, float, SAME, float, fabsf, AS_BFLOAT)
CLOSE(close_f64, double, SAME, double, fabs, SAME)
CLOSE(close_i64, int64_t, SAME, float, fabsf, SAME)
CLOSE(close_i32, int32_t, SAME, float, fabsf, SAME)
CLOSE(close_u8, uint8_t, SAME, float, fabsf, SAME)
CLOSE(close_bool, uint8_t, TRUTH, float, fabsf, SAME)

void fy_host_isclose(fy_run_work *w)
{
    fy_loop f32 = w->dtype == FY_FLOAT16 ? close_f16 : w->dtype == FY_BFLOAT16 ? close_bf16 : close_f32;
    fy_map_any(w, &(fy_loops){f32, close_f64, close_i64, close_i32, close_u8, close_bool});
}

FY_LOOP(isnan_f32, float, bool, x != x)
FY_LOOP(isnan_f64, double, bool, x != x)

static void never(int64_t n, void *to, const void *const *in, const fy_run_work *w)
{
    (void)in, (void)w;
    memset(to, 0, (size_t)n * sizeof(bool));
}

void fy_host_isnan(fy_run_work *w) { fy_map_any(w, &(fy_loops){isnan_f32, isnan_f64, never, never, never, never}); }

FY_LOOP(not_f32, float, bool, x == 0)
FY_LOOP(not_f64, double, bool, x == 0)
FY_LOOP(not_i64, int64_t, bool, x == 0)
FY_LOOP(not_i32, int32_t, bool, x == 0)
FY_LOOP(not_u8, uint8_t, bool, x == 0)

void fy_host_logical_not(fy_run_work *w)
{
    fy_map_any(w, &(fy_loops){not_f32, not_f64, not_i64, not_i32, not_u8, not_u8});
}
