/* cpu_ternary.c: the ops of three operands on the host, element by element. */
#include "cpu.h"
#include "dtype.h"
#include "run_work.h"

/* ---- where: elements of any type are moved as they are ---------------------------------------------- */

#define CHOICE(name, T) \
    FY_CLONES static void name(int64_t n, void *to, const void *const *in, const fy_run_work *w) \
    { \
        T *out = to; \
        const uint8_t *condition = in[0]; /* a bool's byte may be a view of anything */ \
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
