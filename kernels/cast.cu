/* cast.cu: out = a, converted. A float is truncated to an integer, and saturates where that cannot hold it; NaN gives
 * the smallest one, or 0 for a narrow float as int32: the rules of PTX's cvt. uint8 is taken from int64, and wraps around.
 * Floats are rounded once. Nonzero is true. The host converts as x86 does (lib/cpu/cpu_cast.c). */
#include "kernel.h"

template <typename From> __device__ inline void convert(fy_half *to, From x)
{
    *to = fy_half_of((double)x);
}
template <typename From> __device__ inline void convert(fy_bfloat *to, From x)
{
    *to = fy_bfloat_of((double)x);
}
template <typename From> __device__ inline void convert(bool *to, From x)
{
    *to = x != 0;
}
__device__ inline int32_t saturated(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}
__device__ inline void convert(int32_t *to, float x)
{
    *to = x != x ? 0 : saturated(fy_to_int64((double)x));
}
__device__ inline void convert(int32_t *to, double x)
{
    *to = saturated(fy_to_int64(x));
}
template <typename To, typename From> __device__ inline void convert(To *to, From x)
{
    if constexpr (is_real<From> && !is_real<To>) *to = (To)fy_to_int64((double)x);
    else *to = (To)x;
}

template <typename From, typename To>
__global__ void cast(const From *a, fy_layout_arg la, From a_number, To *out, fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) convert(&out[at(lo, i)], wide(element(a, la, a_number, i)));
}

template <typename From, typename To> static void launch(fy_run_work *w, const char *name)
{
    fy_operand *a = &w->in[0], *out = &w->out;
    dim3 grid = grid_for(w, name, out->layout.numel);
    constexpr auto *kernel = cast<From, To>;
    LAUNCH(kernel, grid, FY_THREADS)
    ((const From *)a->data, flat(a->layout), number_of<From>(w, 0), (To *)out->data, flat(out->layout));
}

#define TO(tag, type, words) \
    if (w->out.dtype == tag) launch<From, type>(w, words);
#define TO_EACH(words) \
    { \
        using From = T; \
        TO(FY_FLOAT32, float, words "_f32") \
        TO(FY_FLOAT64, double, words "_f64") \
        TO(FY_FLOAT16, fy_half, words "_f16") \
        TO(FY_BFLOAT16, fy_bfloat, words "_bf16") \
        TO(FY_INT64, int64_t, words "_i64") \
        TO(FY_INT32, int32_t, words "_i32") \
        TO(FY_UINT8, uint8_t, words "_u8") \
        TO(FY_BOOL, bool, words "_bool") \
    }

#define FROM(tag, type, words) \
    if (w->dtype == tag) { \
        using T = type; \
        TO_EACH(words) \
    }

LAUNCHER(cast)
{
    FROM(FY_FLOAT32, float, "cast_f32")
    FROM(FY_FLOAT64, double, "cast_f64")
    FROM(FY_FLOAT16, fy_half, "cast_f16")
    FROM(FY_BFLOAT16, fy_bfloat, "cast_bf16")
    FROM(FY_INT64, int64_t, "cast_i64")
    FROM(FY_INT32, int32_t, "cast_i32")
    FROM(FY_UINT8, uint8_t, "cast_u8")
    FROM(FY_BOOL, bool, "cast_bool")
}
