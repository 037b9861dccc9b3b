/* make.c: see make.h. */
#include <math.h>

#include "dtype.h"
#include "fits.h"
#include "make.h"
#include "run.h"
#include "shape.h"

chance dice;
bool wild;

fy_arg any_number(void)
{
    static const double reals[] = {0.5, -1.5, 2.5, 0.1, -0.001, 3.25, 1e-3, 7, -0.0, 0.3333333333333333};
    static const int64_t ints[] = {0, 1, -1, 2, 3, -3, 5, 7, 100, 127, 255, -128};
    if (percent(&dice, 2)) return fy_arg_real(percent(&dice, 50) ? NAN : percent(&dice, 50) ? INFINITY : 1e30);
    if (percent(&dice, 1)) return fy_arg_int(percent(&dice, 50) ? INT64_MAX : INT64_MIN + 1);
    return percent(&dice, 50) ? fy_arg_real(reals[below(&dice, 10)]) : fy_arg_int(ints[below(&dice, 12)]);
}

fy_dtype any_dtype(void) { return dtypes[below(&dice, DTYPES)]; }

int any_place(void)
{
    if (wild && percent(&dice, 10)) return (int)below(&dice, PLACES);
    return percent(&dice, 75) ? 1 + percent(&dice, 20) : 0;
}

static int64_t any_size(void)
{
    static const int sizes[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 7, 2};
    if (wild && percent(&dice, 4)) return percent(&dice, 50) ? -1 : (int64_t)1 << between(&dice, 50, 62);
    return sizes[below(&dice, 16)];
}

static fy_shape any_shape(void)
{
    static const int ndims[] = {0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8};
    fy_shape s = {.ndim = ndims[below(&dice, 18)]};
    if (wild && percent(&dice, 2)) s.ndim = FY_MAX_DIMS + 1;
    for (int i = 0; i < s.ndim && i < FY_MAX_DIMS; i++) s.dims[i] = any_size();
    for (int i = 0; !wild && fy_shape_numel(&s) > MOST_ELEMENTS; i++) s.dims[i] = 1;
    return s;
}

int any_slot(void)
{
    int live[MOST_SLOTS], n = 0;
    for (int i = 0; i < MOST_SLOTS; i++)
        if (is_live(i)) live[n++] = i;
    if (wild && percent(&dice, 3)) return percent(&dice, 50) ? NOTHING : (int)below(&dice, MOST_STEPS);
    return n ? live[below(&dice, n)] : NOTHING;
}

int any_dim(int ndim)
{
    int n = ndim ? ndim : 1;
    return wild && percent(&dice, 20) ? (int)between(&dice, -10, 10) : (int)between(&dice, -n, n - 1);
}

static step step_of(const char *name)
{
    step s = {.place = -1};
    while (strcmp(deeds[s.deed].name, name) != 0) s.deed++;
    return s;
}

/* ---- from nothing ---- */

void add_value(step *s, fy_arg x) { s->value[s->values++] = x; }

static void choose_range(step *s)
{
    bool ints = percent(&dice, 60);
    int64_t start = between(&dice, -6, 6), length = between(&dice, 0, 12);
    if (is_named(s, "linspace")) {
        add_value(s, fy_arg_real((double)start / 2));
        add_value(s, fy_arg_real((double)(start + length) / 3));
        add_value(s, fy_arg_int(between(&dice, wild ? -1 : 0, 20)));
        return;
    }
    add_value(s, ints ? fy_arg_int(start) : fy_arg_real((double)start + 0.5));
    add_value(s, ints ? fy_arg_int(start + length) : fy_arg_real((double)(start + length)));
    if (percent(&dice, 50)) add_value(s, ints ? fy_arg_int(between(&dice, wild ? -1 : 1, 3)) : fy_arg_real(0.75));
}

/* randint's values must fit the dtype. */
static void choose_randint(step *s)
{
    add_value(s, fy_arg_int(s->dtype == FY_UINT8 ? 0 : between(&dice, -5, 0)));
    add_value(s, fy_arg_int(between(&dice, wild ? -5 : 1, 9)));
}

void choose_made(step *s)
{
    deed_kind k = deed_of(s)->kind;
    s->place = percent(&dice, 90) ? any_place() : -1;
    s->dtype = percent(&dice, 80) ? any_dtype() : FY_DTYPE_UNSET;
    s->shape = any_shape();
    if (wild && percent(&dice, 2)) s->dtype = (fy_dtype)99;
    if (k == FULL) add_value(s, any_number());
    if (k == RANGE) choose_range(s);
    if (k == VALUES)
        for (int64_t n = below(&dice, 4); n > 0; n--) add_value(s, any_number());
    if (k == RANDINT) choose_randint(s);
    if (k == RANDPERM) s->shape = fy_dims(1, (int64_t[]){below(&dice, 30)});
    if (k == EYE) s->shape = (fy_shape){(int)between(&dice, 1, 2), {below(&dice, 6), below(&dice, 6)}};
    if (wild) return;
    if ((is_named(s, "rand") || is_named(s, "randn")) && !fy_dtype_is_real(s->dtype))
        s->dtype = dtypes[below(&dice, 2) * 2];
    if ((is_named(s, "rand") || is_named(s, "randn")) && !fy_dtype_is_real(s->dtype)) s->dtype = FY_FLOAT32;
    if ((k == RANGE || k == RANDINT || k == RANDPERM) && s->dtype == FY_BOOL) s->dtype = FY_INT32;
    if (k == RANDINT && s->dtype == FY_UINT8) s->value[0] = fy_arg_int(0);
}

/* A tensor of that shape and dtype with values of both signs where it has them. */
static step made_for(fy_shape shape, fy_dtype dtype, int place)
{
    bool real = fy_dtype_is_real(dtype);
    step s = step_of(real ? "randn" : dtype == FY_BOOL ? "ones" : "randint");
    s.shape = shape;
    s.dtype = dtype;
    s.place = place;
    if (deed_of(&s)->kind == RANDINT) {
        add_value(&s, fy_arg_int(dtype == FY_UINT8 ? 0 : -4));
        add_value(&s, fy_arg_int(5));
    }
    return s;
}

/* ---- from others: the second operand is made to fit by a step before ---- */

static fy_shape shape_of(const fy_tensor *x) { return fy_shape_of(x); }

/* The partner of a product's first operand. */
static fy_shape partner_of(const step *s, const fy_tensor *x)
{
    int64_t inner = x->shape[x->ndim - 1], other = between(&dice, 0, 4);
    fy_shape p = {.ndim = x->ndim};
    if (is_named(s, "mv") || is_named(s, "dot") || (is_named(s, "matmul") && percent(&dice, 25)))
        return fy_dims(1, &inner);
    if (deed_of(s)->kind == LINEAR) return (fy_shape){2, {other, inner}};
    if (x->ndim < 3 || (is_named(s, "matmul") && percent(&dice, 30))) return (fy_shape){2, {inner, other}};
    for (int i = 0; i < x->ndim - 2; i++) p.dims[i] = is_named(s, "bmm") || percent(&dice, 70) ? x->shape[i] : 1;
    p.dims[x->ndim - 2] = inner;
    p.dims[x->ndim - 1] = other;
    return p;
}

static int wanted_ndim(const step *s)
{
    if (is_named(s, "mm") || is_named(s, "mv") || deed_of(s)->kind == ADDMM) return 2;
    return is_named(s, "bmm") ? 3 : is_named(s, "dot") ? 1 : 0;
}

void plan_step(program *p, step s) { p->steps[p->ready++] = s; }

static int place_of(int slot) { return is_on_card(slot) ? 1 : 0; }

bool choose_product(program *p, step s)
{
    int slot = any_slot(), ndim = wanted_ndim(&s), next = p->n;
    fy_tensor *x = is_live(slot) ? worlds[HOST_WORLD].slot[slot] : NULL;
    if (!x || x->ndim == 0 || (ndim && x->ndim != ndim) || x->dtype == FY_BOOL) return false;
    if (is_on_card(slot) && !fy_dtype_is_real(x->dtype)) return false;
    fy_shape partner = partner_of(&s, x), added = {2, {x->shape[0], partner.dims[1]}};
    p->ready = p->n;
    plan_step(p, made_for(partner, x->dtype, place_of(slot)));
    s.n = 2;
    s.in[0] = slot, s.in[1] = next;
    if (deed_of(&s)->kind == LINEAR && percent(&dice, 60)) {
        plan_step(p, made_for(fy_dims(1, &partner.dims[0]), x->dtype, place_of(slot)));
        s.in[s.n++] = next + 1;
    }
    if (deed_of(&s)->kind == ADDMM) {
        if (percent(&dice, 30)) added = fy_dims(1, &added.dims[1]);
        plan_step(p, made_for(added, x->dtype, place_of(slot)));
        s.in[0] = next + 1, s.in[1] = slot, s.in[2] = next, s.n = 3;
        for (int i = 0; i < 2; i++)
            add_value(&s, percent(&dice, 50) || !fy_dtype_is_real(x->dtype) ? fy_arg_int(i) : fy_arg_real(0.5));
    }
    plan_step(p, s);
    return true;
}

bool choose_cross_entropy(program *p, step s)
{
    int slot = any_slot(), next = p->n;
    fy_tensor *x = is_live(slot) ? worlds[HOST_WORLD].slot[slot] : NULL;
    if (!x || x->ndim == 0 || !fy_dtype_is_real(x->dtype)) return false;
    fy_shape t = {0};
    int classes = x->ndim > 1;
    for (int i = 0; i < x->ndim; i++)
        if (i != classes) t.dims[t.ndim++] = x->shape[i];
    if (x->ndim == 1) t.ndim = 0;
    if (x->shape[classes] == 0) return false;
    step target = made_for(t, FY_INT64, place_of(slot));
    target.value[0] = fy_arg_int(0), target.value[1] = fy_arg_int(x->shape[classes] + (wild && percent(&dice, 20)));
    p->ready = p->n;
    plan_step(p, target);
    s.n = 2, s.in[0] = slot, s.in[1] = next;
    s.reduction = (int)below(&dice, 3);
    if (percent(&dice, 20)) add_value(&s, fy_arg_real(0.125));
    plan_step(p, s);
    return true;
}

/* An index's sizes: those of x, but for dim, or less; () may stand for one. */
static fy_shape index_shape(const step *s, const fy_tensor *x, int64_t dim)
{
    fy_shape i = {.ndim = x->ndim};
    if (is_named(s, "index_select"))
        return (fy_shape){x->ndim && percent(&dice, 90), {between(&dice, 0, x->ndim ? 4 : 1)}};
    if (is_named(s, "embedding")) return (fy_shape){(int)below(&dice, 3), {below(&dice, 4), below(&dice, 4)}};
    for (int d = 0; d < x->ndim; d++)
        i.dims[d] = d == dim ? below(&dice, 5) : percent(&dice, 20) ? below(&dice, x->shape[d] + 1) : x->shape[d];
    return i;
}

bool choose_by_index(program *p, step s)
{
    int slot = any_slot(), next = p->n;
    bool scatters = is_named(&s, "scatter_add_");
    fy_tensor *x = is_live(slot) ? worlds[HOST_WORLD].slot[slot] : NULL;
    if (!x || (is_named(&s, "embedding") && x->ndim != 2) || (scatters && !is_writable(x))) return false;
    int64_t dim = is_named(&s, "embedding") ? 0 : below(&dice, x->ndim ? x->ndim : 1),
            size = x->ndim ? x->shape[dim] : 1;
    fy_shape i = index_shape(&s, x, dim);
    if (size == 0 || fy_shape_numel(&i) * (fy_numel(x) / size + 1) > MOST_ELEMENTS) return false;
    if (x->ndim == 0 && fy_shape_numel(&i) != 1) return false;
    bool narrow = (is_named(&s, "index_select") || is_named(&s, "embedding")) && percent(&dice, 25);
    step index = made_for(i, narrow ? FY_INT32 : FY_INT64, place_of(slot));
    index.value[0] = fy_arg_int(0), index.value[1] = fy_arg_int(size + (wild && percent(&dice, 10)));
    p->ready = p->n;
    plan_step(p, index);
    if (scatters) plan_step(p, made_for(i, x->dtype, place_of(slot)));
    s.n = 2 + scatters, s.in[0] = slot, s.in[1] = next, s.in[2] = next + 1;
    s.at[0] = percent(&dice, 30) ? dim - (x->ndim ? x->ndim : 1) : dim;
    plan_step(p, s);
    return true;
}

bool choose_masked(program *p, step s)
{
    int slot = any_slot(), next = p->n;
    fy_tensor *x = is_live(slot) ? worlds[HOST_WORLD].slot[slot] : NULL;
    if (!x) return false;
    int n = percent(&dice, 60) ? x->ndim : (int)below(&dice, x->ndim + 1),
        from = is_named(&s, "index") ? 0 : x->ndim - n;
    fy_shape m = {.ndim = n};
    if (n == 0 && x->ndim == FY_MAX_DIMS && from == 0) return false;
    for (int d = 0; d < n; d++) m.dims[d] = x->shape[from + d] + (wild && percent(&dice, 5));
    step mask = made_for(m, FY_UINT8, place_of(slot));
    mask.value[1] = fy_arg_int(2);
    p->ready = p->n;
    plan_step(p, mask);
    s.n = 2, s.in[0] = slot, s.in[1] = next;
    plan_step(p, s);
    return true;
}

bool choose_one_hot(program *p, step s)
{
    fy_shape t = any_shape();
    int64_t classes = between(&dice, 1, 4);
    if (t.ndim >= FY_MAX_DIMS || fy_shape_numel(&t) < 1 || fy_shape_numel(&t) * classes > MOST_ELEMENTS) return false;
    for (int i = 0; i < t.ndim; i++)
        if (t.dims[i] < 1) return false;
    step target = made_for(t, FY_INT64, percent(&dice, 50));
    target.value[0] = fy_arg_int(0), target.value[1] = fy_arg_int(classes + (wild && percent(&dice, 20)));
    s.n = 1, s.in[0] = p->n;
    s.at[0] = percent(&dice, 30) ? -1 : classes;
    p->ready = p->n;
    plan_step(p, target);
    plan_step(p, s);
    return true;
}

/* ---- shapes ---- */

fy_shape times_of(const fy_tensor *x)
{
    fy_shape s = {.ndim = x->ndim + (x->ndim < FY_MAX_DIMS && percent(&dice, 30))};
    int64_t room = MOST_ELEMENTS / (fy_numel(x) ? fy_numel(x) : 1);
    for (int i = 0; i < s.ndim; i++) {
        s.dims[i] = between(&dice, percent(&dice, 90), 3);
        if (s.dims[i] > 1 && (room /= s.dims[i]) < 1) s.dims[i] = 1;
        if (wild && percent(&dice, 5)) s.dims[i] = -1;
    }
    return s;
}

fy_shape refold(const fy_tensor *x)
{
    int64_t left = fy_numel(x);
    fy_shape s = {0};
    if (wild && percent(&dice, 30)) return any_shape();
    if (left == 0) return shape_of(x);
    while (s.ndim < 4 && left > 1) {
        int64_t f = between(&dice, 1, 4);
        if (left % f == 0) s.dims[s.ndim++] = f, left /= f;
        else if (percent(&dice, 30)) break;
    }
    if (left > 1 || percent(&dice, 20)) s.dims[s.ndim++] = left;
    if (s.ndim && percent(&dice, 20)) s.dims[below(&dice, s.ndim)] = -1;
    return s;
}

fy_shape shuffled(int n)
{
    fy_shape s = {.ndim = n};
    for (int i = 0; i < n; i++) s.dims[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)below(&dice, i + 1);
        int64_t d = s.dims[i];
        s.dims[i] = s.dims[j], s.dims[j] = d;
    }
    for (int i = 0; i < n; i++)
        if (percent(&dice, 15)) s.dims[i] -= n;
    if (n && wild && percent(&dice, 20)) s.dims[0] = any_dim(n);
    return s;
}

fy_shape widened(const fy_tensor *x)
{
    int more = (int)below(&dice, 1 + (FY_MAX_DIMS - x->ndim > 2 ? 2 : FY_MAX_DIMS - x->ndim));
    fy_shape s = {.ndim = x->ndim + more};
    int64_t room = MOST_ELEMENTS / (fy_numel(x) ? fy_numel(x) : 1);
    for (int i = 0; i < s.ndim; i++) {
        int64_t own = i < more ? 1 : x->shape[i - more], size = own == 1 ? between(&dice, 1, 3) : own;
        if (own == 1 && (room /= size) < 1) size = 1;
        s.dims[i] = i >= more && percent(&dice, 15) ? -1 : size;
        if (wild && percent(&dice, 5)) s.dims[i] = between(&dice, -2, 5);
    }
    return s;
}
