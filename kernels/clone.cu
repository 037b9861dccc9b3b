/* clone.cu: out = a, from any layout to any layout. */
#include "kernel.h"

template <typename T> __global__ void clone(const T *a, fy_layout la, T *out, fy_layout lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) out[at(lo, i)] = a[at(la, i)];
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    fy_operand *a = &w->in[0], *out = &w->out;
    if (out->layout.numel == 0) return;
    dim3 grid = grid_for(w, name, out->layout.numel);
    LAUNCH(clone<T>, grid, FY_THREADS)((const T *)a->data, flat(a->layout), (T *)out->data, flat(out->layout));
}

LAUNCHER(clone_f32) { launch<float>(w, "clone_f32"); }
LAUNCHER(clone_i64) { launch<int64_t>(w, "clone_i64"); }
