/* reduce.h: how all reductions divide the elements among threads.
 *
 * Few elements per result: one thread per result. More: one block per result. Each of its threads folds every 256th
 * element into a part of its own; then the block joins its 256 parts as a tree that halves at every step (drawn in
 * sum.cu), with two barriers. Many elements and few results, as for a whole tensor: several blocks per result, each
 * with its part, and a second launch joins those. The order depends on the sizes only.
 *
 * A fold defines the operation:
 *   element, number, part  types: of an element; of the computation; of the elements folded so far
 *   start()                the part of no elements
 *   add(part, x, place)    adds element number `place` of the result
 *   join(left, right)      joins the right part into the left
 *   finish(part, out, n)   stores the result; n: the number of elements minus `less` (launch_reduction) */
#ifndef FERRY_REDUCE_H
#define FERRY_REDUCE_H

#include "kernel.h"

enum { FEW = 256 }; /* up to this many elements per result are folded by one thread */

/* The type that elements are added up in: floats in the type they are computed in, integers and bool in 64 bits. */
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

/* Stores a total as an element: floats are rounded once; for bool nonzero is true. */
template <typename T> __device__ inline void put_total(T *to, total<T> x)
{
    if constexpr (is_real<T>) put(to, x);
    else *to = (T)x;
}

/* The parts that the blocks of a reduction store for its second launch. A stream runs one reduction at a time. */
enum { MOST_BLOCKS = 1024, SHARE = 16 * FY_THREADS }; /* blocks in total; minimum elements per block, of several */
namespace {
template <typename P> __device__ P partials[FY_STREAMS][MOST_BLOCKS];
}

enum { TOGETHER = 16 }; /* parts that one thread joins between two barriers */
static_assert(TOGETHER * TOGETHER == FY_THREADS, "a block joins its parts in two steps");

/* Joins part[0], part[step], ... of TOGETHER parts into the first, as a tree that halves. */
template <typename F> __device__ inline void join_parts(F &fold, typename F::part *part, unsigned step)
{
    for (unsigned half = TOGETHER / 2; half > 0; half /= 2)
        for (unsigned i = 0; i < half; i++) fold.join(part[i * step], part[(i + half) * step]);
}

/* Joins the parts of a block's threads into part[0], in the order of the tree that halves at every step. Few threads
 * do so, with few barriers: on the simulated card each barrier switches the stacks of all threads. Every thread of the
 * block must call it; before the parts are overwritten all must pass a __syncthreads. */
template <typename F> __device__ inline void join_block(F &fold, typename F::part *part)
{
    unsigned t = threadIdx.x;
    __syncthreads(); /* the parts of all threads are stored */
    if (t < TOGETHER) join_parts(fold, part + t, TOGETHER);
    __syncthreads();
    if (t == 0) join_parts(fold, part, 1);
}

/* This thread's part of a result: every step-th element from `first` on. */
template <typename F>
__device__ inline typename F::part fold_of(F &fold, const typename F::element *a, const fy_layout &gone, int64_t first,
                                           int64_t step)
{
    typename F::part mine = fold.start();
    for (int64_t i = first; i < gone.numel; i += step) fold.add(mine, (typename F::number)wide(load(&a[at(gone, i)])), i);
    return mine;
}

template <typename F, typename R>
__global__ void block_each(F fold, const typename F::element *a, fy_layout_arg kept, fy_layout_arg gone, double divisor, R *out,
                           fy_layout_arg lo)
{
    typename F::part *part = one_per_thread<typename F::part>();
    for (int64_t k = blockIdx.x; k < lo.numel; k += gridDim.x) {
        part[threadIdx.x] = fold_of(fold, a + at(kept, k), gone, threadIdx.x, FY_THREADS);
        join_block(fold, part);
        if (threadIdx.x == 0) fold.finish(part[0], &out[at(lo, k)], divisor);
        __syncthreads(); /* the result is stored before the next one overwrites the parts */
    }
}

/* blockIdx.y is the result, blockIdx.x the block within it. */
template <typename F>
__global__ void several_blocks_each(F fold, const typename F::element *a, fy_layout_arg kept, fy_layout_arg gone, int stream)
{
    typename F::part *part = one_per_thread<typename F::part>();
    part[threadIdx.x] = fold_of(fold, a + at(kept, blockIdx.y), gone, thread_number(), (int64_t)gridDim.x * FY_THREADS);
    join_block(fold, part);
    if (threadIdx.x == 0) partials<typename F::part>[stream][blockIdx.y * gridDim.x + blockIdx.x] = part[0];
}

/* The second launch: one block per result joins the parts that its blocks stored. */
template <typename F, typename R>
__global__ void join_each(F fold, int stream, unsigned blocks, double divisor, R *out, fy_layout_arg lo)
{
    typename F::part *part = one_per_thread<typename F::part>();
    unsigned t = threadIdx.x, k = blockIdx.x;
    part[t] = fold.start();
    for (unsigned i = t; i < blocks; i += FY_THREADS)
        fold.join(part[t], partials<typename F::part>[stream][k * blocks + i]);
    join_block(fold, part);
    if (t == 0) fold.finish(part[0], &out[at(lo, k)], divisor);
}

template <typename F, typename R>
__global__ void thread_each(F fold, const typename F::element *a, fy_layout_arg kept, fy_layout_arg gone, double divisor, R *out,
                            fy_layout_arg lo)
{
    int64_t k = thread_number();
    if (k < lo.numel) fold.finish(fold_of(fold, a + at(kept, k), gone, 0, 1), &out[at(lo, k)], divisor);
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

/* One block per result, rather than one thread? Always for a whole tensor. */
static inline bool is_blocks_work(int64_t results, int64_t elements) { return results == 1 || elements > FEW; }

/* The grid for one block per result; also records it. */
static inline dim3 grid_of_blocks(fy_run_work *w, const char *kernel, int64_t results)
{
    dim3 grid((unsigned)(results < INT32_MAX ? results : INT32_MAX));
    note(w, kernel, grid, dim3(FY_THREADS));
    return grid;
}

/* How many blocks share each result. */
static inline unsigned blocks_a_result(int64_t results, int64_t elements)
{
    int64_t most = MOST_BLOCKS / results, wanted = (elements + SHARE - 1) / SHARE;
    return (unsigned)(most < 2 || wanted < 2 ? 1 : wanted < most ? wanted : most);
}

/* R: type of the result. less: subtracted from the number of elements, which `finish` divides by. The fold may hold a
 * scalar of the call. */
template <typename F, typename R>
static void launch_reduction(fy_run_work *w, const char *name, double less = 0, F fold = {})
{
    fy_layout kept = kept_of(w), gone = gone_of(w), lo = flat(w->out.layout);
    const typename F::element *a = (const typename F::element *)w->in[0].data;
    R *out = (R *)w->out.data;
    double divisor = (double)gone.numel - less;
    constexpr auto *by_block = block_each<F, R>;
    constexpr auto *by_blocks = several_blocks_each<F>;
    constexpr auto *joined = join_each<F, R>;
    constexpr auto *by_thread = thread_each<F, R>;
    unsigned blocks = blocks_a_result(lo.numel, gone.numel);
    if (blocks > 1) {
        dim3 grid(blocks, (unsigned)lo.numel);
        note(w, name, grid, dim3(FY_THREADS));
        LAUNCH(by_blocks, grid, FY_THREADS)(fold, a, kept, gone, w->stream);
        LAUNCH(joined, (unsigned)lo.numel, FY_THREADS)(fold, w->stream, blocks, divisor, out, lo);
    } else if (is_blocks_work(lo.numel, gone.numel)) {
        dim3 grid = grid_of_blocks(w, name, lo.numel);
        LAUNCH(by_block, grid, FY_THREADS)(fold, a, kept, gone, divisor, out, lo);
    } else {
        dim3 grid = grid_for(w, name, lo.numel);
        LAUNCH(by_thread, grid, FY_THREADS)(fold, a, kept, gone, divisor, out, lo);
    }
}

#endif
