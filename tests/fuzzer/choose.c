/* choose.c: see choose.h. */
#include <math.h>

#include "choose.h"
#include "fits.h"
#include "make.h"
#include "run.h"
#include "tensor.h"

static int any_deed(void)
{
    static int total;
    if (!total)
        for (int i = 0; i < deed_count; i++) total += deeds[i].weight;
    int64_t at = below(&dice, total);
    for (int i = 0;; i++)
        if ((at -= deeds[i].weight) < 0) return i;
}

static void take_slots(step *s, int n)
{
    for (s->n = 0; s->n < n; s->n++) s->in[s->n] = any_slot();
}

/* Often the same operand twice, or a number in place of one. */
static void choose_two(step *s)
{
    take_slots(s, 2);
    if (percent(&dice, 20)) s->in[1] = s->in[0];
    s->number = any_number();
    if (percent(&dice, 30)) s->in[1] = NUMBER;
    else if (!is_in_place(s) && percent(&dice, 10)) s->in[0] = NUMBER;
    if (wild && percent(&dice, 3)) s->in[0] = NUMBER;
    if (deed_of(s)->kind != ALPHA) return;
    add_value(s, percent(&dice, 75) ? fy_arg_int(1) : any_number());
}

/* Often a number in place of one that is no condition. */
static void choose_three(step *s)
{
    take_slots(s, 3);
    s->number = any_number();
    if (percent(&dice, 40)) s->in[between(&dice, 1 - (wild && percent(&dice, 10)), 2)] = NUMBER;
}

/* Tensors of one type where that is easy. */
static void choose_valued(step *s)
{
    bool masked = deed_of(s)->kind == MASK_FILL;
    take_slots(s, masked ? 2 : 3);
    if (percent(&dice, 20)) s->in[s->n - 1] = s->in[0];
    add_value(s, percent(&dice, 30) ? fy_arg_int(1) : any_number());
}

static void choose_dims(step *s, const fy_tensor *x)
{
    s->shape.ndim = percent(&dice, 30) ? 0 : percent(&dice, 70) ? 1 : (int)between(&dice, 1, x->ndim ? x->ndim : 1);
    for (int i = 0; i < s->shape.ndim; i++) s->shape.dims[i] = any_dim(x->ndim);
    s->keepdim = percent(&dice, 30);
    s->biased = is_named(s, "var") && percent(&dice, 40);
    static const double powers[] = {1, 0, 2, 3, INFINITY, -INFINITY, 0.5, -1};
    if (is_named(s, "norm") && percent(&dice, 60)) add_value(s, fy_arg_real(powers[below(&dice, 8)]));
    s->indices = (is_named(s, "max") || is_named(s, "min")) && percent(&dice, 40);
    bool typed = is_named(s, "sum") || is_named(s, "prod") || is_named(s, "mean") || wild;
    if (typed && percent(&dice, 25)) s->dtype = any_dtype();
}

static void choose_shape(step *s, const fy_tensor *x)
{
    if (is_named(s, "permute")) s->shape = shuffled(x->ndim);
    else if (is_named(s, "expand")) s->shape = widened(x);
    else if (is_named(s, "repeat")) s->shape = times_of(x);
    else s->shape = refold(x);
}

static void choose_part(step *s, const fy_tensor *x)
{
    bool extra = is_named(s, "unsqueeze") || is_named(s, "stack");
    int n = x->ndim + extra;
    s->at[0] = any_dim(n);
    int64_t dim = s->at[0] < 0 ? s->at[0] + n : s->at[0], size = dim >= 0 && dim < x->ndim ? x->shape[dim] : 1;
    if (is_named(s, "squeeze") && percent(&dice, 40)) s->at[0] = FY_END;
    if (is_named(s, "transpose") || is_named(s, "flatten")) s->at[1] = any_dim(n);
    if (is_named(s, "select")) s->at[1] = between(&dice, -size - wild, size - 1 + wild);
    if (deed_of(s)->kind == NARROW) {
        s->at[1] = between(&dice, 0, size + wild);
        s->at[2] = between(&dice, -wild, size - s->at[1] + wild);
    }
    if (deed_of(s)->kind != SLICE) return;
    s->at[1] = between(&dice, -size - 1, size + 1);
    s->at[2] = percent(&dice, 40) ? FY_END : between(&dice, -size - 1, size + 1);
    s->at[3] = between(&dice, wild ? -1 : 1, 3);
}

/* cat and stack: tensors of one shape, often the same one. */
static void choose_joined(step *s, const fy_tensor *x)
{
    int n = (int)between(&dice, 1, 3), first = s->in[0];
    choose_part(s, x);
    for (s->n = 1; s->n < n; s->n++) {
        s->in[s->n] = first;
        for (int tries = 0; tries < 4; tries++) {
            int slot = any_slot();
            if (is_live(slot) && has_shape_of(worlds[HOST_WORLD].slot[slot], &(fy_shape){0})) continue;
            if (!is_live(slot) || worlds[HOST_WORLD].slot[slot]->ndim != x->ndim) continue;
            s->in[s->n] = slot;
            if (percent(&dice, 60)) break;
        }
    }
}

static void choose_order(step *s, const fy_tensor *x)
{
    s->at[0] = any_dim(x->ndim);
    int64_t dim = s->at[0] < 0 ? s->at[0] + x->ndim : s->at[0], size = dim >= 0 && dim < x->ndim ? x->shape[dim] : 1;
    s->at[1] = between(&dice, -wild, size + wild);
    s->descending = percent(&dice, 50);
    s->indices = (is_named(s, "sort") || is_named(s, "topk")) && percent(&dice, 60);
    if (is_named(s, "cumsum") && percent(&dice, 30)) s->dtype = any_dtype();
}

static void choose_move(step *s)
{
    s->place = percent(&dice, 60) ? any_place() : -1;
    s->dtype = s->place < 0 || percent(&dice, 30) ? any_dtype() : FY_DTYPE_UNSET;
    if (percent(&dice, 12)) s->in[s->n++] = any_slot(), s->place = -1, s->dtype = FY_DTYPE_UNSET;
    s->copy = percent(&dice, 20);
    s->non_blocking = percent(&dice, 20);
}

/* What else the step needs, given its first operand. */
static void choose_rest(step *s)
{
    static fy_tensor none = {.magic = FY_ALIVE};
    const fy_tensor *x = is_live(s->in[0]) ? worlds[HOST_WORLD].slot[s->in[0]] : &none;
    switch (deed_of(s)->kind) {
    case FILL: add_value(s, any_number()); break;
    case TRIANGLE: s->at[0] = between(&dice, -4, 4); break;
    case REDUCE: choose_dims(s, x); break;
    case ALONG: s->at[0] = any_dim(x->ndim); break;
    case SHAPED: choose_shape(s, x); break;
    case DTYPED: s->dtype = any_dtype(); break;
    case DIM:
    case PAIR:
    case NARROW:
    case SLICE: choose_part(s, x); break;
    case JOIN: choose_joined(s, x); break;
    case CUT: s->at[0] = any_dim(x->ndim), s->at[1] = between(&dice, 1 - wild, 4); break;
    case ORDER: choose_order(s, x); break;
    case TO: choose_move(s); break;
    case CUDA: s->at[0] = wild ? between(&dice, -2, 2) : between(&dice, -1, 0); break;
    case COPY:
    case MSE: s->in[s->n++] = any_slot(), s->reduction = (int)below(&dice, 3); break;
    default: break;
    }
}

static bool choose_once(program *p)
{
    step s = {.deed = any_deed(), .place = -1};
    deed_kind k = deed_of(&s)->kind;
    if (!deed_of(&s)->call) return false;
    if ((k == PRODUCT || k == ADDMM || k == LINEAR) && !(wild && percent(&dice, 30)))
        return p->n + 4 <= MOST_STEPS && choose_product(p, s);
    if (k == BY_INDEX) return p->n + 3 <= MOST_STEPS && choose_by_index(p, s);
    if (k == MASKED) return p->n + 2 <= MOST_STEPS && choose_masked(p, s);
    if (k == ONE_HOT && !(wild && percent(&dice, 30))) return p->n + 2 <= MOST_STEPS && choose_one_hot(p, s);
    if (k == CROSS_ENTROPY) return p->n + 2 <= MOST_STEPS && choose_cross_entropy(p, s);
    if (k < ONE) choose_made(&s);
    else if (k == DEVICE) s.at[0] = wild ? between(&dice, -1, 2) : 0;
    else if (k == TWO || k == ALPHA) choose_two(&s);
    else if (k == THREE) choose_three(&s);
    else if (k == CLOSE || k == ASK) take_slots(&s, 2), s.keepdim = percent(&dice, 50);
    else if (k == VALUE || k == MASK_FILL) choose_valued(&s);
    else if (k == PRODUCT || k == LINEAR) take_slots(&s, 2);
    else if (k == ADDMM) take_slots(&s, 3), add_value(&s, any_number()), add_value(&s, any_number());
    else take_slots(&s, 1), choose_rest(&s);
    if (k == DTYPED && (s.dtype == FY_BOOL || is_mask(&s, 0))) return false; /* other bytes than a bool's */
    if (!wild && !fits(&s)) return false;
    p->ready = p->n;
    plan_step(p, s);
    return true;
}

void choose_step(program *p)
{
    if (p->ready > p->n) return;
    wild = !p->careful && percent(&dice, 25);
    bool empty = true;
    for (int i = 0; i < MOST_SLOTS; i++) empty &= !is_live(i);
    for (int tries = 0; tries < 60 && !(empty || p->n == 0); tries++)
        if (choose_once(p)) return;
    step s = {.deed = 0, .place = -1};
    while (deed_of(&s)->kind >= ONE || !deed_of(&s)->call) s.deed = any_deed();
    choose_made(&s);
    p->ready = p->n;
    plan_step(p, s);
}
