/* cpu_cast.c: cast and clone on the host. A float is truncated to an integer. Where that cannot hold it, and for NaN,
 * the result is the smallest integer, as x86 converts, and so PyTorch; uint8 wraps around. Floats are rounded once.
 * Nonzero is true. A card saturates instead (kernels/cast.cu). */
#include "cpu.h"
#include "dtype.h"
#include "half.h"
#include "run_work.h"

#define SAME(x) (x)
#define TRUTH(x) ((x) != 0)              /* the byte may come from a view of another dtype */
#define ODD(x) fy_float_odd((double)(x)) /* where a float cannot hold what is to be rounded */

static inline int64_t to_64(double x) { return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN; }
static inline int32_t to_32(double x) { return x > -0x1p31 - 1 && x < 0x1p31 ? (int32_t)x : INT32_MIN; }

/* Loops from one type to every type. read: an element to a C number; to_i64, to_i32: that to an integer; once: that to
 * a float which rounds to the same 16-bit float as the number itself. */
#define FROM(from, T, read, to_i64, to_i32, once) \
    FY_LOOP(from##_to_f32, T, float, read(x)) \
    FY_LOOP(from##_to_f64, T, double, read(x)) \
    FY_LOOP(from##_to_f16, T, uint16_t, fy_half_of_float(once(read(x))).bits) \
    FY_LOOP(from##_to_bf16, T, uint16_t, fy_bfloat_of_float(once(read(x))).bits) \
    FY_LOOP(from##_to_i64, T, int64_t, to_i64(read(x))) \
    FY_LOOP(from##_to_i32, T, int32_t, to_i32(read(x))) \
    FY_LOOP(from##_to_u8, T, uint8_t, to_i64(read(x))) \
    FY_LOOP(from##_to_bool, T, bool, read(x) != 0)

FROM(f32, float, SAME, to_64, to_32, SAME)
FROM(f64, double, SAME, to_64, to_32, ODD)
FROM(f16, fy_half, fy_half_float, to_64, to_32, SAME)
FROM(bf16, fy_bfloat, fy_bfloat_float, to_64, to_32, SAME)
FROM(i64, int64_t, SAME, SAME, SAME, ODD)
FROM(i32, int32_t, SAME, SAME, SAME, ODD)
FROM(u8, uint8_t, SAME, SAME, SAME, SAME)
FROM(truth, uint8_t, TRUTH, SAME, SAME, SAME)

#define ROW(from) \
    { \
        [FY_FLOAT32] = from##_to_f32, [FY_FLOAT64] = from##_to_f64, [FY_FLOAT16] = from##_to_f16, \
        [FY_BFLOAT16] = from##_to_bf16, [FY_INT64] = from##_to_i64, [FY_INT32] = from##_to_i32, \
        [FY_UINT8] = from##_to_u8, [FY_BOOL] = from##_to_bool, \
    }

fy_loop fy_cast_loop(fy_dtype from, fy_dtype to)
{
    static const fy_loop loops[][FY_BOOL + 1] = {
        [FY_FLOAT32] = ROW(f32), [FY_FLOAT64] = ROW(f64), [FY_FLOAT16] = ROW(f16), [FY_BFLOAT16] = ROW(bf16),
        [FY_INT64] = ROW(i64),   [FY_INT32] = ROW(i32),   [FY_UINT8] = ROW(u8),    [FY_BOOL] = ROW(truth),
    };
    return loops[from][to];
}

void fy_host_cast(fy_run_work *w) { fy_map_raw(w, fy_cast_loop(w->dtype, w->out.dtype)); }

static void copy(int64_t n, void *out, const void *const *in, const fy_run_work *w)
{
    memmove(out, in[0], (size_t)n * fy_dtype_size(w->dtype));
}

void fy_host_clone(fy_run_work *w) { fy_map_raw(w, w->dtype == FY_BOOL ? truth_to_bool : copy); }
