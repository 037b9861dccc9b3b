/* fast_path.c: the common case: an elementwise op on the host over row-major operands of one type and shape. Such a
 * call cannot fail a check and its result has the operands' layout; plan.c would decide the same, only slower. */
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "event.h"
#include "op.h"
#include "run_work.h"
#include "storage.h"
#include "tensor.h"

/* The result's dtype if no operand needs conversion and the op accepts it; else unset. */
static fy_dtype fast_dtype(const fy_call *c, fy_dtype d)
{
    if (!fy_op_takes(c->op, d)) return FY_DTYPE_UNSET;
    bool divides = c->op == FY_OP_floor_divide || c->op == FY_OP_remainder; /* a divisor may be 0 */
    switch (fy_ops[c->op].dtype) {
    case FY_OWN_DTYPE: return d;
    case FY_PROMOTED: return divides && !fy_dtype_is_real(d) ? FY_DTYPE_UNSET : d;
    case FY_PROMOTED_REAL: return fy_dtype_is_real(d) ? d : FY_DTYPE_UNSET;
    case FY_COMPARED: return FY_BOOL;
    default: return FY_DTYPE_UNSET;
    }
}

/* Elements of a live row-major tensor on the host; 0 for any other. */
static int64_t fast_numel(const fy_arg *a)
{
    const fy_tensor *x = a->tensor;
    int64_t n = 1;
    if (!a->is_tensor || !x || x->magic != FY_ALIVE || x->storage->dev->number > 0) return 0;
    for (int d = x->ndim - 1; d >= 0; d--) {
        if (x->strides[d] != n) return 0;
        if (__builtin_mul_overflow(n, x->shape[d], &n)) return 0; /* overflow is possible only if another size is 0 */
    }
    return n;
}

static bool is_like(const fy_arg *a, const fy_tensor *x)
{
    if (fast_numel(a) == 0 || a->tensor->dtype != x->dtype || a->tensor->ndim != x->ndim) return false;
    for (int d = 0; d < x->ndim; d++)
        if (a->tensor->shape[d] != x->shape[d]) return false;
    return true;
}

bool fy_fast_plan(const fy_call *c, fy_fast_call *p)
{
    const fy_op *op = &fy_ops[c->op];
    if (op->shape != FY_BROADCAST || op->nin == 0 || c->out || c->pinned) return false;
    p->numel = fast_numel(&c->in[0]);
    if (p->numel == 0) return false;
    p->dtype = fast_dtype(c, c->in[0].tensor->dtype);
    if (p->dtype == FY_DTYPE_UNSET) return false;
    for (int i = 1; i < op->nin; i++)
        if (!is_like(&c->in[i], c->in[0].tensor)) return false;
    return true;
}

/* Copies ndim entries, not FY_MAX_DIMS, as nothing here is zeroed that is not read. */
static void set_operand(fy_operand *o, const fy_tensor *x, int64_t numel)
{
    o->data = fy_first_element(x);
    o->dtype = x->dtype;
    o->layout.ndim = x->ndim;
    o->layout.pad_ = 0;
    o->layout.numel = numel;
    for (int d = 0; d < x->ndim; d++) {
        o->layout.shape[d] = x->shape[d];
        o->layout.strides[d] = x->strides[d];
    }
}

static void set_work(const fy_call *c, const fy_fast_call *p, const fy_tensor *out, fy_run_work *w)
{
    w->op = c->op;
    w->nin = fy_ops[c->op].nin;
    w->dtype = c->in[0].tensor->dtype;
    w->reduced = 0;
    memcpy(w->real, c->real, sizeof w->real);
    memcpy(w->integer, c->integer, sizeof w->integer);
    for (int i = 0; i < w->nin; i++) set_operand(&w->in[i], c->in[i].tensor, p->numel);
    set_operand(&w->out, out, p->numel);
    w->kernel = w->blas = NULL;
    memset(w->grid, 0, sizeof w->grid);
    memset(w->block, 0, sizeof w->block);
    fy_op_cost(w);
}

fy_tensor *fy_fast_dispatch(const fy_call *c, const fy_fast_call *p)
{
    fy_run_work w;
    fy_geometry g; /* not zeroed: this path is hot */
    fy_tensor *in[FY_MAX_INPUTS];
    const fy_tensor *x = c->in[0].tensor;
    fy_dev *host = x->storage->dev;
    fy_storage *s = fy_storage_make(c->at, host, (size_t)p->numel * fy_dtype_size(p->dtype));
    if (!s) return NULL;
    g.dtype = p->dtype;
    g.offset = 0;
    g.shape.ndim = x->ndim;
    for (int d = 0; d < x->ndim; d++) {
        g.shape.dims[d] = x->shape[d];
        g.strides[d] = x->strides[d];
    }
    fy_tensor *out = fy_tensor_make(c->at, s, &g, c->name, 0, false);
    for (int i = 0; i < fy_ops[c->op].nin; i++) in[i] = c->in[i].tensor;
    set_work(c, p, out, &w);
    if (fy_perform(c, host, &w, in, out)) return out;
    fy_tensor_release(c->at, out, FY_WORD_free);
    return NULL;
}
