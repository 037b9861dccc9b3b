/* plan.c: plans a call: device, dtypes (op_dtypes.c), shapes, layouts. All mistakes of the caller are found here,
 * before anything is allocated. */
#include "composed.h"
#include "device.h"
#include "dispatch.h"
#include "error.h"
#include "make.h"
#include "op.h"
#include "run_work.h"
#include "shape.h"
#include "tensor.h"

/* The operands' tensors, NULL for numbers; returns the operand count. */
static int operands(const fy_call *c, fy_tensor **x)
{
    for (int i = 0; i < fy_ops[c->op].nin; i++) x[i] = c->in[i].is_tensor ? c->in[i].tensor : NULL;
    return fy_ops[c->op].nin;
}

int fy_argument_number(const fy_call *c, int operand)
{
    bool dim = fy_ops[c->op].dtype == FY_BY_INDEX && c->op != FY_OP_embedding;
    if (c->bias_last) return (operand + 2) % 3;
    return operand + (dim && operand > 0);
}

const char *fy_operand_name(const fy_call *c, int operand, char *buf, size_t room)
{
    const fy_tensor *x = c->in[operand].tensor;
    int i = fy_argument_number(c, operand);
    return x ? fy_argument_of(c->at, i, x, buf, room) : fy_argument(c->at, i, buf, room);
}

int fy_arguments(const fy_call *c, fy_tensor **x)
{
    int n = 0;
    memset(x, 0, FY_MAX_ARGUMENTS * sizeof *x);
    for (int i = 0; i < fy_ops[c->op].nin; i++) {
        int k = fy_argument_number(c, i);
        if (c->in[i].is_tensor) x[k] = c->in[i].tensor;
        if (k >= n) n = k + 1;
    }
    return n;
}

const char *fy_device_hint(const fy_call *c, int operand, const fy_dev *other)
{
    char name[200];
    const fy_tensor *x = c->in[operand].tensor;
    const char *to = other->number == 1 ? "cuda" : other->name;
    const fy_tensor *input = fy_composed_now.on ? fy_composed_now.input : NULL;
    if (input && x->storage->dev != input->storage->dev)
        return fy_hint("move the module: fy_module_to(%s, \"%s\")", fy_argument(c->at, 0, name, sizeof name), to);
    if (input) fy_argument_of(c->at, fy_argument_number(c, operand), input, name, sizeof name);
    else fy_operand_name(c, operand, name, sizeof name);
    return fy_hint("copy %s with fy_to(%s, \"%s\") and use the copy, or create it there with .device = \"%s\"", name,
                   name, to, to);
}

/* Ops that check their arguments in their order. */
static fy_checked checked_by(int op, int operand)
{
    switch (op) {
    case FY_OP_index_select:
    case FY_OP_embedding: return (fy_checked){"_index_select", "index"};
    case FY_OP_gather: return (fy_checked){"gather", "index"};
    case FY_OP_scatter_add: return (fy_checked){"scatter_add_", operand == 1 ? "index" : "src"};
    case FY_OP_nll_loss: return (fy_checked){"nll_loss_forward", "target"};
    default: return (fy_checked){0};
    }
}

static bool fail_device(const fy_call *c, const fy_dev *common, int stray)
{
    char words[FY_DEVICE_WORDS];
    fy_tensor *x[FY_MAX_ARGUMENTS];
    int i = 1;
    const fy_dev *first = common, *other = c->in[stray].tensor->storage->dev;
    fy_checked by = checked_by(c->op, 1);
    if (by.function) {
        first = c->in[0].tensor->storage->dev;
        while (c->in[i].tensor->storage->dev == first) i++;
        by = checked_by(c->op, i);
        other = c->in[i].tensor->storage->dev;
    }
    fy_device_words(first, other, by.function ? &by : NULL, words, sizeof words);
    return fy_fail_about(c->at, "device_mismatch", fy_device_hint(c, stray, common), fy_arguments(c, x), x, "%s",
                         words);
}

/* The first operand on a GPU decides. A 0-dim CPU tensor may be passed as a number, but not as a class or an index:
 * that must be on the device. */
static bool plan_device(const fy_call *c, fy_plan *p)
{
    fy_tensor *x[FY_MAX_INPUTS];
    int n = operands(c, x), first = -1;
    for (int i = 0; i < n; i++)
        if (x[i] && (first < 0 || (x[first]->storage->dev->number == 0 && x[i]->storage->dev->number > 0))) first = i;
    p->dev = x[first]->storage->dev;
    for (int i = 0; i < n; i++) {
        p->number[i] = !x[i];
        if (!x[i] || x[i]->storage->dev == p->dev) continue;
        if (x[i]->ndim > 0 || x[i]->storage->dev->number > 0 || !fy_op_takes_numbers(c->op))
            return fail_device(c, p->dev, i);
        p->number[i] = true;
    }
    return true;
}

/* Sizes are matched from the right; a missing one counts as 1. */
static bool broadcast_all(fy_site *at, int n, fy_tensor *const *x, fy_shape *out)
{
    *out = (fy_shape){0};
    for (int k = 0; k < n; k++) {
        const fy_shape a = *out;
        if (!x[k]) continue; /* a number */
        if (x[k]->ndim > out->ndim) out->ndim = x[k]->ndim;
        for (int i = out->ndim - 1; i >= 0; i--) {
            int ia = i - (out->ndim - a.ndim), ib = i - (out->ndim - x[k]->ndim);
            int64_t sa = ia < 0 ? 1 : a.dims[ia], sb = ib < 0 ? 1 : x[k]->shape[ib];
            out->dims[i] = sa == 1 ? sb : sa;
            if (sa == sb || sa == 1 || sb == 1) continue;
            return fy_fail_about(
                at, "shape",
                "sizes are compared from the right; each pair must be equal, or one of them 1 (fy_unsqueeze inserts a "
                "1)",
                n, x,
                "The size of tensor a (%lld) must match the size of tensor b (%lld) at non-singleton dimension %d",
                (long long)sa, (long long)sb, i);
        }
    }
    return true;
}

bool fy_broadcast(fy_site *at, fy_tensor *a, fy_tensor *b, fy_shape *out)
{
    return broadcast_all(at, 2, (fy_tensor *[]){a, b}, out);
}

/* x broadcast to shape s: stride 0 where x's size is 1 or missing. */
fy_layout fy_layout_broadcast(const fy_tensor *x, const fy_shape *s)
{
    fy_layout l = {.ndim = s->ndim, .numel = fy_shape_numel(s)};
    for (int i = 0; i < s->ndim; i++) {
        int own = i - (s->ndim - x->ndim);
        l.shape[i] = s->dims[i];
        l.strides[i] = own < 0 || (x->shape[own] == 1 && s->dims[i] != 1) ? 0 : x->strides[own];
    }
    return l;
}

/* For the result's strides PyTorch treats pow and clamp with numbers as ops of x alone, and ignores lerp's weight if it
 * is a number. */
static bool is_argument(const fy_call *c, int i)
{
    switch (c->op) {
    case FY_OP_pow:
    case FY_OP_clamp_min:
    case FY_OP_clamp_max:
    case FY_OP_clamp:
    case FY_OP_lerp: return c->in[0].is_tensor && !c->in[i].is_tensor;
    default: return false;
    }
}

/* The operand's layout after conversion to the computation's dtype: dense, with the dimensions in the same order. */
static fy_layout as_converted(const fy_call *c, const fy_plan *p, int i)
{
    const fy_tensor *x = c->in[i].tensor;
    if (x->dtype == p->takes[i] || c->op == FY_OP_cast) return p->in[i];
    fy_geometry own = fy_geometry_of(x);
    if (fy_is_dense(&own)) return p->in[i];
    fy_layout given = fy_layout_of(&own);
    fy_tensor converted = fy_tensor_described(x);
    fy_shape_follow(&own.shape, 1, &given, true, converted.strides);
    return fy_layout_broadcast(&converted, &p->result.shape);
}

/* clone and cast keep their operand's strides if it is dense. */
static bool plan_elementwise(const fy_call *c, fy_plan *p)
{
    fy_layout layouts[FY_MAX_INPUTS];
    fy_shape *s = &p->result.shape;
    bool same_shape = true;
    int n = 0, nin = fy_ops[c->op].nin;
    fy_tensor *x[FY_MAX_INPUTS] = {0};
    operands(c, x);
    if (!broadcast_all(c->at, nin, x, s)) return false;
    if (c->out && nin == 1 && !fy_broadcast(c->at, c->out, x[0], s)) return false;
    for (int i = 0; i < nin; i++) {
        int64_t *sizes = x[i] ? x[i]->shape : NULL;
        int ndim = x[i] ? x[i]->ndim : 0; /* a number has the shape () */
        bool full = ndim == s->ndim && (ndim == 0 || memcmp(sizes, s->dims, (size_t)ndim * sizeof *sizes) == 0);
        same_shape = same_shape && (full || is_argument(c, i));
        if (p->number[i]) continue;
        p->in[i] = fy_layout_broadcast(x[i], s);
        layouts[n++] = as_converted(c, p, i);
    }

    fy_geometry own = p->result;
    if (n == 1) memcpy(own.strides, layouts[0].strides, sizeof own.strides);
    if (c->row_major) fy_shape_rows(s, p->result.strides);
    else if ((c->op == FY_OP_clone || c->op == FY_OP_cast) && fy_is_dense(&own))
        memcpy(p->result.strides, own.strides, sizeof own.strides);
    else fy_shape_follow(s, n, layouts, same_shape, p->result.strides);
    return true;
}

static bool plan_given(const fy_call *c, fy_plan *p)
{
    p->result.shape = c->shape;
    if (c->strides) memcpy(p->result.strides, c->strides, (size_t)c->shape.ndim * sizeof *c->strides);
    else fy_shape_rows(&p->result.shape, p->result.strides);
    return true;
}

static bool plan_new_last(const fy_call *c, fy_plan *p)
{
    fy_tensor *x = c->in[0].tensor;
    p->result.shape = fy_geometry_of(x).shape;
    p->result.shape.dims[p->result.shape.ndim++] = c->shape.dims[0];
    fy_shape_rows(&p->result.shape, p->result.strides);
    p->in[0] = (fy_layout){.ndim = x->ndim + 1, .numel = fy_shape_numel(&p->result.shape)};
    memcpy(p->in[0].shape, p->result.shape.dims, sizeof p->in[0].shape);
    memcpy(p->in[0].strides, x->strides, (size_t)x->ndim * sizeof *x->strides);
    return true;
}

static bool plan_shape(const fy_call *c, fy_plan *p)
{
    switch (fy_ops[c->op].shape) {
    case FY_GIVEN_SHAPE: return plan_given(c, p);
    case FY_REDUCED: return fy_plan_reduced(c, p);
    case FY_ALONG:
    case FY_ROWS: return fy_plan_along(c, p);
    case FY_SPREAD_ROWS: return fy_plan_spread_rows(c, p);
    case FY_REPEATED: return fy_plan_repeated(c, p);
    case FY_INDEXED:
    case FY_GATHERED:
    case FY_SCATTERED: return fy_plan_indexed(c, p);
    case FY_COUNTED: return fy_plan_counted(c, p);
    case FY_MATRIX_PRODUCT: return fy_plan_product(c, p);
    case FY_NEW_LAST: return plan_new_last(c, p);
    case FY_BROADCAST: break;
    }
    return plan_elementwise(c, p);
}

/* PyTorch converts these numbers to the dtype. In other ops they may be larger, and the result infinite. */
static bool numbers_fit(const fy_call *c, const fy_plan *p)
{
    bool converts = c->op == FY_OP_clamp || c->op == FY_OP_clamp_min || c->op == FY_OP_clamp_max || c->op == FY_OP_pow;
    for (int i = 1; converts && i < fy_ops[c->op].nin; i++)
        if (!c->in[i].is_tensor && !fy_fits(c->at, p->dtype, c->in[i], fy_dtype_scalar(p->dtype))) return false;
    return true;
}

bool fy_plan_make(const fy_call *c, fy_plan *p)
{
    fy_tensor *x[FY_MAX_INPUTS];
    int64_t numel;
    *p = (fy_plan){.dev = c->dev};
    for (int i = 0, n = operands(c, x); i < n; i++)
        if (c->in[i].is_tensor ? !fy_check(c->at, fy_argument_number(c, i), x[i]) : !fy_number_ok(c->at, &c->in[i]))
            return false;
    bool has_device = fy_ops[c->op].shape == FY_GIVEN_SHAPE || fy_ops[c->op].shape == FY_MATRIX_PRODUCT;
    if (!has_device && !plan_device(c, p)) return false;
    if (!fy_plan_types(c, p) || !numbers_fit(c, p) || !plan_shape(c, p)) return false;
    if (!fy_shape_ok(c->at, &p->result.shape, p->result.dtype, &numel)) return false;
    if (c->out && !fy_plan_in_place(c, p)) return false;
    if (!p->out.numel && !p->out.ndim) p->out = fy_layout_of(&p->result);
    return fy_divisor_ok(c, p) && fy_index_in_range(c);
}
