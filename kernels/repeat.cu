/* repeat.cu: out = a repeated along its dimensions: each index modulo a's size. One thread per element. */
#include "kernel.h"

/* Offset in a of element i of a result of shape lo; a has as many dimensions. */
__device__ inline int64_t at_within(const fy_layout &la, const fy_layout &lo, int64_t i)
{
    int64_t offset = 0;
    for (int d = lo.ndim - 1; d >= 0; d--) {
        offset += i % lo.shape[d] % la.shape[d] * la.strides[d];
        i /= lo.shape[d];
    }
    return offset;
}

template <typename T> __global__ void repeat(const T *a, fy_layout_arg la, T *out, fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) out[at(lo, i)] = load(&a[at_within(la, lo, i)]);
}

LAUNCHER(repeat)
{
    dim3 grid = grid_for(w, NULL, w->out.layout.numel);
    FOR_ALL("repeat", w->kernel = name;
            LAUNCH(repeat<T>, grid, FY_THREADS)((const T *)w->in[0].data, w->in[0].layout, (T *)w->out.data,
                                                w->out.layout))
}
