/* sum.cu: out = the sum of all elements of a.
 *
 * One block. First each thread adds up every 256th element, then the block adds its 256 partial sums
 * as a tree that halves at every step:
 *
 *      t0 t1 t2 t3 | t4 t5 t6 t7        the right half is added to the left,
 *      t0 t1 | t2 t3                    and everybody waits between two steps,
 *      t0 | t1                          or a thread would add a sum that is not there yet
 *
 * The order of additions hangs on nothing but the number of elements. */
#include "kernel.h"

template <typename T> __global__ void sum(const T *a, fy_layout la, T *out)
{
    __shared__ T partial[FY_THREADS];
    unsigned t = threadIdx.x;

    T mine = 0;
    for (int64_t i = t; i < la.numel; i += FY_THREADS) mine += a[at(la, i)];
    partial[t] = mine;
    for (unsigned half = FY_THREADS / 2; half > 0; half /= 2) {
        __syncthreads(); /* nobody adds before everybody has stored */
        if (t < half) partial[t] += partial[t + half];
    }
    if (t == 0) *out = partial[0];
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    note(w, name, dim3(1), dim3(FY_THREADS));
    LAUNCH(sum<T>, 1, FY_THREADS)((const T *)w->in[0].data, flat(w->in[0].layout), (T *)w->out.data);
}

LAUNCHER(sum_f32) { launch<float>(w, "sum_f32"); }
LAUNCHER(sum_i64) { launch<int64_t>(w, "sum_i64"); }
