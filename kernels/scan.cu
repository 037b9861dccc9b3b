/* scan.cu: prefix sums along lines: of the elements (cumsum), or of how many are nonzero (prefix_count).
 *
 * A short line is one thread's work. A longer one is shared by a block: each thread sums a stretch, the first thread
 * turns those sums into the stretches' starting values, and each thread scans its stretch again from there. */
#include "reduce.h"

namespace {

template <typename T> struct adding {
    using element = T;
    using result = T;
    using number = total<T>;
    MEMBER number of(T x) { return (number)wide(x); }
};

template <typename T> struct counting {
    using element = T;
    using result = int64_t;
    using number = int64_t;
    MEMBER number of(T x) { return wide(x) != 0; }
};

} /* namespace */

/* Scans elements from..to of a line from a starting value; returns the end value. Stores results if out is given. */
template <typename F>
__device__ inline typename F::number scan_part(const typename F::element *a, const fy_layout &la, int64_t from,
                                               int64_t to, typename F::number sum, typename F::result *out,
                                               const fy_layout &lo)
{
    for (int64_t i = from; i < to; i++) {
        sum = sum_of(sum, F::of(load(&a[at(la, i)])));
        if (out) put_total(&out[at(lo, i)], sum);
    }
    return sum;
}

template <typename F>
__global__ void scan_by_thread(const typename F::element *a, fy_layout_arg lines, fy_layout_arg line, typename F::result *out,
                               fy_layout_arg out_lines, fy_layout_arg out_line)
{
    int64_t k = thread_number();
    if (k < lines.numel)
        scan_part<F>(a + at(lines, k), line, 0, line.numel, 0, out + at(out_lines, k), out_line);
}

template <typename F>
__global__ void scan_by_block(const typename F::element *a, fy_layout_arg lines, fy_layout_arg line, typename F::result *out,
                              fy_layout_arg out_lines, fy_layout_arg out_line)
{
    typename F::number *part = one_per_thread<typename F::number>();
    int64_t share = (line.numel + FY_THREADS - 1) / FY_THREADS, from = threadIdx.x * share, to = from + share;
    if (to > line.numel) to = line.numel;
    for (int64_t k = blockIdx.x; k < lines.numel; k += gridDim.x) {
        const typename F::element *own = a + at(lines, k);
        part[threadIdx.x] = scan_part<F>(own, line, from, to, 0, NULL, out_line);
        __syncthreads(); /* all stretches are summed */
        typename F::number before = 0;
        for (unsigned t = 0; threadIdx.x == 0 && t < FY_THREADS; t++) {
            typename F::number mine = part[t];
            part[t] = before;
            before = sum_of(before, mine);
        }
        __syncthreads(); /* all starting values are stored */
        scan_part<F>(own, line, from, to, part[threadIdx.x], out + at(out_lines, k), out_line);
        __syncthreads(); /* this line is done before the shared sums are overwritten */
    }
}

template <typename F> static void launch(fy_run_work *w, const char *name)
{
    fy_layout lines = kept_of(w), line = gone_of(w), lo = w->out.layout;
    fy_layout out_lines = part_of(lo, 0, lo.ndim - w->reduced), out_line = part_of(lo, lo.ndim - w->reduced, lo.ndim);
    const typename F::element *a = (const typename F::element *)w->in[0].data;
    typename F::result *out = (typename F::result *)w->out.data;
    if (line.numel > FEW) {
        dim3 grid = grid_of_blocks(w, name, lines.numel);
        LAUNCH(scan_by_block<F>, grid, FY_THREADS)(a, lines, line, out, out_lines, out_line);
    } else {
        dim3 grid = grid_for(w, name, lines.numel);
        LAUNCH(scan_by_thread<F>, grid, FY_THREADS)(a, lines, line, out, out_lines, out_line);
    }
}

LAUNCHER(cumsum)
{
    FOR_ALL("cumsum", launch<adding<T>>(w, name))
}
LAUNCHER(prefix_count)
{
    FOR_ALL("prefix_count", launch<counting<T>>(w, name))
}
