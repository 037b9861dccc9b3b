/* softmax.cu: out = exp(a) / sum(exp(a)) along one dimension; log_softmax is its logarithm.
 *
 * One block per row. Its threads find the largest element, then the sum of exp(x - largest), both as a tree in shared
 * memory (drawn in sum.cu); then each writes every 256th result. The largest element is subtracted so that exp cannot
 * overflow. Short rows take one thread each. */
#include "reduce.h"

__device__ inline float exp_of(float x) { return expf(x); }
__device__ inline double exp_of(double x) { return exp(x); }
__device__ inline float log_of(float x) { return logf(x); }
__device__ inline double log_of(double x) { return log(x); }

/* The larger; NaN if either is. */
template <typename W> __device__ inline W larger(W a, W b)
{
    return b > a || b != b ? b : a;
}

template <typename W> __device__ inline W result(W x, W largest, W sum, bool logarithm)
{
    return logarithm ? x - largest - log_of(sum) : exp_of(x - largest) / sum;
}

template <typename T>
__global__ void softmax(const T *a, fy_layout rows, fy_layout row, bool logarithm, T *out, fy_layout out_rows,
                        fy_layout out_row)
{
    __shared__ total<T> partial[FY_THREADS];
    unsigned t = threadIdx.x;
    int64_t n = row.numel;

    for (int64_t r = blockIdx.x; r < rows.numel; r += gridDim.x) {
        const T *from = a + at(rows, r);
        T *to = out + at(out_rows, r);
        total<T> mine = -INFINITY;
        for (int64_t i = t; i < n; i += FY_THREADS) mine = larger(mine, wide(from[at(row, i)]));
        partial[t] = mine;
        for (unsigned half = FY_THREADS / 2; half > 0; half /= 2) {
            __syncthreads(); /* all values are stored */
            if (t < half) partial[t] = larger(partial[t], partial[t + half]);
        }
        __syncthreads(); /* the maximum is complete */
        total<T> largest = partial[0];
        __syncthreads(); /* all threads have read it */

        mine = 0;
        for (int64_t i = t; i < n; i += FY_THREADS) mine += exp_of(wide(from[at(row, i)]) - largest);
        partial[t] = mine;
        for (unsigned half = FY_THREADS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half) partial[t] += partial[t + half];
        }
        __syncthreads(); /* the sum is complete */
        total<T> sum = partial[0];
        for (int64_t i = t; i < n; i += FY_THREADS)
            put(&to[at(out_row, i)], result(wide(from[at(row, i)]), largest, sum, logarithm));
        __syncthreads(); /* all threads have read the sum before the next row overwrites it */
    }
}

template <typename T>
__global__ void short_rows(const T *a, fy_layout rows, fy_layout row, bool logarithm, T *out, fy_layout out_rows,
                           fy_layout out_row)
{
    int64_t r = thread_number();
    if (r >= rows.numel) return;
    a += at(rows, r);
    out += at(out_rows, r);
    total<T> largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < row.numel; i++) largest = larger(largest, wide(a[at(row, i)]));
    for (int64_t i = 0; i < row.numel; i++) sum += exp_of(wide(a[at(row, i)]) - largest);
    for (int64_t i = 0; i < row.numel; i++)
        put(&out[at(out_row, i)], result(wide(a[at(row, i)]), largest, sum, logarithm));
}

template <typename T> static void launch(fy_run_work *w, const char *name, bool logarithm)
{
    int last = w->in[0].layout.ndim - 1;
    fy_layout rows = kept_of(w), row = gone_of(w);
    fy_layout out_rows = part_of(w->out.layout, 0, last), out_row = part_of(w->out.layout, last, last + 1);
    const T *a = (const T *)w->in[0].data;
    T *out = (T *)w->out.data;
    if (is_blocks_work(rows.numel, row.numel)) {
        dim3 grid = grid_of_blocks(w, name, rows.numel);
        LAUNCH(softmax<T>, grid, FY_THREADS)(a, rows, row, logarithm, out, out_rows, out_row);
    } else {
        dim3 grid = grid_for(w, name, rows.numel);
        LAUNCH(short_rows<T>, grid, FY_THREADS)(a, rows, row, logarithm, out, out_rows, out_row);
    }
}

LAUNCHER(softmax)
{
    FOR_REALS("softmax", launch<T>(w, name, false))
}

LAUNCHER(log_softmax)
{
    FOR_REALS("log_softmax", launch<T>(w, name, true))
}
