/* clone.cu: out = a; both have any layout. */
#include "kernel.h"

template <typename T> __global__ void clone(const T *a, fy_layout_arg la, T a_number, T *out, fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) out[at(lo, i)] = element(a, la, a_number, i);
}

LAUNCHER(clone)
{
    FOR_ALL("clone", {
        fy_operand *a = &w->in[0], *out = &w->out;
        dim3 grid = grid_for(w, name, out->layout.numel);
        LAUNCH(clone<T>, grid, FY_THREADS)
        ((const T *)a->data, flat(a->layout), number_of<T>(w, 0), (T *)out->data, flat(out->layout));
    })
}
