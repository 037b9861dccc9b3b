/* places.cu: ops that depend on an element's position: tril, triu and one_hot. Results are contiguous and row-major. */
#include "kernel.h"

/* Element (row, column) of each matrix if it is on the kept side of the diagonal, else 0. */
template <typename T, bool lower>
__global__ void triangle(const T *a, fy_layout_arg la, int64_t rows, int64_t columns, int64_t diagonal, T *out, int64_t n)
{
    int64_t i = thread_number();
    if (i >= n) return;
    int64_t row = i / columns % rows, column = i % columns;
    bool kept = lower ? column - row <= diagonal : column - row >= diagonal;
    out[i] = kept ? load(&a[at(la, i)]) : T();
}

template <typename T, bool lower> static void launch_triangle(fy_run_work *w, const char *name, int64_t diagonal)
{
    const fy_layout &lo = w->out.layout;
    dim3 grid = grid_for(w, name, lo.numel);
    constexpr auto *kernel = triangle<T, lower>;
    LAUNCH(kernel, grid, FY_THREADS)
    ((const T *)w->in[0].data, flat(w->in[0].layout), lo.shape[lo.ndim - 2], lo.shape[lo.ndim - 1], diagonal,
     (T *)w->out.data, lo.numel);
}

LAUNCHER(tril)
{
    FOR_ALL("tril", launch_triangle<T, true>(w, name, w->integer[FY_TRIL_diagonal]))
}
LAUNCHER(triu)
{
    FOR_ALL("triu", launch_triangle<T, false>(w, name, w->integer[FY_TRIU_diagonal]))
}

/* 1 if this column is the row's class. The operand has the result's layout, with stride 0 along a row. */
__global__ void one_hot(const int64_t *a, fy_layout_arg la, int64_t classes, int64_t *out, int64_t n, fy_blame blame)
{
    int64_t i = thread_number();
    if (i >= n) return;
    int64_t own = a[at(la, i)];
    ASSERT(blame, own >= 0 && own < classes);
    out[i] = own == i % classes;
}

LAUNCHER(one_hot)
{
    const fy_layout &lo = w->out.layout;
    dim3 grid = grid_for(w, "one_hot_i64", lo.numel);
    LAUNCH(one_hot, grid, FY_THREADS)
    ((const int64_t *)w->in[0].data, w->in[0].layout, lo.shape[lo.ndim - 1], (int64_t *)w->out.data, lo.numel, BLAME(w));
}
