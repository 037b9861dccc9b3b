/* sum.cu: out = the sum of the elements of a over some dimensions.
 *
 * One block per sum. First each thread adds up every 256th element, then the block adds its 256 partial sums as a tree
 * that halves at every step:
 *
 *      t0 t1 t2 t3 | t4 t5 t6 t7        the right half is added to the left;
 *      t0 t1 | t2 t3                    all threads wait between two steps,
 *      t0 | t1                          so that no sum is read before it is stored
 *
 * A block runs on one of a card's many multiprocessors, so several blocks share a long sum, as of a whole tensor: each
 * stores its sum in `partials`, and a second launch, which starts after the first has ended, adds those. This is also
 * more exact, since each thread adds fewer numbers and so rounds less often. Short sums take one thread each. The order
 * of additions depends on the sizes only. */
#include "reduce.h"

/* The block's sum, valid in thread 0. Every thread of the block must call it. */
template <typename W> __device__ inline W block_sum(W mine, W *partial)
{
    unsigned t = threadIdx.x;
    partial[t] = mine;
    for (unsigned half = FY_THREADS / 2; half > 0; half /= 2) {
        __syncthreads(); /* all values of the previous step are stored */
        if (t < half) partial[t] = sum_of(partial[t], partial[t + half]);
    }
    return partial[t];
}

/* Sums every step-th element. */
template <typename T>
__device__ inline total<T> thread_sum(const T *row, const fy_layout &gone, int64_t first, int64_t step)
{
    total<T> mine = 0;
    for (int64_t i = first; i < gone.numel; i += step) mine = sum_of(mine, (total<T>)wide(load(&row[at(gone, i)])));
    return mine;
}

template <typename T>
__global__ void sum(const T *a, fy_layout_arg kept, fy_layout_arg gone, T *out, fy_layout_arg lo)
{
    total<T> *partial = one_per_thread<total<T>>();
    for (int64_t k = blockIdx.x; k < lo.numel; k += gridDim.x) {
        total<T> all = block_sum(thread_sum(a + at(kept, k), gone, threadIdx.x, FY_THREADS), partial);
        if (threadIdx.x == 0) put_total(&out[at(lo, k)], all);
        __syncthreads(); /* the sum is read before the next one overwrites it */
    }
}

/* Sum blockIdx.y, by gridDim.x blocks. */
template <typename T> __global__ void partial_sums(const T *a, fy_layout_arg kept, fy_layout_arg gone, int stream)
{
    total<T> *partial = one_per_thread<total<T>>();
    int64_t step = (int64_t)gridDim.x * FY_THREADS;
    total<T> all = block_sum(thread_sum(a + at(kept, blockIdx.y), gone, thread_number(), step), partial);
    if (threadIdx.x == 0) partials<total<T>>[stream][blockIdx.y * gridDim.x + blockIdx.x] = all;
}

template <typename T> __global__ void sum_of_partials(int stream, unsigned blocks, T *out, fy_layout_arg lo)
{
    total<T> *partial = one_per_thread<total<T>>();
    unsigned k = blockIdx.x;
    total<T> mine = 0;
    for (unsigned i = threadIdx.x; i < blocks; i += FY_THREADS)
        mine = sum_of(mine, partials<total<T>>[stream][k * blocks + i]);
    total<T> all = block_sum(mine, partial);
    if (threadIdx.x == 0) put_total(&out[at(lo, k)], all);
}

template <typename T>
__global__ void short_sums(const T *a, fy_layout_arg kept, fy_layout_arg gone, T *out, fy_layout_arg lo)
{
    int64_t k = thread_number();
    if (k < lo.numel) put_total(&out[at(lo, k)], thread_sum(a + at(kept, k), gone, 0, 1));
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    fy_layout kept = kept_of(w), gone = gone_of(w), lo = flat(w->out.layout);
    const T *a = (const T *)w->in[0].data;
    T *out = (T *)w->out.data;
    unsigned blocks = blocks_a_result(lo.numel, gone.numel);
    if (blocks > 1) {
        dim3 grid(blocks, (unsigned)lo.numel);
        note(w, name, grid, dim3(FY_THREADS));
        LAUNCH(partial_sums<T>, grid, FY_THREADS)(a, kept, gone, w->stream);
        LAUNCH(sum_of_partials<T>, (unsigned)lo.numel, FY_THREADS)(w->stream, blocks, out, lo);
    } else if (is_blocks_work(lo.numel, gone.numel)) {
        dim3 grid = grid_of_blocks(w, name, lo.numel);
        LAUNCH(sum<T>, grid, FY_THREADS)(a, kept, gone, out, lo);
    } else {
        dim3 grid = grid_for(w, name, lo.numel);
        LAUNCH(short_sums<T>, grid, FY_THREADS)(a, kept, gone, out, lo);
    }
}

LAUNCHER(sum)
{
    FOR_ALL("sum", launch<T>(w, name))
}
