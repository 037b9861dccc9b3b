/* sum.cu: out = the sum of the elements of a; over some dimensions, a sum for each place in the others.
 *
 * One block a sum. First each thread adds up every 256th element, then the block adds its 256 partial sums
 * as a tree that halves at every step:
 *
 *      t0 t1 t2 t3 | t4 t5 t6 t7        the right half is added to the left,
 *      t0 t1 | t2 t3                    and everybody waits between two steps,
 *      t0 | t1                          or a thread would add a sum that is not there yet
 *
 * Many short sums are left to one thread each. The order of additions hangs on nothing but the sizes. */
#include "reduce.h"

template <typename T>
__global__ void sum(const T *a, fy_layout kept, fy_layout gone, T *out, fy_layout lo)
{
    __shared__ total<T> partial[FY_THREADS];
    unsigned t = threadIdx.x;

    for (int64_t k = blockIdx.x; k < lo.numel; k += gridDim.x) {
        const T *row = a + at(kept, k);
        total<T> mine = 0;
        for (int64_t i = t; i < gone.numel; i += FY_THREADS) mine = sum_of(mine, (total<T>)wide(load(&row[at(gone, i)])));
        partial[t] = mine;
        for (unsigned half = FY_THREADS / 2; half > 0; half /= 2) {
            __syncthreads(); /* nobody adds before everybody has stored */
            if (t < half) partial[t] = sum_of(partial[t], partial[t + half]);
        }
        if (t == 0) put_total(&out[at(lo, k)], partial[0]);
        __syncthreads(); /* nobody begins the next sum before this one is written */
    }
}

template <typename T>
__global__ void short_sums(const T *a, fy_layout kept, fy_layout gone, T *out, fy_layout lo)
{
    int64_t k = thread_number();
    if (k >= lo.numel) return;
    const T *row = a + at(kept, k);
    total<T> mine = 0;
    for (int64_t i = 0; i < gone.numel; i++) mine = sum_of(mine, (total<T>)wide(load(&row[at(gone, i)])));
    put_total(&out[at(lo, k)], mine);
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    fy_layout kept = kept_of(w), gone = gone_of(w), lo = flat(w->out.layout);
    if (is_blocks_work(lo.numel, gone.numel)) {
        dim3 grid = grid_of_blocks(w, name, lo.numel);
        LAUNCH(sum<T>, grid, FY_THREADS)((const T *)w->in[0].data, kept, gone, (T *)w->out.data, lo);
    } else {
        dim3 grid = grid_for(w, name, lo.numel);
        LAUNCH(short_sums<T>, grid, FY_THREADS)((const T *)w->in[0].data, kept, gone, (T *)w->out.data, lo);
    }
}

LAUNCHER(sum)
{
    FOR_ALL("sum", launch<T>(w, name))
}
