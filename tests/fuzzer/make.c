/* make.c: see make.h. */
#include <math.h>

#include "dtype.h"
#include "fits.h"
#include "make.h"
#include "run.h"
#include "shape.h"

rng_state rng;
bool may_fail;

fy_arg random_number(void)
{
    static const double reals[] = {0.5, -1.5, 2.5, 0.1, -0.001, 3.25, 1e-3, 7, -0.0, 0.3333333333333333};
    static const int64_t ints[] = {0, 1, -1, 2, 3, -3, 5, 7, 100, 127, 255, -128};
    if (rng_percent(&rng, 2)) return fy_arg_real(rng_percent(&rng, 50) ? NAN : rng_percent(&rng, 50) ? INFINITY : 1e30);
    if (rng_percent(&rng, 1)) return fy_arg_int(rng_percent(&rng, 50) ? INT64_MAX : INT64_MIN + 1);
    return rng_percent(&rng, 50) ? fy_arg_real(reals[rng_below(&rng, 10)]) : fy_arg_int(ints[rng_below(&rng, 12)]);
}

fy_dtype random_dtype(void) { return dtypes[rng_below(&rng, DTYPES)]; }

int random_device(void)
{
    if (may_fail && rng_percent(&rng, 10)) return (int)rng_below(&rng, DEVICE_NAMES);
    return rng_percent(&rng, 75) ? 1 + rng_percent(&rng, 20) : 0;
}

static int64_t random_size(void)
{
    static const int sizes[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 7, 2};
    if (may_fail && rng_percent(&rng, 4)) return rng_percent(&rng, 50) ? -1 : (int64_t)1 << rng_between(&rng, 50, 62);
    return sizes[rng_below(&rng, 16)];
}

static fy_shape random_shape(void)
{
    static const int ndims[] = {0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8};
    fy_shape s = {.ndim = ndims[rng_below(&rng, 18)]};
    if (may_fail && rng_percent(&rng, 2)) s.ndim = FY_MAX_DIMS + 1;
    for (int i = 0; i < s.ndim && i < FY_MAX_DIMS; i++) s.dims[i] = random_size();
    for (int i = 0; !may_fail && fy_shape_numel(&s) > MAX_ELEMENTS; i++) s.dims[i] = 1;
    return s;
}

int random_slot(void)
{
    int live[MAX_SLOTS], n = 0;
    for (int i = 0; i < MAX_SLOTS; i++)
        if (is_live(i)) live[n++] = i;
    if (may_fail && rng_percent(&rng, 3)) return rng_percent(&rng, 50) ? NO_TENSOR : (int)rng_below(&rng, MAX_STEPS);
    return n ? live[rng_below(&rng, n)] : NO_TENSOR;
}

int random_dim(int ndim)
{
    int n = ndim ? ndim : 1;
    return may_fail && rng_percent(&rng, 20) ? (int)rng_between(&rng, -10, 10) : (int)rng_between(&rng, -n, n - 1);
}

static step step_named(const char *name)
{
    step s = {.device = -1};
    while (strcmp(api_calls[s.call_index].name, name) != 0) s.call_index++;
    return s;
}

/* ---- factories ---- */

void add_value(step *s, fy_arg x) { s->value[s->values++] = x; }

static void choose_range(step *s)
{
    bool ints = rng_percent(&rng, 60);
    int64_t start = rng_between(&rng, -6, 6), length = rng_between(&rng, 0, 12);
    if (is_named(s, "linspace")) {
        add_value(s, fy_arg_real((double)start / 2));
        add_value(s, fy_arg_real((double)(start + length) / 3));
        add_value(s, fy_arg_int(rng_between(&rng, may_fail ? -1 : 0, 20)));
        return;
    }
    add_value(s, ints ? fy_arg_int(start) : fy_arg_real((double)start + 0.5));
    add_value(s, ints ? fy_arg_int(start + length) : fy_arg_real((double)(start + length)));
    if (rng_percent(&rng, 50))
        add_value(s, ints ? fy_arg_int(rng_between(&rng, may_fail ? -1 : 1, 3)) : fy_arg_real(0.75));
}

void choose_factory(step *s)
{
    call_kind k = call_of(s)->kind;
    s->device = rng_percent(&rng, 90) ? random_device() : -1;
    s->dtype = rng_percent(&rng, 80) ? random_dtype() : FY_DTYPE_UNSET;
    s->shape = random_shape();
    if (may_fail && rng_percent(&rng, 2)) s->dtype = (fy_dtype)99;
    if (k == FULL) add_value(s, random_number());
    if (k == RANGE) choose_range(s);
    if (k == VALUES)
        for (int64_t n = rng_below(&rng, 4); n > 0; n--) add_value(s, random_number());
    if (k == RANDINT) { /* the bounds must fit the dtype */
        add_value(s, fy_arg_int(s->dtype == FY_UINT8 ? 0 : rng_between(&rng, -5, 0)));
        add_value(s, fy_arg_int(rng_between(&rng, may_fail ? -5 : 1, 9)));
    }
    if (k == RANDPERM) s->shape = fy_dims(1, (int64_t[]){rng_below(&rng, 30)});
    if (k == EYE) s->shape = (fy_shape){(int)rng_between(&rng, 1, 2), {rng_below(&rng, 6), rng_below(&rng, 6)}};
    if (may_fail) return;
    if ((is_named(s, "rand") || is_named(s, "randn")) && !fy_dtype_is_real(s->dtype))
        s->dtype = dtypes[rng_below(&rng, 2) * 2];
    if ((is_named(s, "rand") || is_named(s, "randn")) && !fy_dtype_is_real(s->dtype)) s->dtype = FY_FLOAT32;
    if ((k == RANGE || k == RANDINT || k == RANDPERM) && s->dtype == FY_BOOL) s->dtype = FY_INT32;
    if (k == RANDINT && s->dtype == FY_UINT8) s->value[0] = fy_arg_int(0);
}

/* A factory step with this shape and dtype; values of both signs where the dtype has them. */
static step factory_step(fy_shape shape, fy_dtype dtype, int device)
{
    bool real = fy_dtype_is_real(dtype);
    step s = step_named(real ? "randn" : dtype == FY_BOOL ? "ones" : "randint");
    s.shape = shape;
    s.dtype = dtype;
    s.device = device;
    if (call_of(&s)->kind == RANDINT) {
        add_value(&s, fy_arg_int(dtype == FY_UINT8 ? 0 : -4));
        add_value(&s, fy_arg_int(5));
    }
    return s;
}

/* ---- operands made by earlier steps ---- */

/* The shape of the other operand of a product. */
static fy_shape partner_shape(const step *s, const fy_tensor *x)
{
    int64_t inner = x->shape[x->ndim - 1], other = rng_between(&rng, 0, 4);
    fy_shape p = {.ndim = x->ndim};
    if (is_named(s, "mv") || is_named(s, "dot") || (is_named(s, "matmul") && rng_percent(&rng, 25)))
        return fy_dims(1, &inner);
    if (call_of(s)->kind == LINEAR) return (fy_shape){2, {other, inner}};
    if (x->ndim < 3 || (is_named(s, "matmul") && rng_percent(&rng, 30))) return (fy_shape){2, {inner, other}};
    for (int i = 0; i < x->ndim - 2; i++) p.dims[i] = is_named(s, "bmm") || rng_percent(&rng, 70) ? x->shape[i] : 1;
    p.dims[x->ndim - 2] = inner;
    p.dims[x->ndim - 1] = other;
    return p;
}

void plan_step(program *p, step s) { p->steps[p->ready++] = s; }

static int device_of_slot(int slot) { return is_on_card(slot) ? 1 : 0; }

bool choose_product(program *p, step s)
{
    int slot = random_slot(), ndim = 0, next = p->n;
    if (is_named(&s, "mm") || is_named(&s, "mv") || call_of(&s)->kind == ADDMM) ndim = 2;
    else if (is_named(&s, "bmm")) ndim = 3;
    else if (is_named(&s, "dot")) ndim = 1;
    fy_tensor *x = is_live(slot) ? worlds[HOST_WORLD].slot[slot] : NULL;
    if (!x || x->ndim == 0 || (ndim && x->ndim != ndim) || x->dtype == FY_BOOL) return false;
    if (is_on_card(slot) && !fy_dtype_is_real(x->dtype)) return false;
    fy_shape partner = partner_shape(&s, x), added = {2, {x->shape[0], partner.dims[1]}};
    p->ready = p->n;
    plan_step(p, factory_step(partner, x->dtype, device_of_slot(slot)));
    s.n = 2;
    s.in[0] = slot, s.in[1] = next;
    if (call_of(&s)->kind == LINEAR && rng_percent(&rng, 60)) {
        plan_step(p, factory_step(fy_dims(1, &partner.dims[0]), x->dtype, device_of_slot(slot)));
        s.in[s.n++] = next + 1;
    }
    if (call_of(&s)->kind == ADDMM) {
        if (rng_percent(&rng, 30)) added = fy_dims(1, &added.dims[1]);
        plan_step(p, factory_step(added, x->dtype, device_of_slot(slot)));
        s.in[0] = next + 1, s.in[1] = slot, s.in[2] = next, s.n = 3;
        for (int i = 0; i < 2; i++)
            add_value(&s, rng_percent(&rng, 50) || !fy_dtype_is_real(x->dtype) ? fy_arg_int(i) : fy_arg_real(0.5));
    }
    plan_step(p, s);
    return true;
}

bool choose_cross_entropy(program *p, step s)
{
    int slot = random_slot(), next = p->n;
    fy_tensor *x = is_live(slot) ? worlds[HOST_WORLD].slot[slot] : NULL;
    if (!x || x->ndim == 0 || !fy_dtype_is_real(x->dtype)) return false;
    fy_shape t = {0};
    int classes = x->ndim > 1;
    for (int i = 0; i < x->ndim; i++)
        if (i != classes) t.dims[t.ndim++] = x->shape[i];
    if (x->ndim == 1) t.ndim = 0;
    if (x->shape[classes] == 0) return false;
    step target = factory_step(t, FY_INT64, device_of_slot(slot));
    target.value[0] = fy_arg_int(0),
    target.value[1] = fy_arg_int(x->shape[classes] + (may_fail && rng_percent(&rng, 20)));
    p->ready = p->n;
    plan_step(p, target);
    s.n = 2, s.in[0] = slot, s.in[1] = next;
    s.reduction = (int)rng_below(&rng, 3);
    if (rng_percent(&rng, 20)) add_value(&s, fy_arg_real(0.125));
    plan_step(p, s);
    return true;
}

/* The shape of an index into dim of x: the other sizes are those of x, or smaller; () may stand for (1). */
static fy_shape index_shape(const step *s, const fy_tensor *x, int64_t dim)
{
    fy_shape i = {.ndim = x->ndim};
    if (is_named(s, "index_select"))
        return (fy_shape){x->ndim && rng_percent(&rng, 90), {rng_between(&rng, 0, x->ndim ? 4 : 1)}};
    if (is_named(s, "embedding")) return (fy_shape){(int)rng_below(&rng, 3), {rng_below(&rng, 4), rng_below(&rng, 4)}};
    for (int d = 0; d < x->ndim; d++)
        i.dims[d] = d == dim                ? rng_below(&rng, 5)
                    : rng_percent(&rng, 20) ? rng_below(&rng, x->shape[d] + 1)
                                            : x->shape[d];
    return i;
}

bool choose_by_index(program *p, step s)
{
    int slot = random_slot(), next = p->n;
    bool scatters = is_named(&s, "scatter_add_");
    fy_tensor *x = is_live(slot) ? worlds[HOST_WORLD].slot[slot] : NULL;
    if (!x || (is_named(&s, "embedding") && x->ndim != 2) || (scatters && !is_writable(x))) return false;
    int64_t dim = is_named(&s, "embedding") ? 0 : rng_below(&rng, x->ndim ? x->ndim : 1),
            size = x->ndim ? x->shape[dim] : 1;
    fy_shape i = index_shape(&s, x, dim);
    if (size == 0 || fy_shape_numel(&i) * (fy_numel(x) / size + 1) > MAX_ELEMENTS) return false;
    if (x->ndim == 0 && fy_shape_numel(&i) != 1) return false;
    bool narrow = (is_named(&s, "index_select") || is_named(&s, "embedding")) && rng_percent(&rng, 25);
    step index = factory_step(i, narrow ? FY_INT32 : FY_INT64, device_of_slot(slot));
    index.value[0] = fy_arg_int(0), index.value[1] = fy_arg_int(size + (may_fail && rng_percent(&rng, 10)));
    p->ready = p->n;
    plan_step(p, index);
    if (scatters) plan_step(p, factory_step(i, x->dtype, device_of_slot(slot)));
    s.n = 2 + scatters, s.in[0] = slot, s.in[1] = next, s.in[2] = next + 1;
    s.at[0] = rng_percent(&rng, 30) ? dim - (x->ndim ? x->ndim : 1) : dim;
    plan_step(p, s);
    return true;
}

bool choose_masked(program *p, step s)
{
    int slot = random_slot(), next = p->n;
    fy_tensor *x = is_live(slot) ? worlds[HOST_WORLD].slot[slot] : NULL;
    if (!x) return false;
    int n = rng_percent(&rng, 60) ? x->ndim : (int)rng_below(&rng, x->ndim + 1),
        from = is_named(&s, "index") ? 0 : x->ndim - n;
    fy_shape m = {.ndim = n};
    if (n == 0 && x->ndim == FY_MAX_DIMS && from == 0) return false;
    for (int d = 0; d < n; d++) m.dims[d] = x->shape[from + d] + (may_fail && rng_percent(&rng, 5));
    step mask = factory_step(m, FY_UINT8, device_of_slot(slot));
    mask.value[1] = fy_arg_int(2);
    p->ready = p->n;
    plan_step(p, mask);
    s.n = 2, s.in[0] = slot, s.in[1] = next;
    plan_step(p, s);
    return true;
}

bool choose_one_hot(program *p, step s)
{
    fy_shape t = random_shape();
    int64_t classes = rng_between(&rng, 1, 4);
    if (t.ndim >= FY_MAX_DIMS || fy_shape_numel(&t) < 1 || fy_shape_numel(&t) * classes > MAX_ELEMENTS) return false;
    for (int i = 0; i < t.ndim; i++)
        if (t.dims[i] < 1) return false;
    step target = factory_step(t, FY_INT64, rng_percent(&rng, 50));
    target.value[0] = fy_arg_int(0), target.value[1] = fy_arg_int(classes + (may_fail && rng_percent(&rng, 20)));
    s.n = 1, s.in[0] = p->n;
    s.at[0] = rng_percent(&rng, 30) ? -1 : classes;
    p->ready = p->n;
    plan_step(p, target);
    plan_step(p, s);
    return true;
}

/* A weight or bias: often none, sometimes a tensor that is there. */
static int choose_affine(program *p, const step *norm, const fy_tensor *x)
{
    fy_shape shape = norm->shape;
    int other = random_slot(), device = device_of_slot(norm->in[0]);
    fy_dtype dtype = may_fail && rng_percent(&rng, 10) ? random_dtype() : x->dtype;
    if (rng_percent(&rng, 40)) return NO_TENSOR;
    const fy_tensor *y = is_live(other) ? worlds[HOST_WORLD].slot[other] : NULL;
    if (y && has_shape_of(y, &shape) && y->dtype == dtype && device_of_slot(other) == device) return other;
    if (may_fail && rng_percent(&rng, 10)) shape = random_permutation(shape.ndim);
    for (int d = 0; d < shape.ndim; d++) shape.dims[d] = shape.dims[d] < 0 ? 1 : shape.dims[d];
    plan_step(p, factory_step(shape, dtype, may_fail && rng_percent(&rng, 10) ? !device : device));
    return p->ready - 1;
}

bool choose_layer_norm(program *p, step s)
{
    static const double eps[] = {1e-5, 1e-3, 0.5, 0, -1};
    int slot = random_slot();
    fy_tensor *x = is_live(slot) ? worlds[HOST_WORLD].slot[slot] : NULL;
    if (!x || x->ndim == 0 || (!fy_dtype_is_real(x->dtype) && !may_fail)) return false;
    int dims = (int)rng_between(&rng, 1, x->ndim < 3 ? x->ndim : 3);
    s.shape = (fy_shape){.ndim = dims};
    for (int i = 0; i < dims; i++) s.shape.dims[i] = x->shape[x->ndim - dims + i];
    if (may_fail && rng_percent(&rng, 20)) s.shape.dims[rng_below(&rng, dims)] += rng_between(&rng, -1, 1);
    if (may_fail && rng_percent(&rng, 5)) s.shape.ndim--;
    p->ready = p->n;
    s.n = 3, s.in[0] = slot;
    for (int i = 1; i < 3; i++) s.in[i] = choose_affine(p, &s, x);
    if (rng_percent(&rng, 40)) add_value(&s, fy_arg_real(eps[rng_below(&rng, 4 + may_fail)]));
    plan_step(p, s);
    return true;
}

/* ---- shapes ---- */

fy_shape random_repeat(const fy_tensor *x)
{
    fy_shape s = {.ndim = x->ndim + (x->ndim < FY_MAX_DIMS && rng_percent(&rng, 30))};
    int64_t room = MAX_ELEMENTS / (fy_numel(x) ? fy_numel(x) : 1);
    for (int i = 0; i < s.ndim; i++) {
        s.dims[i] = rng_between(&rng, rng_percent(&rng, 90), 3);
        if (s.dims[i] > 1 && (room /= s.dims[i]) < 1) s.dims[i] = 1;
        if (may_fail && rng_percent(&rng, 5)) s.dims[i] = -1;
    }
    return s;
}

fy_shape random_reshape(const fy_tensor *x)
{
    int64_t left = fy_numel(x);
    fy_shape s = {0};
    if (may_fail && rng_percent(&rng, 30)) return random_shape();
    if (left == 0) return fy_shape_of(x);
    while (s.ndim < 4 && left > 1) {
        int64_t f = rng_between(&rng, 1, 4);
        if (left % f == 0) s.dims[s.ndim++] = f, left /= f;
        else if (rng_percent(&rng, 30)) break;
    }
    if (left > 1 || rng_percent(&rng, 20)) s.dims[s.ndim++] = left;
    if (s.ndim && rng_percent(&rng, 20)) s.dims[rng_below(&rng, s.ndim)] = -1;
    return s;
}

fy_shape random_permutation(int n)
{
    fy_shape s = {.ndim = n};
    for (int i = 0; i < n; i++) s.dims[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)rng_below(&rng, i + 1);
        int64_t d = s.dims[i];
        s.dims[i] = s.dims[j], s.dims[j] = d;
    }
    for (int i = 0; i < n; i++)
        if (rng_percent(&rng, 15)) s.dims[i] -= n;
    if (n && may_fail && rng_percent(&rng, 20)) s.dims[0] = random_dim(n);
    return s;
}

fy_shape random_expand(const fy_tensor *x)
{
    int more = (int)rng_below(&rng, 1 + (FY_MAX_DIMS - x->ndim > 2 ? 2 : FY_MAX_DIMS - x->ndim));
    fy_shape s = {.ndim = x->ndim + more};
    int64_t room = MAX_ELEMENTS / (fy_numel(x) ? fy_numel(x) : 1);
    for (int i = 0; i < s.ndim; i++) {
        int64_t own = i < more ? 1 : x->shape[i - more], size = own == 1 ? rng_between(&rng, 1, 3) : own;
        if (own == 1 && (room /= size) < 1) size = 1;
        s.dims[i] = i >= more && rng_percent(&rng, 15) ? -1 : size;
        if (may_fail && rng_percent(&rng, 5)) s.dims[i] = rng_between(&rng, -2, 5);
    }
    return s;
}
