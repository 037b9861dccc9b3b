/* reduce.h: what all reductions share: who goes through which elements.
 *
 * Many elements a result: a block a result. Each of its threads folds every 256th element into a part of
 * its own, then the block joins its 256 parts as a tree that halves at every step (sum.cu draws it). Few
 * elements a result: a thread a result. The order hangs on nothing but the sizes.
 *
 * A fold says what becomes of the elements:
 *   element, number, part  types: of an element, as it is computed with; what came of the elements so far
 *   start()                the part of no elements
 *   add(part, x, place)    one more element, number `place` of its result
 *   join(left, right)      two parts as one
 *   finish(part, out, n)   the result of n elements */
#ifndef FERRY_REDUCE_H
#define FERRY_REDUCE_H

#include "kernel.h"

enum { FEW = 256 }; /* elements that one thread goes through */

/* What many elements are added up in: floats as they are computed with, integers and bool in 64 bits. */
template <typename T> struct total_type {
    using type = int64_t;
};
template <> struct total_type<fy_half> {
    using type = float;
};
template <> struct total_type<fy_bfloat> {
    using type = float;
};
template <> struct total_type<float> {
    using type = float;
};
template <> struct total_type<double> {
    using type = double;
};
template <typename T> using total = typename total_type<T>::type;

/* Integers wrap around. */
template <typename W> __device__ inline W sum_of(W a, W b)
{
    using U = typename unsigned_of<W>::type;
    return (W)((U)a + (U)b);
}
template <typename W> __device__ inline W product_of(W a, W b)
{
    using U = typename unsigned_of<W>::type;
    return (W)((U)a * (U)b);
}

/* A total as an element: rounded once, of bool whether it is not 0. */
template <typename T> __device__ inline void put_total(T *to, total<T> x)
{
    if constexpr (is_real<T>) put(to, x);
    else *to = (T)x;
}

template <typename F, typename R>
__global__ void block_each(const typename F::element *a, fy_layout kept, fy_layout gone, R *out, fy_layout lo)
{
    __shared__ typename F::part part[FY_THREADS];
    F fold;
    unsigned t = threadIdx.x;

    for (int64_t k = blockIdx.x; k < lo.numel; k += gridDim.x) {
        const typename F::element *mine = a + at(kept, k);
        part[t] = fold.start();
        for (int64_t i = t; i < gone.numel; i += FY_THREADS) fold.add(part[t], (typename F::number)wide(load(&mine[at(gone, i)])), i);
        for (unsigned half = FY_THREADS / 2; half > 0; half /= 2) {
            __syncthreads(); /* nobody joins before everybody has stored */
            if (t < half) fold.join(part[t], part[t + half]);
        }
        if (t == 0) fold.finish(part[0], &out[at(lo, k)], gone.numel);
        __syncthreads(); /* nobody begins the next before this one is written */
    }
}

template <typename F, typename R>
__global__ void thread_each(const typename F::element *a, fy_layout kept, fy_layout gone, R *out, fy_layout lo)
{
    int64_t k = thread_number();
    if (k >= lo.numel) return;
    a += at(kept, k);
    F fold;
    typename F::part part = fold.start();
    for (int64_t i = 0; i < gone.numel; i++) fold.add(part, (typename F::number)wide(load(&a[at(gone, i)])), i);
    fold.finish(part, &out[at(lo, k)], gone.numel);
}

/* Dimensions from..to of a layout. */
static inline fy_layout part_of(const fy_layout &l, int from, int to)
{
    fy_layout part = {};
    part.numel = 1;
    for (int d = from; d < to; d++) {
        part.shape[part.ndim] = l.shape[d];
        part.strides[part.ndim++] = l.strides[d];
        part.numel *= l.shape[d];
    }
    return flat(part);
}

static inline fy_layout kept_of(const fy_run_work *w)
{
    return part_of(w->in[0].layout, 0, w->in[0].layout.ndim - w->reduced);
}

static inline fy_layout gone_of(const fy_run_work *w)
{
    return part_of(w->in[0].layout, w->in[0].layout.ndim - w->reduced, w->in[0].layout.ndim);
}

/* A whole tensor is always a block's work. */
static inline bool is_blocks_work(int64_t results, int64_t elements) { return results == 1 || elements > FEW; }

/* A block a result: the grid, noted. */
static inline dim3 grid_of_blocks(fy_run_work *w, const char *kernel, int64_t results)
{
    dim3 grid((unsigned)(results < INT32_MAX ? results : INT32_MAX));
    note(w, kernel, grid, dim3(FY_THREADS));
    return grid;
}

/* R is the result's type. */
template <typename F, typename R> static void launch_reduction(fy_run_work *w, const char *name)
{
    fy_layout kept = kept_of(w), gone = gone_of(w), lo = flat(w->out.layout);
    const typename F::element *a = (const typename F::element *)w->in[0].data;
    constexpr auto *by_block = block_each<F, R>;
    constexpr auto *by_thread = thread_each<F, R>;
    if (is_blocks_work(lo.numel, gone.numel)) {
        dim3 grid = grid_of_blocks(w, name, lo.numel);
        LAUNCH(by_block, grid, FY_THREADS)(a, kept, gone, (R *)w->out.data, lo);
    } else {
        dim3 grid = grid_for(w, name, lo.numel);
        LAUNCH(by_thread, grid, FY_THREADS)(a, kept, gone, (R *)w->out.data, lo);
    }
}

#endif
