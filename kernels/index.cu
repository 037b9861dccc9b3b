/* index.cu: index_select and embedding, gather, scatter_add. The indexed dimension comes last (op.h); the others form
 * lines. An index out of range fails the assertion. */
#include "reduce.h"

/* One thread per element: element `place` of the index, for line `line`. */
template <typename T>
__global__ void look_up(const T *a, fy_layout_arg lines, int64_t size, int64_t step, const int64_t *index, fy_layout_arg li,
                        T *out, fy_layout_arg lo, fy_blame blame)
{
    int64_t i = thread_number();
    if (i >= lo.numel) return;
    int64_t line = i / li.numel, place = i % li.numel, wanted = index[at(li, place)];
    ASSERT(blame, wanted >= 0 && wanted < size);
    out[at(lo, i)] = load(&a[at(lines, line) + wanted * step]);
}

template <typename T> static void launch_lookup(fy_run_work *w, const char *name)
{
    fy_layout gone = w->in[0].layout;
    dim3 grid = grid_for(w, name, w->out.layout.numel);
    LAUNCH(look_up<T>, grid, FY_THREADS)
    ((const T *)w->in[0].data, kept_of(w), gone.shape[gone.ndim - 1], gone.strides[gone.ndim - 1],
     (const int64_t *)w->in[1].data, flat(w->in[1].layout), (T *)w->out.data, flat(w->out.layout), BLAME(w));
}

/* Likewise, with an index per line. */
template <typename T>
__global__ void gather(const T *a, fy_layout_arg lines, int64_t size, int64_t step, const int64_t *index, fy_layout_arg li,
                       int64_t length, T *out, fy_layout_arg lo, fy_blame blame)
{
    int64_t i = thread_number();
    if (i >= lo.numel) return;
    int64_t wanted = index[at(li, i)];
    ASSERT(blame, wanted >= 0 && wanted < size);
    out[at(lo, i)] = load(&a[at(lines, i / length) + wanted * step]);
}

template <typename T> static void launch_gather(fy_run_work *w, const char *name)
{
    fy_layout gone = w->in[0].layout, li = w->in[1].layout;
    dim3 grid = grid_for(w, name, w->out.layout.numel);
    LAUNCH(gather<T>, grid, FY_THREADS)
    ((const T *)w->in[0].data, kept_of(w), gone.shape[gone.ndim - 1], gone.strides[gone.ndim - 1],
     (const int64_t *)w->in[1].data, flat(li), li.shape[li.ndim - 1], (T *)w->out.data, flat(w->out.layout), BLAME(w));
}

/* a + b: 16-bit floats are rounded, integers wrap around, bool is a logical or. */
template <typename T> __device__ inline void add_to(T *to, T x)
{
    if constexpr (is_real<T>) put(to, wide(*to) + wide(x));
    else *to = (T)sum_of(*to, x);
}
__device__ inline void add_to(bool *to, bool x)
{
    *to = load(to) || x;
}

/* One thread per line, which adds in index order: no two threads write the same element, and results are deterministic.
 * Atomics would also parallelize a long line, but leave the order of additions, and so the last digits, to chance. */
template <typename T>
__global__ void scatter_add(T *out, fy_layout_arg lines, int64_t size, int64_t step, const int64_t *index, fy_layout_arg li,
                            const T *src, fy_layout_arg ls, int64_t length, fy_blame blame)
{
    int64_t line = thread_number();
    if (line >= lines.numel) return;
    T *to = out + at(lines, line);
    for (int64_t i = line * length; i < (line + 1) * length; i++) {
        int64_t wanted = index[at(li, i)];
        ASSERT(blame, wanted >= 0 && wanted < size);
        add_to(&to[wanted * step], load(&src[at(ls, i)]));
    }
}

template <typename T> static void launch_scatter(fy_run_work *w, const char *name)
{
    fy_layout gone = w->in[0].layout, li = w->in[1].layout, lines = kept_of(w);
    dim3 grid = grid_for(w, name, lines.numel);
    LAUNCH(scatter_add<T>, grid, FY_THREADS)
    ((T *)w->out.data, lines, gone.shape[gone.ndim - 1], gone.strides[gone.ndim - 1], (const int64_t *)w->in[1].data,
     flat(li), (const T *)w->in[2].data, flat(w->in[2].layout), li.shape[li.ndim - 1], BLAME(w));
}

LAUNCHER(index_select)
{
    FOR_ALL("index_select", launch_lookup<T>(w, name))
}
LAUNCHER(embedding)
{
    FOR_ALL("embedding", launch_lookup<T>(w, name))
}
LAUNCHER(gather)
{
    FOR_ALL("gather", launch_gather<T>(w, name))
}
LAUNCHER(scatter_add)
{
    FOR_ALL("scatter_add", launch_scatter<T>(w, name))
}
