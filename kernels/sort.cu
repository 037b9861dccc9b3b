/* sort.cu: the order of the elements of each line, as their indices: a bitonic sort.
 *
 * It compares pairs of positions, all in parallel, in steps; each step is a launch, since all pairs must be done before
 * the next. After the steps of size 2, 4, 8 ... each block of 2, 4, 8 ... neighbours is sorted:
 *
 *      size 4:   0 1 2 3      first each with its mirror image: 0-3, 1-2
 *                0 1 | 2 3    then each with the one half a block further: 0-1, 2-3
 *
 * The smaller element always goes to the front, so positions beyond the end of a line count as larger than all
 * elements: a pair that reaches beyond the end is skipped, and a line may have any length. Equal elements are ordered
 * by their index, so the sort is stable. */
#include "kernel.h"

/* Does x, which was at i, come before y, which was at j? A NaN is larger than all numbers. */
template <typename W> __device__ inline bool comes_before(W x, int64_t i, W y, int64_t j, bool descending)
{
    bool smaller = x == x && (y != y || x < y), larger = y == y && (x != x || y < x);
    return descending ? larger || (!smaller && i < j) : smaller || (!larger && i < j);
}

__global__ void count_up(int64_t *out, fy_layout_arg lo, int64_t length)
{
    int64_t i = thread_number();
    if (i < lo.numel) out[at(lo, i)] = i % length;
}

enum { SHARE = 8 }; /* pairs per thread, if there are that many */

/* The second of a pair is the mirror image of the first in its block of 2 * half, or `half` further. half is 2^shift,
 * so that only several lines need a division. */
template <typename T>
__global__ void order_pairs(const T *a, fy_layout_arg lines, int64_t step, int64_t *out, fy_layout_arg out_lines,
                            int64_t out_step, int64_t length, int64_t pairs, int shift, bool mirror, bool descending)
{
    int64_t half = (int64_t)1 << shift, threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = thread_number(); i < lines.numel * pairs; i += threads) {
        int64_t line = lines.numel > 1 ? i / pairs : 0, pair = i - line * pairs, block = pair >> shift << (shift + 1);
        int64_t within = pair & (half - 1), first = block + within;
        int64_t second = mirror ? block + 2 * half - 1 - within : first + half;
        if (second >= length) continue;
        const T *own = a + at(lines, line);
        int64_t *x = out + at(out_lines, line) + first * out_step, *y = out + at(out_lines, line) + second * out_step;
        int64_t at_x = *x, at_y = *y;
        if (comes_before(wide(load(&own[at_y * step])), at_y, wide(load(&own[at_x * step])), at_x, descending)) {
            *x = at_y;
            *y = at_x;
        }
    }
}

static inline fy_layout all_but_last(const fy_layout &l)
{
    fy_layout lines = l;
    lines.numel = 1;
    lines.ndim = l.ndim - 1;
    for (int d = 0; d < lines.ndim; d++) lines.numel *= l.shape[d];
    return flat(lines);
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    const fy_layout &l = w->in[0].layout, &lo = w->out.layout;
    int64_t length = l.shape[l.ndim - 1], step = l.strides[l.ndim - 1], out_step = lo.strides[lo.ndim - 1];
    fy_layout lines = all_but_last(l), out_lines = all_but_last(lo);
    bool descending = w->integer[FY_ARGSORT_descending] != 0;
    int64_t *out = (int64_t *)w->out.data;
    dim3 grid = grid_for(w, name, lo.numel);
    LAUNCH(count_up, grid, FY_THREADS)(out, flat(lo), length);
    for (int power = 0; (int64_t)1 << power < length; power++)
        for (int shift = power; shift >= 0; shift--) {
            int64_t block = (int64_t)2 << shift, pairs = (length + block - 1) / block * (block / 2);
            dim3 of_pairs((unsigned)((lines.numel * pairs + SHARE * FY_THREADS - 1) / (SHARE * FY_THREADS)));
            LAUNCH(order_pairs<T>, of_pairs, FY_THREADS)
            ((const T *)w->in[0].data, lines, step, out, out_lines, out_step, length, pairs, shift, shift == power,
             descending);
        }
}

LAUNCHER(argsort)
{
    FOR_ALL("argsort", launch<T>(w, name))
}
