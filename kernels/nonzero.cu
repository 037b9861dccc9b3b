/* nonzero.cu: nonzero and masked_select from prefix_count's counts: where the count grows, the element is selected, and
 * the count gives its position. One thread per element. */
#include "kernel.h"

/* The result row of element i; -1 if not selected. */
__device__ inline int64_t row_of(const int64_t *count, const fy_layout &lc, int64_t i, int64_t rows)
{
    int64_t mine = count[at(lc, i)], before = i > 0 ? count[at(lc, i - 1)] : 0;
    return mine > before && mine <= rows ? mine - 1 : -1;
}

/* out[row][d] = the element's index in dimension d. */
__global__ void nonzero(const int64_t *count, fy_layout_arg lc, int64_t *out, fy_layout_arg lo)
{
    int64_t i = thread_number(), row = i < lc.numel ? row_of(count, lc, i, lo.shape[0]) : -1;
    if (row < 0) return;
    for (int d = lc.ndim - 1; d >= 0; d--) {
        out[row * lo.strides[0] + d * lo.strides[1]] = i % lc.shape[d];
        i /= lc.shape[d];
    }
}

LAUNCHER(nonzero)
{
    dim3 grid = grid_for(w, "nonzero", w->in[0].layout.numel);
    LAUNCH(nonzero, grid, FY_THREADS)
    ((const int64_t *)w->in[0].data, w->in[0].layout, (int64_t *)w->out.data, w->out.layout);
}

/* Each mask element selects `rest` contiguous elements. */
template <typename T>
__global__ void masked_select(const T *a, fy_layout_arg la, const int64_t *count, fy_layout_arg lc, int64_t rows, int64_t rest,
                              T *out, fy_layout_arg lo)
{
    int64_t i = thread_number(), row = i < la.numel ? row_of(count, lc, i / rest, rows) : -1;
    if (row >= 0) out[at(lo, row * rest + i % rest)] = load(&a[at(la, i)]);
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    const fy_layout &la = w->in[0].layout, &lc = w->in[1].layout, &lo = w->out.layout;
    dim3 grid = grid_for(w, name, la.numel);
    LAUNCH(masked_select<T>, grid, FY_THREADS)
    ((const T *)w->in[0].data, flat(la), (const int64_t *)w->in[1].data, flat(lc), lo.shape[0], la.numel / lc.numel,
     (T *)w->out.data, flat(lo));
}

LAUNCHER(masked_select)
{
    FOR_ALL("masked_select", launch<T>(w, name))
}
