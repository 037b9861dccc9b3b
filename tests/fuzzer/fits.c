/* fits.c: see fits.h. */
#include <math.h>

#include "dtype.h"
#include "fits.h"
#include "memory.h"
#include "op.h"
#include "run.h"
#include "shape.h"
#include "tensor.h"

fy_tensor *host_operand(const step *s, int i)
{
    return i < s->n && is_live(s->in[i]) ? worlds[HOST_WORLD].slot[s->in[i]] : NULL;
}

/* The rule of plan.c: a 0-dim tensor on the CPU may be combined with tensors on the card. */
static bool devices_match(const step *s, bool strict)
{
    bool card = false, stray = false;
    for (int i = 0; i < s->n; i++) card |= is_live(s->in[i]) && is_on_card(s->in[i]);
    for (int i = 0; i < s->n; i++)
        stray |= is_live(s->in[i]) && !is_on_card(s->in[i]) &&
                 (strict || fy_dim(host_operand(s, i)) > 0 || (i == 0 && is_in_place(s)));
    return !card || !stray;
}

bool has_device_conflict(const step *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->in[i] == NO_TENSOR && !is_optional(s, i)) return false; /* NULL operands return NULL without an error */
    switch (call_of(s)->kind) {
    case TWO:
    case THREE:
    case ALPHA:
    case VALUE:
    case CLOSE:
    case MSE: return !devices_match(s, false);
    case PREDICATE:
        if (is_named(s, "allclose")) return !devices_match(s, false);
        return !devices_match(s, true);
    case MASK_FILL:
    case PRODUCT:
    case ADDMM:
    case LINEAR:
    case CROSS_ENTROPY:
    case BY_INDEX:
    case MASKED:
    case LAYER_NORM:
    case JOIN: return !devices_match(s, true);
    default: break;
    }
    if (call_of(s)->kind == CUDA) return false;
    return is_named(s, "pin_memory") && is_live(s->in[0]) && is_on_card(s->in[0]);
}

static bool broadcast(const fy_tensor *a, const fy_tensor *b, fy_shape *out)
{
    out->ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    for (int i = 0; i < out->ndim; i++) {
        int ia = i - (out->ndim - a->ndim), ib = i - (out->ndim - b->ndim);
        int64_t x = ia < 0 ? 1 : a->shape[ia], y = ib < 0 ? 1 : b->shape[ib];
        if (x != y && x != 1 && y != 1) return false;
        out->dims[i] = x == 1 ? y : x;
    }
    return fy_shape_numel(out) <= MAX_ELEMENTS;
}

bool has_shape_of(const fy_tensor *x, const fy_shape *s)
{
    return x->ndim == s->ndim && memcmp(x->shape, s->dims, (size_t)s->ndim * sizeof(int64_t)) == 0;
}

bool is_writable(const fy_tensor *x)
{
    for (int d = 0; d < x->ndim; d++)
        if (x->strides[d] == 0 && x->shape[d] > 1) return false;
    return true;
}

static bool is_dim(int64_t dim, int n) { return dim >= -(n ? n : 1) && dim < (n ? n : 1); }

int64_t place_of(const fy_tensor *x, int64_t i)
{
    int64_t place = x->offset;
    for (int d = x->ndim - 1; d >= 0; d--) {
        place += i % x->shape[d] * x->strides[d];
        i /= x->shape[d];
    }
    return place;
}

const unsigned char *element_of(const fy_tensor *x, int64_t i)
{
    return (const unsigned char *)x->storage->data + place_of(x, i) * (int64_t)fy_dtype_size(x->dtype);
}

static bool has_zero(const step *s, int i)
{
    fy_tensor *x = host_operand(s, i);
    if (!x) return s->number.real == 0;
    for (int64_t k = 0; k < fy_numel(x); k++)
        if (fy_real_at(x->dtype, element_of(x, k), 0) == 0) return true;
    return false;
}

bool is_mask(const step *s, int i) { return host_operand(s, i) && host_operand(s, i)->dtype == FY_BOOL; }

/* The dtype rules of operations on two operands. */
static bool types_fit(const step *s, fy_dtype *result)
{
    int op = op_of(s);
    fy_arg x[2] = {argument(&worlds[HOST_WORLD], s, 0), argument(&worlds[HOST_WORLD], s, 1)};
    fy_dtype d = fy_result_of(2, x);
    if (fy_ops[op].dtype == FY_PROMOTED_REAL && !fy_dtype_is_real(d)) d = FY_FLOAT32;
    *result = fy_ops[op].dtype == FY_COMPARED ? FY_BOOL : d;
    if (!fy_op_takes(op, d)) return false;
    if (op == FY_OP_sub && (is_mask(s, 0) || is_mask(s, 1))) return false;
    if ((op == FY_OP_floor_divide || op == FY_OP_remainder) && !fy_dtype_is_real(d) && has_zero(s, 1)) return false;
    if (op == FY_OP_pow && !fy_dtype_is_real(d) && !host_operand(s, 1) && s->number.integer < 0) return false;
    if (call_of(s)->kind == ALPHA && !s->value[0].is_int && !fy_dtype_is_real(d)) return false;
    return true;
}

static bool two_fit(const step *s)
{
    fy_tensor *a = host_operand(s, 0), *b = host_operand(s, 1);
    fy_shape shape;
    fy_dtype result;
    if ((!a && !b) || !devices_match(s, false) || !types_fit(s, &result)) return false;
    if (!is_in_place(s)) return !a || !b || broadcast(a, b, &shape);
    if (!a || !is_writable(a) || !fy_can_cast(result, a->dtype)) return false;
    if (!b) return true;
    return broadcast(a, b, &shape) && has_shape_of(a, &shape) && (a == b || a->storage != b->storage);
}

/* The operands' broadcast shape; false: none. */
static bool all_broadcast(const step *s, fy_shape *shape)
{
    fy_tensor none = {.shape = {0}};
    *shape = (fy_shape){0};
    for (int i = 0; i < s->n; i++) {
        for (int d = 0; d < shape->ndim; d++) none.shape[d] = shape->dims[d];
        none.ndim = shape->ndim;
        if (host_operand(s, i) && !broadcast(&none, host_operand(s, i), shape)) return false;
    }
    return true;
}

/* lerp takes one dtype, and tensors as the first two operands; clamp takes two numbers or two tensors as bounds. */
static bool kinds_fit(const step *s)
{
    fy_tensor *a = host_operand(s, 0), *b = host_operand(s, 1), *c = host_operand(s, 2);
    if (is_named(s, "clamp")) return a && !b == !c;
    return !is_named(s, "lerp") || (a && b && a->dtype == b->dtype && (!c || c->dtype == a->dtype));
}

static bool three_fit(const step *s)
{
    const fy_op *op = &fy_ops[op_of(s)];
    bool chosen = op->dtype == FY_CHOSEN;
    fy_arg x[3];
    fy_shape shape;
    for (int i = 0; i < 3; i++) x[i] = argument(&worlds[HOST_WORLD], s, i);
    if (!all_broadcast(s, &shape) || !devices_match(s, false) || (chosen && !is_mask(s, 0))) return false;
    return kinds_fit(s) && fy_op_takes(op_of(s), fy_result_of(3 - chosen, x + chosen));
}

/* May the first operand be written? */
static bool target_fits(const step *s, const fy_shape *shape)
{
    fy_tensor *a = host_operand(s, 0);
    for (int i = 1; i < s->n; i++)
        if (host_operand(s, i) != a && host_operand(s, i)->storage == a->storage) return false;
    return is_writable(a) && has_shape_of(a, shape);
}

static bool value_fits(const step *s)
{
    fy_arg x[3];
    fy_shape shape;
    for (int i = 0; i < 3; i++) x[i] = argument(&worlds[HOST_WORLD], s, i);
    fy_dtype d = fy_result_of(3, x);
    if (!all_broadcast(s, &shape) || !devices_match(s, false) || !fy_op_takes(op_of(s), d)) return false;
    if (!fy_dtype_is_real(d) && fabs(s->value[0].real) > 255) return false;
    return !is_in_place(s) || (target_fits(s, &shape) && fy_can_cast(d, host_operand(s, 0)->dtype));
}

static bool mask_fits(const step *s)
{
    fy_shape shape;
    fy_dtype d = host_operand(s, 0)->dtype;
    if (!is_mask(s, 1) || !all_broadcast(s, &shape) || !devices_match(s, true)) return false;
    if (!(fabs(s->value[0].real) <= (fy_dtype_is_real(d) ? 60000 : 255))) return false;
    return !is_in_place(s) || target_fits(s, &shape);
}

static bool one_fits(const step *s)
{
    fy_tensor *x = host_operand(s, 0);
    int op = op_of(s);
    fy_dtype d = x->dtype;
    if (fy_ops[op].dtype == FY_PROMOTED_REAL && !fy_dtype_is_real(d)) d = FY_FLOAT32;
    if (!fy_op_takes(op, d)) return false;
    return !is_in_place(s) || (is_writable(x) && fy_can_cast(d, x->dtype));
}

static bool dims_fit(const fy_shape *dims, int n)
{
    bool used[FY_MAX_DIMS] = {0};
    for (int i = 0; i < dims->ndim; i++) {
        if (!is_dim(dims->dims[i], n)) return false;
        int64_t d = dims->dims[i] < 0 ? dims->dims[i] + (n ? n : 1) : dims->dims[i];
        if (used[d]) return false;
        used[d] = true;
    }
    return true;
}

static bool reduction_fits(const step *s)
{
    fy_tensor *x = host_operand(s, 0);
    int op = op_of(s);
    fy_dtype d = s->dtype ? s->dtype : x->dtype;
    bool extreme = op == FY_OP_max || op == FY_OP_min || op == FY_OP_argmax || op == FY_OP_argmin;
    if (!dims_fit(&s->shape, x->ndim) || !fy_op_takes(op, d)) return false;
    if (op == FY_OP_norm && (!fy_op_takes(op, x->dtype) || fy_promote_types(x->dtype, d) != d)) return false;
    if (op == FY_OP_norm && fy_numel(x) == 0 && s->values && !(s->value[0].real >= 0 && s->value[0].real < 9))
        return false;
    if (extreme && (s->shape.ndim > 1 || fy_numel(x) == 0)) return false;
    if (s->dtype && fy_ops[op].dtype != FY_TOTAL && fy_ops[op].dtype != FY_REAL_ONLY) return false;
    return !s->indices || (s->shape.ndim == 1 && (op == FY_OP_max || op == FY_OP_min) && x->dtype != FY_BOOL);
}

static bool join_fits(const step *s)
{
    bool stack = is_named(s, "stack");
    fy_tensor *x = host_operand(s, 0);
    int64_t dim = s->at[0], total = 0;
    if (!devices_match(s, true) || (stack && x->ndim == FY_MAX_DIMS) || (!stack && x->ndim == 0)) return false;
    if (!is_dim(dim, x->ndim + stack)) return false;
    if (dim < 0) dim += x->ndim + stack;
    for (int i = 0; i < s->n; i++) {
        fy_tensor *y = host_operand(s, i);
        total += fy_numel(y);
        if (y->ndim != x->ndim) return false;
        for (int d = 0; d < x->ndim; d++)
            if ((stack || d != dim) && x->shape[d] != y->shape[d]) return false;
    }
    return total <= MAX_ELEMENTS;
}

static bool copy_fits(const step *s)
{
    fy_tensor *a = host_operand(s, 0), *b = host_operand(s, 1);
    fy_shape shape;
    return is_writable(a) && broadcast(a, b, &shape) && has_shape_of(a, &shape) && a->storage != b->storage;
}

static bool part_fits(const step *s)
{
    fy_tensor *x = host_operand(s, 0);
    const int64_t *at = s->at;
    int n = x->ndim;
    if (is_named(s, "flatten") || is_named(s, "transpose")) {
        int64_t a = at[0] < 0 ? at[0] + (n ? n : 1) : at[0], b = at[1] < 0 ? at[1] + (n ? n : 1) : at[1];
        return is_dim(at[0], n) && is_dim(at[1], n) && (a <= b || is_named(s, "transpose"));
    }
    if (n == 0 || !is_dim(at[0], n)) return false;
    int64_t size = x->shape[at[0] < 0 ? at[0] + n : at[0]];
    if (is_named(s, "select")) return at[1] >= -size && at[1] < size;
    if (is_named(s, "slice")) return at[3] > 0;
    return at[1] >= 0 && at[2] >= 0 && at[1] + at[2] <= size;
}

static bool losses_fit(const step *s)
{
    fy_tensor *a = host_operand(s, 0), *b = host_operand(s, 1);
    fy_shape shape;
    fy_dtype result = fy_promote_types(a->dtype, b->dtype);
    return call_of(s)->kind == CROSS_ENTROPY ||
           (devices_match(s, false) && broadcast(a, b, &shape) && fy_dtype_is_real(result) &&
            fy_dtype_is_real(a->dtype) && fy_dtype_is_real(b->dtype));
}

static bool order_fits(const step *s)
{
    fy_tensor *x = host_operand(s, 0);
    if (!is_dim(s->at[0], x->ndim) || (is_named(s, "cumsum") && s->dtype == FY_BOOL)) return false;
    int64_t size = x->ndim ? x->shape[s->at[0] < 0 ? s->at[0] + x->ndim : s->at[0]] : 1;
    return !is_named(s, "topk") || (s->at[1] >= 0 && s->at[1] <= size && x->dtype != FY_BOOL);
}

static bool close_fits(const step *s)
{
    fy_shape shape;
    bool equal = is_named(s, "equal");
    return devices_match(s, equal) &&
           (equal || (host_operand(s, 0)->dtype == host_operand(s, 1)->dtype && all_broadcast(s, &shape)));
}

/* uniform_, normal_ and bernoulli_ write into x; uniform_'s bounds and their distance are in the range of its dtype. */
static bool draw_fits(const step *s)
{
    fy_tensor *x = host_operand(s, 0);
    double a = s->value[0].real, b = s->value[1].real, most = max_finite[x->dtype];
    if (!fy_dtype_is_real(x->dtype) || (is_in_place(s) && !is_writable(x))) return false;
    if (is_named(s, "normal_")) return b >= 0;
    if (is_named(s, "uniform_")) return a <= b && a >= -most && b <= most && b - a <= most;
    return a >= 0 && a <= 1;
}

bool fits(const step *s)
{
    fy_tensor *x = host_operand(s, 0);
    call_kind k = call_of(s)->kind;
    if (k < ONE || k == DEVICE) return true;
    for (int i = 0; i < s->n; i++)
        if (s->in[i] != NUMBER && !host_operand(s, i) && !is_optional(s, i)) return false;
    switch (k) {
    case TWO:
    case ALPHA: return two_fit(s);
    case THREE: return three_fit(s);
    case CLOSE:
    case PREDICATE: return close_fits(s);
    case VALUE: return value_fits(s);
    case MASK_FILL: return mask_fits(s);
    case ONE: return one_fits(s);
    case FILL: return is_writable(x) || is_named(s, "full_like");
    case TRIANGLE: return x->ndim >= 2;
    case ONE_HOT: return false; /* choose_one_hot() makes its operand */
    case REDUCE: return reduction_fits(s);
    case ALONG: return is_dim(s->at[0], x->ndim) && fy_dtype_is_real(x->dtype);
    case DIM: return is_dim(s->at[0], x->ndim + is_named(s, "unsqueeze")) && x->ndim < FY_MAX_DIMS;
    case CROSS_ENTROPY:
    case MSE: return losses_fit(s);
    case SHAPED: /* only view can fail; the others are chosen to fit */
        return !is_named(s, "view") || fy_is_contiguous(x) || has_shape_of(x, &s->shape);
    case DTYPED: return fy_dtype_size(s->dtype) == fy_dtype_size(x->dtype) && s->dtype != FY_BOOL;
    case PAIR:
    case NARROW:
    case SLICE: return part_fits(s);
    case JOIN: return join_fits(s);
    case SPLIT: return x->ndim > 0 && is_dim(s->at[0], x->ndim) && s->at[1] > 0;
    case ORDER: return order_fits(s);
    case COPY: return copy_fits(s);
    case DRAW:
    case CHANCE: return draw_fits(s);
    case NPY: return x->dtype != FY_BFLOAT16;
    case ITEM: return fy_numel(x) == 1;
    case SAME:
        if (is_random(s)) return fy_dtype_is_real(x->dtype);
        if (is_named(s, "nonzero")) return fy_numel(x) * x->ndim <= MAX_ELEMENTS;
        return is_named(s, "t") ? x->ndim <= 2 : !is_named(s, "pin_memory") || !is_on_card(s->in[0]);
    default: return true;
    }
}
