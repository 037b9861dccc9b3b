/* var.cu: the variance over some dimensions: first the mean, then the squares of the distances from it, over
 * n - correction. Both sums are a block's tree, as in sum.cu; short ones are left to one thread. */
#include "reduce.h"

/* The sum of every thread's x, given to all of them. Every thread of the block must call it. */
template <typename W> __device__ inline W block_sum(W x, W *partial)
{
    unsigned t = threadIdx.x;
    __syncthreads(); /* nobody reads the last sum any more */
    partial[t] = x;
    for (unsigned half = FY_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) partial[t] += partial[t + half];
    }
    __syncthreads();
    return partial[0];
}

/* Nothing divided by nothing is NaN: the variance of one element has no n - 1. */
template <typename W> __device__ inline W over(W squares, int64_t n, double correction)
{
    double divisor = (double)n - correction;
    return squares / (W)(divisor > 0 ? divisor : 0);
}

template <typename T>
__global__ void var(const T *a, fy_layout kept, fy_layout gone, double correction, T *out, fy_layout lo)
{
    __shared__ total<T> partial[FY_THREADS];
    unsigned t = threadIdx.x;

    for (int64_t k = blockIdx.x; k < lo.numel; k += gridDim.x) {
        const T *row = a + at(kept, k);
        total<T> mine = 0;
        for (int64_t i = t; i < gone.numel; i += FY_THREADS) mine += wide(row[at(gone, i)]);
        total<T> mean = block_sum(mine, partial) / (total<T>)gone.numel;
        mine = 0;
        for (int64_t i = t; i < gone.numel; i += FY_THREADS) {
            total<T> distance = wide(row[at(gone, i)]) - mean;
            mine += distance * distance;
        }
        total<T> squares = block_sum(mine, partial);
        if (t == 0) put(&out[at(lo, k)], over(squares, gone.numel, correction));
    }
}

template <typename T>
__global__ void short_vars(const T *a, fy_layout kept, fy_layout gone, double correction, T *out, fy_layout lo)
{
    int64_t k = thread_number();
    if (k >= lo.numel) return;
    const T *row = a + at(kept, k);
    total<T> sum = 0, squares = 0;
    for (int64_t i = 0; i < gone.numel; i++) sum += wide(row[at(gone, i)]);
    total<T> mean = sum / (total<T>)gone.numel;
    for (int64_t i = 0; i < gone.numel; i++) {
        total<T> distance = wide(row[at(gone, i)]) - mean;
        squares += distance * distance;
    }
    put(&out[at(lo, k)], over(squares, gone.numel, correction));
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    fy_layout kept = kept_of(w), gone = gone_of(w), lo = flat(w->out.layout);
    const T *a = (const T *)w->in[0].data;
    if (is_blocks_work(lo.numel, gone.numel)) {
        dim3 grid = grid_of_blocks(w, name, lo.numel);
        LAUNCH(var<T>, grid, FY_THREADS)(a, kept, gone, w->real[0], (T *)w->out.data, lo);
    } else {
        dim3 grid = grid_for(w, name, lo.numel);
        LAUNCH(short_vars<T>, grid, FY_THREADS)(a, kept, gone, w->real[0], (T *)w->out.data, lo);
    }
}

LAUNCHER(var)
{
    FOR_REALS("var", launch<T>(w, name))
}
