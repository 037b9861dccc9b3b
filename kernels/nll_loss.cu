/* nll_loss.cu: out = minus the log-probability of each row's class; one thread per row. Label smoothing moves part of
 * the weight to the mean over all classes. Rows of class -100 are ignored and give 0. */
#include "reduce.h"

enum { LEFT_OUT = -100 }; /* PyTorch's ignore_index */

template <typename T>
__global__ void nll_loss(const T *a, fy_layout_arg rows, fy_layout_arg row, const int64_t *target, fy_layout_arg lt,
                         total<T> smoothing, T *out, fy_layout_arg lo, fy_blame blame)
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

/* The gradient: each row's thread writes the row, minus the loss's gradient at the class and 0 elsewhere; with
 * smoothing, its share everywhere. */
template <typename T>
__global__ void nll_loss_backward(const T *gradient, fy_layout_arg lg, const int64_t *target, fy_layout_arg lt,
                                  total<T> smoothing, T *out, fy_layout_arg rows, fy_layout_arg row)
{
    int64_t r = thread_number();
    if (r >= rows.numel) return;
    int64_t target_class = target[at(lt, r)], classes = row.numel;
    total<T> g = wide(gradient[at(lg, r)]), share = -smoothing * g / (total<T>)classes;
    bool ignored = target_class == LEFT_OUT;
    out += at(rows, r);
    for (int64_t c = 0; c < classes; c++)
        put(&out[at(row, c)], ignored ? (total<T>)0 : share - (c == target_class ? (1 - smoothing) * g : 0));
}

template <typename T> static void launch_backward(fy_run_work *w, const char *name)
{
    int last = w->out.layout.ndim - 1;
    fy_layout rows = part_of(w->out.layout, 0, last), row = part_of(w->out.layout, last, last + 1);
    dim3 grid = grid_for(w, name, rows.numel);
    LAUNCH(nll_loss_backward<T>, grid, FY_THREADS)
    ((const T *)w->in[0].data, w->in[0].layout, (const int64_t *)w->in[1].data, w->in[1].layout,
     (total<T>)w->real[FY_NLL_LOSS_BACKWARD_smoothing], (T *)w->out.data, rows, row);
}

LAUNCHER(nll_loss_backward)
{
    FOR_REALS("nll_loss_backward", launch_backward<T>(w, name))
}
