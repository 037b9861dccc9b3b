/* cpu_loss.c: the negative log likelihood of each row's class, on the host. */
#include "dtype.h"
#include "op.h"
#include "run_work.h"

/* Offset of row i in a layout without the class dimension, or with it last (at class 0). */
static int64_t row_offset(const fy_layout *l, const fy_layout *rows, int64_t i)
{
    int64_t offset = 0;
    for (int d = rows->ndim - 1; d >= 0; d--) {
        offset += i % rows->shape[d] * l->strides[d];
        i /= rows->shape[d];
    }
    return offset;
}

/* (1 - smoothing) * the class's loss + smoothing * the mean of all classes' losses. */
static double loss_of(const fy_run_work *w, int64_t at, int64_t class)
{
    const fy_operand *x = &w->in[0];
    int64_t classes = x->layout.shape[x->layout.ndim - 1], step = x->layout.strides[x->layout.ndim - 1];
    double own = -fy_real_at(x->dtype, x->data, at + class * step), sum = 0;
    if (w->real[FY_NLL_LOSS_smoothing] == 0) return own;
    for (int64_t c = 0; c < classes; c++) sum -= fy_real_at(x->dtype, x->data, at + c * step);
    return (1 - w->real[FY_NLL_LOSS_smoothing]) * own + w->real[FY_NLL_LOSS_smoothing] * sum / (double)classes;
}

/* Classes were checked before (loss_check.c). */
void fy_host_nll_loss(fy_run_work *w)
{
    const fy_layout *rows = &w->out.layout;
    for (int64_t i = 0; i < rows->numel; i++) {
        int64_t class = ((const int64_t *)w->in[1].data)[row_offset(&w->in[1].layout, rows, i)];
        double loss = class == FY_IGNORE_INDEX ? 0 : loss_of(w, row_offset(&w->in[0].layout, rows, i), class);
        fy_number_put(w->out.dtype, w->out.data, row_offset(rows, rows, i), fy_arg_real(loss));
    }
}
