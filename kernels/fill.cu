/* fill.cu: every element of out = one value. */
#include "kernel.h"

template <typename T> __global__ void fill(T value, T *out, fy_layout lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) out[at(lo, i)] = value;
}

template <typename T> static void launch(fy_run_work *w, const char *name, T value)
{
    fy_operand *out = &w->out;
    if (out->layout.numel == 0) return;
    dim3 grid = grid_for(w, name, out->layout.numel);
    LAUNCH(fill<T>, grid, FY_THREADS)(value, (T *)out->data, flat(out->layout));
}

LAUNCHER(fill_f32) { launch<float>(w, "fill_f32", (float)w->real[0]); }
LAUNCHER(fill_i64) { launch<int64_t>(w, "fill_i64", w->integer[0]); }
