/* fast_path.c: the shortest way through an op, which most calls take: on the host, element by element, operands
 * of one type and one shape, row-major. Nothing can be wrong with such a call, and its result lies as they
 * do, so that there is nothing to plan; plan.c would come to the same. */
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "event.h"
#include "op.h"
#include "run_work.h"
#include "storage.h"
#include "tensor.h"

/* The result's type, where no operand is converted and none can be refused; else unset. */
static fy_dtype plain_dtype(const fy_call *c, fy_dtype d)
{
    if (!fy_op_takes(c->op, d)) return FY_DTYPE_UNSET;
    bool divides = c->op == FY_OP_floor_divide || c->op == FY_OP_remainder; /* by 0, perhaps */
    switch (fy_ops[c->op].dtype) {
    case FY_OWN_DTYPE: return d;
    case FY_PROMOTED: return divides && !fy_dtype_is_real(d) ? FY_DTYPE_UNSET : d;
    case FY_PROMOTED_REAL: return fy_dtype_is_real(d) ? d : FY_DTYPE_UNSET;
    case FY_COMPARED: return FY_BOOL;
    default: return FY_DTYPE_UNSET;
    }
}

/* Elements of a live tensor on the host that lies row-major; 0 of others. */
static int64_t plain_numel(const fy_arg *a)
{
    const fy_tensor *x = a->tensor;
    int64_t n = 1;
    if (!a->is_tensor || !x || x->magic != FY_ALIVE || x->storage->dev->number > 0) return 0;
    for (int d = x->ndim - 1; d >= 0; d--) {
        if (x->strides[d] != n) return 0;
        if (__builtin_mul_overflow(n, x->shape[d], &n)) return 0; /* empty: a size further out is 0 */
    }
    return n;
}

static bool is_like(const fy_arg *a, const fy_tensor *x)
{
    if (plain_numel(a) == 0 || a->tensor->dtype != x->dtype || a->tensor->ndim != x->ndim) return false;
    for (int d = 0; d < x->ndim; d++)
        if (a->tensor->shape[d] != x->shape[d]) return false;
    return true;
}

bool fy_fast_plan(const fy_call *c, fy_fast_call *p)
{
    const fy_op *op = &fy_ops[c->op];
    if (op->shape != FY_BROADCAST || op->nin == 0 || c->out || c->pinned) return false;
    p->numel = plain_numel(&c->in[0]);
    if (p->numel == 0) return false;
    p->dtype = plain_dtype(c, c->in[0].tensor->dtype);
    if (p->dtype == FY_DTYPE_UNSET) return false;
    for (int i = 1; i < op->nin; i++)
        if (!is_like(&c->in[i], c->in[0].tensor)) return false;
    return true;
}

/* Only the dimensions that there are: a layout has room for many. */
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

static fy_tensor *result_like(const fy_call *c, const fy_fast_call *p, fy_storage *s)
{
    const fy_tensor *x = c->in[0].tensor;
    fy_geometry g;
    g.dtype = p->dtype;
    g.offset = 0;
    g.shape.ndim = x->ndim;
    for (int d = 0; d < x->ndim; d++) {
        g.shape.dims[d] = x->shape[d];
        g.strides[d] = x->strides[d];
    }
    return fy_tensor_make(c->at, s, &g, c->name, 0);
}

fy_tensor *fy_fast_dispatch(const fy_call *c, const fy_fast_call *p)
{
    fy_run_work w;
    fy_tensor *in[FY_MAX_INPUTS];
    fy_dev *host = c->in[0].tensor->storage->dev;
    fy_storage *s = fy_storage_make(c->at, host, (size_t)p->numel * fy_dtype_size(p->dtype));
    if (!s) return NULL;
    fy_tensor *out = result_like(c, p, s);
    for (int i = 0; i < fy_ops[c->op].nin; i++) in[i] = c->in[i].tensor;
    set_work(c, p, out, &w);
    if (fy_perform(c, host, &w, in, out)) return out;
    fy_tensor_release(c->at, out, FY_WORD_free);
    return NULL;
}
