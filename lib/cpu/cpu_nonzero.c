/* cpu_nonzero.c: nonzero and masked_select on the host, from prefix_count's counts: where the count grows, the element
 * is selected, and the count is its position. Counts are row-major. */
#include "cpu.h"
#include "dtype.h"
#include "offset.h"
#include "run_work.h"

/* The result row of element i; -1 if not selected. */
static int64_t row_of(const int64_t *count, int64_t i)
{
    int64_t before = i > 0 ? count[i - 1] : 0;
    return count[i] > before ? count[i] - 1 : -1;
}

void fy_host_nonzero(fy_run_work *w)
{
    const fy_layout *x = &w->in[0].layout, *out = &w->out.layout;
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t row = row_of(w->in[0].data, i), rest = i;
        for (int d = x->ndim - 1; row >= 0 && d >= 0; d--) {
            ((int64_t *)w->out.data)[row * out->strides[0] + d * out->strides[1]] = rest % x->shape[d];
            rest /= x->shape[d];
        }
    }
}

/* Each mask element selects `rest` contiguous elements. */
void fy_host_masked_select(fy_run_work *w)
{
    const fy_layout *x = &w->in[0].layout, *count = &w->in[1].layout, *out = &w->out.layout;
    int64_t rest = x->numel / count->numel;
    size_t size = fy_dtype_size(w->dtype);
    for (int64_t m = 0; m < count->numel; m++) {
        int64_t row = row_of(w->in[1].data, m);
        for (int64_t k = 0; row >= 0 && k < rest; k++)
            fy_move(w->out.data, fy_offset_of(out, out->ndim, row * rest + k), w->in[0].data,
                    fy_offset_of(x, x->ndim, m * rest + k), size);
    }
}
