/* nll_loss.cu: out = minus the log-probability of each row's class; one thread per row. Label smoothing moves part of
 * the weight to the mean over all classes. Rows of class -100 are ignored and give 0. */
#include "reduce.h"

enum { LEFT_OUT = -100 }; /* PyTorch's ignore_index */

template <typename T>
__global__ void nll_loss(const T *a, fy_layout rows, fy_layout row, const int64_t *target, fy_layout lt,
                         total<T> smoothing, T *out, fy_layout lo, fy_blame blame)
{
    int64_t r = thread_number();
    if (r >= lo.numel) return;
    int64_t target_class = target[at(lt, r)], classes = row.numel;
    total<T> loss = 0, all = 0;
    if (target_class != LEFT_OUT) {
        ASSERT(blame, target_class >= 0 && target_class < classes);
        a += at(rows, r);
        for (int64_t c = 0; c < classes && smoothing != 0; c++) all -= wide(a[at(row, c)]);
        loss = -wide(a[at(row, target_class)]);
        if (smoothing != 0) loss = (1 - smoothing) * loss + smoothing * all / (total<T>)classes;
    }
    put(&out[at(lo, r)], loss);
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    fy_layout lo = flat(w->out.layout);
    dim3 grid = grid_for(w, name, lo.numel);
    LAUNCH(nll_loss<T>, grid, FY_THREADS)
    ((const T *)w->in[0].data, kept_of(w), gone_of(w), (const int64_t *)w->in[1].data, flat(w->in[1].layout),
     (total<T>)w->real[FY_NLL_LOSS_smoothing], (T *)w->out.data, lo, BLAME(w));
}

LAUNCHER(nll_loss)
{
    FOR_REALS("nll_loss", launch<T>(w, name))
}
