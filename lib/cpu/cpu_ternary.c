/* cpu_ternary.c: ternary elementwise ops on the host. */
#include <math.h>

#include "cpu.h"
#include "dtype.h"
#include "op.h"
#include "run_work.h"

/* ---- where: copies elements of any dtype ------------------------------------------------------------ */

#define CHOICE(name, T) \
    FY_CLONES static void name(int64_t n, void *to, const void *const *in, const fy_run_work *w) \
    { \
        T *out = to; \
        const uint8_t *condition = in[0]; /* the byte may come from a view of another dtype */ \
        const T *a = in[1], *b = in[2]; \
        (void)w; \
        FY_IVDEP for (int64_t i = 0; i < n; i++) out[i] = condition[i] ? a[i] : b[i]; \
    }
CHOICE(where_8, uint64_t)
CHOICE(where_4, uint32_t)
CHOICE(where_2, uint16_t)
CHOICE(where_1, uint8_t)
CHOICE(where_truth, bool)

void fy_host_where(fy_run_work *w)
{
    size_t size = fy_dtype_size(w->dtype);
    if (w->dtype == FY_BOOL) fy_map_raw(w, where_truth);
    else fy_map_raw(w, size == 8 ? where_8 : size == 4 ? where_4 : size == 2 ? where_2 : where_1);
}

/* where(mask, value, x): the value is passed as a number, in place of a tensor. */
void fy_host_masked_fill(fy_run_work *w)
{
    fy_run_work k = *w;
    k.nin = 3;
    k.in[0] = w->in[1];
    k.real[0] = w->real[1];
    k.integer[0] = w->integer[1];
    k.in[1] = (fy_operand){.dtype = w->dtype};
    k.real[1] = w->real[FY_MASKED_FILL_value];
    k.integer[1] = w->integer[FY_MASKED_FILL_value];
    k.in[2] = w->in[0];
    k.real[2] = w->real[0];
    k.integer[2] = w->integer[0];
    fy_host_where(&k);
}

/* ---- clamp: NaN if any is; the upper bound where they cross ------------------------------------------- */

#define AT_LEAST(x, low) ((x) != (x) || (x) >= (low) ? (x) : (low))
#define AT_MOST(x, high) ((x) != (x) || (x) <= (high) ? (x) : (high))
#define CLAMP(T, type) FY_LOOP3(clamp_##type, T, AT_MOST(AT_LEAST(x, y), z))
CLAMP(float, f32)
CLAMP(double, f64)
CLAMP(int64_t, i64)
CLAMP(int32_t, i32)
CLAMP(uint8_t, u8)

void fy_host_clamp(fy_run_work *w)
{
    fy_map_any(w, &(fy_loops){.f32 = clamp_f32, .f64 = clamp_f64, .i64 = clamp_i64, .i32 = clamp_i32, .u8 = clamp_u8});
}

/* ---- lerp: from the nearer end, rounded as PyTorch does; a weight that is a number is not rounded to 16 bits ---- */

#define BETWEEN(fused, x, y, w) \
    (((w) < 0 ? -(w) : (w)) < (T)0.5 ? fused(w, (y) - (x), x) : fused((x) - (y), 1 - (w), y))
#define LERP(name, type, fused, weight) \
    FY_CLONES static void name(int64_t n, void *to, const void *const *in, const fy_run_work *w) \
    { \
        typedef type T; \
        T *out = to; \
        const T *a = in[0], *b = in[1], *c = in[2], told = (T)w->real[2]; \
        (void)c, (void)told; \
        FY_IVDEP for (int64_t i = 0; i < n; i++) \
        { \
            T x = a[i], y = b[i], share = weight; \
            out[i] = BETWEEN(fused, x, y, share); \
        } \
    }
LERP(lerp_f32, float, fmaf, c[i])
LERP(lerp_f64, double, fma, c[i])
LERP(lerp_by_f32, float, fmaf, told)
LERP(lerp_by_f64, double, fma, told)

void fy_host_lerp(fy_run_work *w)
{
    bool by_number = !w->in[2].data;
    fy_map_any(w, &(fy_loops){.f32 = by_number ? lerp_by_f32 : lerp_f32, .f64 = by_number ? lerp_by_f64 : lerp_f64});
}

/* ---- addcmul and addcdiv: (value * y) first; integers wrap around --------------------------------------- */

#define WITH_VALUE(name, T, U, told, ...) \
    FY_CLONES static void name(int64_t n, void *to, const void *const *in, const fy_run_work *w) \
    { \
        T *out = to; \
        const T *a = in[0], *b = in[1], *c = in[2]; \
        const U value = (U)w->told; \
        FY_IVDEP for (int64_t i = 0; i < n; i++) \
        { \
            U x = (U)a[i], y = (U)b[i], z = (U)c[i]; \
            out[i] = (T)(__VA_ARGS__); \
        } \
    }
WITH_VALUE(addcmul_f32, float, float, real[FY_ADDCMUL_value], fmaf(value *y, z, x))
WITH_VALUE(addcmul_f64, double, double, real[FY_ADDCMUL_value], fma(value *y, z, x))
WITH_VALUE(addcmul_i64, int64_t, uint64_t, integer[FY_ADDCMUL_value], x + value * y * z)
WITH_VALUE(addcmul_i32, int32_t, uint32_t, integer[FY_ADDCMUL_value], x + value * y * z)
WITH_VALUE(addcmul_u8, uint8_t, uint32_t, integer[FY_ADDCMUL_value], x + value * y * z)
WITH_VALUE(addcdiv_f32, float, float, real[FY_ADDCDIV_value], x + value * y / z)
WITH_VALUE(addcdiv_f64, double, double, real[FY_ADDCDIV_value], x + value * y / z)

void fy_host_addcmul(fy_run_work *w)
{
    fy_map_any(
        w,
        &(fy_loops){.f32 = addcmul_f32, .f64 = addcmul_f64, .i64 = addcmul_i64, .i32 = addcmul_i32, .u8 = addcmul_u8});
}

void fy_host_addcdiv(fy_run_work *w) { fy_map_any(w, &(fy_loops){.f32 = addcdiv_f32, .f64 = addcdiv_f64}); }
