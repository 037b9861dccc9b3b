/* cpu_index.c: index_select, embedding, gather, scatter_add and repeat on the host. Indices were checked before
 * (index_check.c). The indexed dimension comes last; the others form lines. */
#include "cpu.h"
#include "dtype.h"
#include "offset.h"
#include "run_work.h"
#include "thread_pool.h"

enum { GRAIN = 1 << 14 /* elements worth a thread */ };

static int64_t last_stride(const fy_layout *l) { return l->strides[l->ndim - 1]; }

/* Elements from..to of the result. */
static void look_up(int64_t from, int64_t to, void *work)
{
    const fy_run_work *w = work;
    const fy_layout *x = &w->in[0].layout, *index = &w->in[1].layout, *out = &w->out.layout;
    size_t size = fy_dtype_size(w->dtype);
    for (int64_t i = from; i < to; i++) {
        int64_t k = ((const int64_t *)w->in[1].data)[fy_offset_of(index, index->ndim, i % index->numel)];
        int64_t line = fy_offset_of(x, x->ndim - 1, i / index->numel);
        fy_move(w->out.data, fy_offset_of(out, out->ndim, i), w->in[0].data, line + k * last_stride(x), size);
    }
}

void fy_host_index_select(fy_run_work *w) { fy_thread_pool_run(w->out.layout.numel, GRAIN, look_up, w); }
void fy_host_embedding(fy_run_work *w) { fy_thread_pool_run(w->out.layout.numel, GRAIN, look_up, w); }

static void gather(int64_t from, int64_t to, void *work)
{
    const fy_run_work *w = work;
    const fy_layout *x = &w->in[0].layout, *index = &w->in[1].layout, *out = &w->out.layout;
    int64_t length = index->shape[index->ndim - 1];
    size_t size = fy_dtype_size(w->dtype);
    for (int64_t i = from; i < to; i++) {
        int64_t k = ((const int64_t *)w->in[1].data)[fy_offset_of(index, index->ndim, i)];
        int64_t line = fy_offset_of(x, x->ndim - 1, i / length);
        fy_move(w->out.data, fy_offset_of(out, out->ndim, i), w->in[0].data, line + k * last_stride(x), size);
    }
}

void fy_host_gather(fy_run_work *w) { fy_thread_pool_run(w->out.layout.numel, GRAIN, gather, w); }

/* to[i] += from[k]: 16-bit floats are rounded, integers wrap around, bool is a logical or. */
static void add_to(fy_dtype d, void *to, int64_t i, const void *from, int64_t k)
{
    switch (d) {
    case FY_FLOAT32: ((float *)to)[i] += ((const float *)from)[k]; break;
    case FY_FLOAT64: ((double *)to)[i] += ((const double *)from)[k]; break;
    case FY_INT64: ((uint64_t *)to)[i] += ((const uint64_t *)from)[k]; break;
    case FY_INT32: ((uint32_t *)to)[i] += ((const uint32_t *)from)[k]; break;
    case FY_UINT8: ((uint8_t *)to)[i] = (uint8_t)(((uint8_t *)to)[i] + ((const uint8_t *)from)[k]); break;
    case FY_BOOL: ((uint8_t *)to)[i] = ((uint8_t *)to)[i] != 0 || ((const uint8_t *)from)[k] != 0; break;
    default: fy_number_put(d, to, i, fy_arg_real((float)fy_real_at(d, to, i) + (float)fy_real_at(d, from, k)));
    }
}

/* Lines from..to, each in the index's order. */
static void scatter(int64_t from, int64_t to, void *work)
{
    const fy_run_work *w = work;
    const fy_layout *x = &w->in[0].layout, *index = &w->in[1].layout, *src = &w->in[2].layout;
    int64_t length = index->shape[index->ndim - 1];
    for (int64_t i = from * length; i < to * length; i++) {
        int64_t k = ((const int64_t *)w->in[1].data)[fy_offset_of(index, index->ndim, i)];
        int64_t line = fy_offset_of(x, x->ndim - 1, i / length);
        add_to(w->dtype, w->out.data, line + k * last_stride(x), w->in[2].data, fy_offset_of(src, src->ndim, i));
    }
}

void fy_host_scatter_add(fy_run_work *w)
{
    const fy_layout *index = &w->in[1].layout;
    int64_t length = index->shape[index->ndim - 1];
    fy_thread_pool_run(index->numel / length, GRAIN / length + 1, scatter, w);
}

/* ---- repeat: each index of the result is counted within the operand's size ------------------------------------ */

static void repeat(int64_t from, int64_t to, void *work)
{
    const fy_run_work *w = work;
    const fy_layout *x = &w->in[0].layout, *out = &w->out.layout;
    size_t size = fy_dtype_size(w->dtype);
    for (int64_t i = from; i < to; i++) {
        int64_t place = 0, rest = i;
        for (int d = out->ndim - 1; d >= 0; d--) {
            place += rest % out->shape[d] % x->shape[d] * x->strides[d];
            rest /= out->shape[d];
        }
        fy_move(w->out.data, i, w->in[0].data, place, size);
    }
}

void fy_host_repeat(fy_run_work *w) { fy_thread_pool_run(w->out.layout.numel, GRAIN, repeat, w); }
