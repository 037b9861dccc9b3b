/* arange.cu: out[i] = start + i * step. Floats are computed in double and rounded once. */
#include "kernel.h"

template <typename Wide, typename T> __global__ void arange(Wide start, Wide step, T *out, fy_layout lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) out[at(lo, i)] = (T)(start + (Wide)i * step);
}

template <typename Wide, typename T>
static void launch(fy_run_work *w, const char *name, Wide start, Wide step)
{
    fy_operand *out = &w->out;
    if (out->layout.numel == 0) return;
    dim3 grid = grid_for(w, name, out->layout.numel);
    constexpr auto *kernel = arange<Wide, T>;
    LAUNCH(kernel, grid, FY_THREADS)(start, step, (T *)out->data, flat(out->layout));
}

LAUNCHER(arange_f32) { launch<double, float>(w, "arange_f32", w->real[0], w->real[1]); }
/* i * step may wrap around; the sum does not. */
LAUNCHER(arange_i64) { launch<uint64_t, int64_t>(w, "arange_i64", (uint64_t)w->integer[0], (uint64_t)w->integer[1]); }
