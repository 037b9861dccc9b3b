/* cast.cu: out = a, converted. A float becomes an integer by dropping its fraction; what does not fit
 * becomes the nearest integer that there is, NaN the smallest (as the card's own instruction does). */
#include "kernel.h"

__device__ inline void convert(float *to, float x) { *to = x; }
__device__ inline void convert(float *to, int64_t x) { *to = (float)x; }
__device__ inline void convert(int64_t *to, int64_t x) { *to = x; }
__device__ inline void convert(int64_t *to, float x)
{
    if (x >= 9223372036854775808.0f) *to = INT64_MAX;
    else if (x >= -9223372036854775808.0f) *to = (int64_t)x;
    else *to = INT64_MIN;
}

template <typename From, typename To>
__global__ void cast(const From *a, fy_layout la, To *out, fy_layout lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) convert(&out[at(lo, i)], a[at(la, i)]);
}

template <typename From, typename To> static void launch(fy_run_work *w, const char *name)
{
    fy_operand *a = &w->in[0], *out = &w->out;
    if (out->layout.numel == 0) return;
    dim3 grid = grid_for(w, name, out->layout.numel);
    constexpr auto *kernel = cast<From, To>;
    LAUNCH(kernel, grid, FY_THREADS)((const From *)a->data, flat(a->layout), (To *)out->data, flat(out->layout));
}

LAUNCHER(cast_f32)
{
    if (w->out.dtype == FY_INT64) launch<float, int64_t>(w, "cast_f32_i64");
    else launch<float, float>(w, "cast_f32_f32");
}

LAUNCHER(cast_i64)
{
    if (w->out.dtype == FY_INT64) launch<int64_t, int64_t>(w, "cast_i64_i64");
    else launch<int64_t, float>(w, "cast_i64_f32");
}
