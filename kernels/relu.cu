/* relu.cu: out = a where a is positive, else 0. NaN stays NaN. */
#include "kernel.h"

template <typename T> __global__ void relu(const T *a, fy_layout la, T *out, fy_layout lo)
{
    int64_t i = thread_number();
    if (i >= lo.numel) return;
    T x = a[at(la, i)];
    out[at(lo, i)] = x < 0 ? 0 : x;
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    fy_operand *a = &w->in[0], *out = &w->out;
    if (out->layout.numel == 0) return;
    dim3 grid = grid_for(w, name, out->layout.numel);
    LAUNCH(relu<T>, grid, FY_THREADS)((const T *)a->data, flat(a->layout), (T *)out->data, flat(out->layout));
}

LAUNCHER(relu_f32) { launch<float>(w, "relu_f32"); }
LAUNCHER(relu_i64) { launch<int64_t>(w, "relu_i64"); }
