/* layer_norm.cu: out = (a - mean) / sqrt(variance + eps) along one dimension, with the mean and the variance of each row
 * (Ba, Kiros, Hinton, "Layer Normalization", 2016), and its gradient.
 *
 * One block per row: its threads add up the row, then the squared distances from the mean, both as a tree in shared
 * memory (drawn in sum.cu); then each writes every 256th result. Short rows take one thread each. The gradient adds up
 * the row's gradients g, and g times the normalized elements y:
 *
 *      out = (g - mean(g) - y * mean(g * y)) / sqrt(variance + eps) */
#include "reduce.h"

__device__ inline float root_of(float x) { return sqrtf(x); }
__device__ inline double root_of(double x) { return sqrt(x); }

/* The block's sum of all threads' values; every thread gets it. */
template <typename W> __device__ inline W sum_of_block(W *partial, W mine)
{
    unsigned t = threadIdx.x;
    partial[t] = mine;
    for (unsigned half = FY_THREADS / 2; half > 0; half /= 2) {
        __syncthreads(); /* all values are stored */
        if (t < half) partial[t] += partial[t + half];
    }
    __syncthreads(); /* the sum is complete */
    W sum = partial[0];
    __syncthreads(); /* all threads have read it */
    return sum;
}

/* The threads of a block share a row, or one thread has it alone. */
struct alone {
    static const unsigned threads = 1;
    MEMBER int64_t first() { return 0; }
    MEMBER int64_t row() { return thread_number(); }
    MEMBER int64_t rows() { return (int64_t)gridDim.x * blockDim.x; }
    template <typename W> MEMBER W sum(W *, W mine) { return mine; }
};
struct block {
    static const unsigned threads = FY_THREADS;
    MEMBER int64_t first() { return threadIdx.x; }
    MEMBER int64_t row() { return blockIdx.x; }
    MEMBER int64_t rows() { return gridDim.x; }
    template <typename W> MEMBER W sum(W *partial, W mine) { return sum_of_block(partial, mine); }
};

/* A row's mean, and 1 / sqrt(variance + eps). */
template <typename S, typename T, typename W>
__device__ inline void moments(W *partial, const T *from, const fy_layout &row, double eps, W *mean, W *scale)
{
    W n = (W)row.numel, mine = 0;
    for (int64_t i = S::first(); i < row.numel; i += S::threads) mine += wide(from[at(row, i)]);
    *mean = S::sum(partial, mine) / n;
    mine = 0;
    for (int64_t i = S::first(); i < row.numel; i += S::threads) {
        W distance = wide(from[at(row, i)]) - *mean;
        mine += distance * distance;
    }
    *scale = 1 / root_of(S::sum(partial, mine) / n + (W)eps);
}

template <typename S, typename T>
__global__ void layer_norm(const T *a, fy_layout_arg rows, fy_layout_arg row, double eps, T *out, fy_layout_arg out_rows,
                           fy_layout_arg out_row)
{
    total<T> *partial = one_per_thread<total<T>>();
    for (int64_t r = S::row(); r < rows.numel; r += S::rows()) {
        const T *from = a + at(rows, r);
        T *to = out + at(out_rows, r);
        total<T> mean, scale;
        moments<S>(partial, from, row, eps, &mean, &scale);
        for (int64_t i = S::first(); i < row.numel; i += S::threads)
            put(&to[at(out_row, i)], (wide(from[at(row, i)]) - mean) * scale);
    }
}

template <typename S, typename T>
__global__ void layer_norm_backward(const T *g, const T *a, fy_layout_arg g_rows, fy_layout_arg g_row, fy_layout_arg rows,
                                    fy_layout_arg row, double eps, T *out, fy_layout_arg out_rows, fy_layout_arg out_row)
{
    total<T> *partial = one_per_thread<total<T>>();
    for (int64_t r = S::row(); r < rows.numel; r += S::rows()) {
        const T *from = a + at(rows, r), *gradient = g + at(g_rows, r);
        T *to = out + at(out_rows, r);
        total<T> n = (total<T>)row.numel, mean, scale, plain = 0, weighted = 0;
        moments<S>(partial, from, row, eps, &mean, &scale);
        for (int64_t i = S::first(); i < row.numel; i += S::threads) {
            total<T> x = wide(gradient[at(g_row, i)]);
            plain += x;
            weighted += x * (wide(from[at(row, i)]) - mean) * scale;
        }
        plain = S::sum(partial, plain) / n;
        weighted = S::sum(partial, weighted) / n;
        for (int64_t i = S::first(); i < row.numel; i += S::threads) {
            total<T> y = (wide(from[at(row, i)]) - mean) * scale;
            put(&to[at(out_row, i)], (wide(gradient[at(g_row, i)]) - plain - y * weighted) * scale);
        }
    }
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    int last = w->out.layout.ndim - 1;
    fy_layout rows = part_of(w->in[0].layout, 0, last), row = part_of(w->in[0].layout, last, last + 1);
    fy_layout out_rows = part_of(w->out.layout, 0, last), out_row = part_of(w->out.layout, last, last + 1);
    const T *a = (const T *)w->in[0].data;
    T *out = (T *)w->out.data;
    double eps = w->real[FY_LAYER_NORM_eps];
    if (is_blocks_work(rows.numel, row.numel)) {
        constexpr auto *kernel = layer_norm<block, T>;
        dim3 grid = grid_of_blocks(w, name, rows.numel);
        LAUNCH(kernel, grid, FY_THREADS)(a, rows, row, eps, out, out_rows, out_row);
    } else {
        constexpr auto *kernel = layer_norm<alone, T>;
        dim3 grid = grid_for(w, name, rows.numel);
        LAUNCH(kernel, grid, FY_THREADS)(a, rows, row, eps, out, out_rows, out_row);
    }
}

template <typename T> static void launch_backward(fy_run_work *w, const char *name)
{
    int last = w->out.layout.ndim - 1;
    fy_layout g_rows = part_of(w->in[0].layout, 0, last), g_row = part_of(w->in[0].layout, last, last + 1);
    fy_layout rows = part_of(w->in[1].layout, 0, last), row = part_of(w->in[1].layout, last, last + 1);
    fy_layout out_rows = part_of(w->out.layout, 0, last), out_row = part_of(w->out.layout, last, last + 1);
    const T *g = (const T *)w->in[0].data, *a = (const T *)w->in[1].data;
    T *out = (T *)w->out.data;
    double eps = w->real[FY_LAYER_NORM_BACKWARD_eps];
    if (is_blocks_work(rows.numel, row.numel)) {
        constexpr auto *kernel = layer_norm_backward<block, T>;
        dim3 grid = grid_of_blocks(w, name, rows.numel);
        LAUNCH(kernel, grid, FY_THREADS)(g, a, g_rows, g_row, rows, row, eps, out, out_rows, out_row);
    } else {
        constexpr auto *kernel = layer_norm_backward<alone, T>;
        dim3 grid = grid_for(w, name, rows.numel);
        LAUNCH(kernel, grid, FY_THREADS)(g, a, g_rows, g_row, rows, row, eps, out, out_rows, out_row);
    }
}

LAUNCHER(layer_norm)
{
    FOR_REALS("layer_norm", launch<T>(w, name))
}

LAUNCHER(layer_norm_backward)
{
    FOR_REALS("layer_norm_backward", launch_backward<T>(w, name))
}
