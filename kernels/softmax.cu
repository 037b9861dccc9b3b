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
__global__ void softmax(const T *a, fy_layout_arg rows, fy_layout_arg row, bool logarithm, T *out, fy_layout_arg out_rows,
                        fy_layout_arg out_row)
{
    total<T> *partial = one_per_thread<total<T>>();
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
__global__ void short_rows(const T *a, fy_layout_arg rows, fy_layout_arg row, bool logarithm, T *out, fy_layout_arg out_rows,
                           fy_layout_arg out_row)
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

/* ---- the gradients: of a row g of gradients and a row r of results --------------------------------------------- */

/* What a row's elements are added up: g * r, or g. */
template <typename W> __device__ inline W summand(W g, W r, bool logarithm)
{
    return logarithm ? g : g * r;
}
template <typename W> __device__ inline W gradient(W g, W r, W sum, bool logarithm)
{
    return logarithm ? g - exp_of(r) * sum : r * (g - sum);
}

template <typename T>
__global__ void softmax_backward(const T *g, const T *r, fy_layout_arg g_rows, fy_layout_arg g_row, fy_layout_arg r_rows,
                                 fy_layout_arg r_row, bool logarithm, T *out, fy_layout_arg out_rows, fy_layout_arg out_row)
{
    total<T> *partial = one_per_thread<total<T>>();
    unsigned t = threadIdx.x;
    int64_t n = g_row.numel;

    for (int64_t k = blockIdx.x; k < g_rows.numel; k += gridDim.x) {
        const T *from = g + at(g_rows, k), *result = r + at(r_rows, k);
        T *to = out + at(out_rows, k);
        total<T> mine = 0;
        for (int64_t i = t; i < n; i += FY_THREADS)
            mine += summand(wide(from[at(g_row, i)]), wide(result[at(r_row, i)]), logarithm);
        partial[t] = mine;
        for (unsigned half = FY_THREADS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half) partial[t] += partial[t + half];
        }
        __syncthreads(); /* the sum is complete */
        total<T> sum = partial[0];
        for (int64_t i = t; i < n; i += FY_THREADS)
            put(&to[at(out_row, i)],
                gradient(wide(from[at(g_row, i)]), wide(result[at(r_row, i)]), sum, logarithm));
        __syncthreads(); /* all threads have read the sum before the next row overwrites it */
    }
}

template <typename T>
__global__ void short_rows_backward(const T *g, const T *r, fy_layout_arg g_rows, fy_layout_arg g_row, fy_layout_arg r_rows,
                                    fy_layout_arg r_row, bool logarithm, T *out, fy_layout_arg out_rows, fy_layout_arg out_row)
{
    int64_t k = thread_number();
    if (k >= g_rows.numel) return;
    g += at(g_rows, k);
    r += at(r_rows, k);
    out += at(out_rows, k);
    total<T> sum = 0;
    for (int64_t i = 0; i < g_row.numel; i++) sum += summand(wide(g[at(g_row, i)]), wide(r[at(r_row, i)]), logarithm);
    for (int64_t i = 0; i < g_row.numel; i++)
        put(&out[at(out_row, i)], gradient(wide(g[at(g_row, i)]), wide(r[at(r_row, i)]), sum, logarithm));
}

template <typename T> static void launch_backward(fy_run_work *w, const char *name, bool logarithm)
{
    int last = w->out.layout.ndim - 1;
    const fy_layout &g = w->in[0].layout, &r = w->in[1].layout, &to = w->out.layout;
    fy_layout g_rows = part_of(g, 0, last), g_row = part_of(g, last, last + 1);
    fy_layout r_rows = part_of(r, 0, last), r_row = part_of(r, last, last + 1);
    fy_layout out_rows = part_of(to, 0, last), out_row = part_of(to, last, last + 1);
    const T *gradients = (const T *)w->in[0].data, *results = (const T *)w->in[1].data;
    T *out = (T *)w->out.data;
    if (is_blocks_work(g_rows.numel, g_row.numel)) {
        dim3 grid = grid_of_blocks(w, name, g_rows.numel);
        LAUNCH(softmax_backward<T>, grid, FY_THREADS)
        (gradients, results, g_rows, g_row, r_rows, r_row, logarithm, out, out_rows, out_row);
    } else {
        dim3 grid = grid_for(w, name, g_rows.numel);
        LAUNCH(short_rows_backward<T>, grid, FY_THREADS)
        (gradients, results, g_rows, g_row, r_rows, r_row, logarithm, out, out_rows, out_row);
    }
}

LAUNCHER(softmax_backward)
{
    FOR_REALS("softmax_backward", launch_backward<T>(w, name, false))
}

LAUNCHER(log_softmax_backward)
{
    FOR_REALS("log_softmax_backward", launch_backward<T>(w, name, true))
}
