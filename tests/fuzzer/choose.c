/* choose.c: see choose.h. */
#include <math.h>

#include "choose.h"
#include "fits.h"
#include "make.h"
#include "run.h"
#include "tensor.h"

static int random_call(void)
{
    static int total;
    if (!total)
        for (int i = 0; i < api_call_count; i++) total += api_calls[i].weight;
    int64_t at = rng_below(&rng, total);
    for (int i = 0;; i++)
        if ((at -= api_calls[i].weight) < 0) return i;
}

static void take_slots(step *s, int n)
{
    for (s->n = 0; s->n < n; s->n++) s->in[s->n] = random_slot();
}

/* Often x op x, or a number in place of an operand. */
static void choose_two(step *s)
{
    take_slots(s, 2);
    if (rng_percent(&rng, 20)) s->in[1] = s->in[0];
    s->number = random_number();
    if (rng_percent(&rng, 30)) s->in[1] = NUMBER;
    else if (!is_in_place(s) && rng_percent(&rng, 10)) s->in[0] = NUMBER;
    if (may_fail && rng_percent(&rng, 3)) s->in[0] = NUMBER;
    if (call_of(s)->kind != ALPHA) return;
    add_value(s, rng_percent(&rng, 75) ? fy_arg_int(1) : random_number());
}

/* Often a number in place of an operand other than the condition. */
static void choose_three(step *s)
{
    take_slots(s, 3);
    s->number = random_number();
    if (rng_percent(&rng, 40)) s->in[rng_between(&rng, 1 - (may_fail && rng_percent(&rng, 10)), 2)] = NUMBER;
}

/* Three operands and a value; with a mask, two. */
static void choose_valued(step *s)
{
    bool masked = call_of(s)->kind == MASK_FILL;
    take_slots(s, masked ? 2 : 3);
    if (rng_percent(&rng, 20)) s->in[s->n - 1] = s->in[0];
    add_value(s, rng_percent(&rng, 30) ? fy_arg_int(1) : random_number());
}

static void choose_dims(step *s, const fy_tensor *x)
{
    s->shape.ndim = rng_percent(&rng, 30)   ? 0
                    : rng_percent(&rng, 70) ? 1
                                            : (int)rng_between(&rng, 1, x->ndim ? x->ndim : 1);
    for (int i = 0; i < s->shape.ndim; i++) s->shape.dims[i] = random_dim(x->ndim);
    s->keepdim = rng_percent(&rng, 30);
    s->biased = is_named(s, "var") && rng_percent(&rng, 40);
    static const double powers[] = {1, 0, 2, 3, INFINITY, -INFINITY, 0.5, -1};
    if (is_named(s, "norm") && rng_percent(&rng, 60)) add_value(s, fy_arg_real(powers[rng_below(&rng, 8)]));
    s->indices = (is_named(s, "max") || is_named(s, "min")) && rng_percent(&rng, 40);
    bool typed = is_named(s, "sum") || is_named(s, "prod") || is_named(s, "mean") || may_fail;
    if (typed && rng_percent(&rng, 25)) s->dtype = random_dtype();
}

static void choose_shape(step *s, const fy_tensor *x)
{
    if (is_named(s, "permute")) s->shape = random_permutation(x->ndim);
    else if (is_named(s, "expand")) s->shape = random_expand(x);
    else if (is_named(s, "repeat")) s->shape = random_repeat(x);
    else s->shape = random_reshape(x);
}

static void choose_view(step *s, const fy_tensor *x)
{
    bool extra = is_named(s, "unsqueeze") || is_named(s, "stack");
    int n = x->ndim + extra;
    s->at[0] = random_dim(n);
    int64_t dim = s->at[0] < 0 ? s->at[0] + n : s->at[0], size = dim >= 0 && dim < x->ndim ? x->shape[dim] : 1;
    if (is_named(s, "squeeze") && rng_percent(&rng, 40)) s->at[0] = FY_END;
    if (is_named(s, "transpose") || is_named(s, "flatten")) s->at[1] = random_dim(n);
    if (is_named(s, "select")) s->at[1] = rng_between(&rng, -size - may_fail, size - 1 + may_fail);
    if (call_of(s)->kind == NARROW) {
        s->at[1] = rng_between(&rng, 0, size + may_fail);
        s->at[2] = rng_between(&rng, -may_fail, size - s->at[1] + may_fail);
    }
    if (call_of(s)->kind != SLICE) return;
    s->at[1] = rng_between(&rng, -size - 1, size + 1);
    s->at[2] = rng_percent(&rng, 40) ? FY_END : rng_between(&rng, -size - 1, size + 1);
    s->at[3] = rng_between(&rng, may_fail ? -1 : 1, 3);
}

/* cat and stack: tensors of one shape, often the same one. */
static void choose_joined(step *s, const fy_tensor *x)
{
    int n = (int)rng_between(&rng, 1, 3), first = s->in[0];
    choose_view(s, x);
    for (s->n = 1; s->n < n; s->n++) {
        s->in[s->n] = first;
        for (int tries = 0; tries < 4; tries++) {
            int slot = random_slot();
            if (is_live(slot) && has_shape_of(worlds[HOST_WORLD].slot[slot], &(fy_shape){0})) continue;
            if (!is_live(slot) || worlds[HOST_WORLD].slot[slot]->ndim != x->ndim) continue;
            s->in[s->n] = slot;
            if (rng_percent(&rng, 60)) break;
        }
    }
}

static void choose_order(step *s, const fy_tensor *x)
{
    s->at[0] = random_dim(x->ndim);
    int64_t dim = s->at[0] < 0 ? s->at[0] + x->ndim : s->at[0], size = dim >= 0 && dim < x->ndim ? x->shape[dim] : 1;
    s->at[1] = rng_between(&rng, -may_fail, size + may_fail);
    s->descending = rng_percent(&rng, 50);
    s->indices = (is_named(s, "sort") || is_named(s, "topk")) && rng_percent(&rng, 60);
    if (is_named(s, "cumsum") && rng_percent(&rng, 30)) s->dtype = random_dtype();
}

static void choose_move(step *s)
{
    s->device = rng_percent(&rng, 60) ? random_device() : -1;
    s->dtype = s->device < 0 || rng_percent(&rng, 30) ? random_dtype() : FY_DTYPE_UNSET;
    if (rng_percent(&rng, 12)) s->in[s->n++] = random_slot(), s->device = -1, s->dtype = FY_DTYPE_UNSET;
    s->copy = rng_percent(&rng, 20);
    s->non_blocking = rng_percent(&rng, 20);
}

/* uniform_: from low to high; normal_: mean and standard deviation; else a probability. */
static void choose_draw(step *s)
{
    static const double widths[] = {0, 1, 0.5, 3, 100, 1e-3, 5e4, 1e30, 3e38, 1e300, 1.5e308};
    static const double chances[] = {0.5, 0.1, 0.9, 0, 1, 0.25, -0.1, 1.5, NAN};
    if (call_of(s)->kind == CHANCE) {
        add_value(s, fy_arg_real(chances[rng_below(&rng, may_fail ? 9 : 6)]));
        return;
    }
    double a = random_number().real, b = widths[rng_below(&rng, rng_percent(&rng, 80) ? 6 : 11)];
    if (may_fail && rng_percent(&rng, 20)) b = -b;
    if (is_named(s, "uniform_") && rng_percent(&rng, 20)) a = -b;
    else if (is_named(s, "uniform_")) b += a;
    add_value(s, fy_arg_real(a));
    add_value(s, fy_arg_real(b));
}

/* Chooses the remaining arguments, given the first operand. */
static void choose_rest(step *s)
{
    static fy_tensor none = {.magic = FY_ALIVE};
    const fy_tensor *x = is_live(s->in[0]) ? worlds[HOST_WORLD].slot[s->in[0]] : &none;
    switch (call_of(s)->kind) {
    case FILL: add_value(s, random_number()); break;
    case DRAW:
    case CHANCE: choose_draw(s); break;
    case TRIANGLE: s->at[0] = rng_between(&rng, -4, 4); break;
    case REDUCE: choose_dims(s, x); break;
    case ALONG: s->at[0] = random_dim(x->ndim); break;
    case SHAPED: choose_shape(s, x); break;
    case DTYPED: s->dtype = random_dtype(); break;
    case DIM:
    case PAIR:
    case NARROW:
    case SLICE: choose_view(s, x); break;
    case JOIN: choose_joined(s, x); break;
    case SPLIT: s->at[0] = random_dim(x->ndim), s->at[1] = rng_between(&rng, 1 - may_fail, 4); break;
    case ORDER: choose_order(s, x); break;
    case TO: choose_move(s); break;
    case CUDA: s->at[0] = may_fail ? rng_between(&rng, -2, 2) : rng_between(&rng, -1, 0); break;
    case COPY:
    case MSE: s->in[s->n++] = random_slot(), s->reduction = (int)rng_below(&rng, 3); break;
    default: break;
    }
}

static bool choose_once(program *p)
{
    step s = {.call_index = random_call(), .device = -1};
    call_kind k = call_of(&s)->kind;
    if (!call_of(&s)->function) return false;
    if ((k == PRODUCT || k == ADDMM || k == LINEAR) && !(may_fail && rng_percent(&rng, 30)))
        return p->n + 4 <= MAX_STEPS && choose_product(p, s);
    if (k == BY_INDEX) return p->n + 3 <= MAX_STEPS && choose_by_index(p, s);
    if (k == MASKED) return p->n + 2 <= MAX_STEPS && choose_masked(p, s);
    if (k == ONE_HOT && !(may_fail && rng_percent(&rng, 30))) return p->n + 2 <= MAX_STEPS && choose_one_hot(p, s);
    if (k == CROSS_ENTROPY) return p->n + 2 <= MAX_STEPS && choose_cross_entropy(p, s);
    if (k == LAYER_NORM) return p->n + 3 <= MAX_STEPS && choose_layer_norm(p, s);
    if (k < ONE) choose_factory(&s);
    else if (k == DEVICE) s.at[0] = may_fail ? rng_between(&rng, -1, 2) : 0;
    else if (k == TWO || k == ALPHA) choose_two(&s);
    else if (k == THREE) choose_three(&s);
    else if (k == CLOSE || k == PREDICATE) take_slots(&s, 2), s.keepdim = rng_percent(&rng, 50);
    else if (k == VALUE || k == MASK_FILL) choose_valued(&s);
    else if (k == PRODUCT || k == LINEAR) take_slots(&s, 2);
    else if (k == ADDMM) take_slots(&s, 3), add_value(&s, random_number()), add_value(&s, random_number());
    else take_slots(&s, 1), choose_rest(&s);
    if (k == DTYPED && (s.dtype == FY_BOOL || is_mask(&s, 0))) return false; /* a bool must hold 0 or 1 */
    if (!may_fail && !fits(&s)) return false;
    p->ready = p->n;
    plan_step(p, s);
    return true;
}

void choose_step(program *p)
{
    if (p->ready > p->n) return;
    may_fail = !p->careful && rng_percent(&rng, 25);
    bool empty = true;
    for (int i = 0; i < MAX_SLOTS; i++) empty &= !is_live(i);
    for (int tries = 0; tries < 60 && !(empty || p->n == 0); tries++)
        if (choose_once(p)) return;
    step s = {.call_index = 0, .device = -1};
    while (call_of(&s)->kind >= ONE || !call_of(&s)->function) s.call_index = random_call();
    choose_factory(&s);
    p->ready = p->n;
    plan_step(p, s);
}
