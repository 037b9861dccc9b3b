/* arithmetic.c: the ops that updates consist of: of each tensor of a group, one by one, or as one launch. */
#include <stdlib.h>

#include "dispatch.h"
#include "event.h"
#include "optimizer.h"
#include "out_of_memory.h"

fy_tensor **fy_group_list(fy_group *g)
{
    if (g->used == FY_MOST_LISTS) abort(); /* an update that makes more lists than any does */
    return g->lists + g->n * (size_t)g->used++;
}

static fy_arg operand(const fy_each *x, size_t i)
{
    return x->list ? fy_arg_tensor(x->list[i]) : fy_arg_real(x->number);
}

/* The scalar follows the operands (op.h); ops without one ignore it. */
static bool one_by_one(fy_site *at, const fy_group *g, int op, fy_tensor *const *out, const fy_each *x, double value,
                       fy_tensor **made)
{
    for (size_t i = 0; i < g->n; i++) {
        fy_call call = {.at = at, .op = op, .out = out ? out[i] : NULL};
        int nin = fy_ops[op].nin;
        for (int k = 0; k < nin; k++) call.in[k] = operand(&x[k], i);
        call.real[nin] = value;
        fy_tensor *result = fy_compute(&call);
        if (!result) return false;
        if (!out) made[i] = fy_scope_track(result);
    }
    return true;
}

static bool as_one(fy_site *at, const fy_group *g, int op, fy_tensor *const *out, const fy_each *x, double value,
                   fy_tensor **made)
{
    fy_tensor *const *in[FY_MOST_OPERANDS] = {0};
    double real[FY_MAX_SCALARS] = {0};
    int nin = fy_ops[op].nin;
    for (int k = 0; k < nin; k++) {
        in[k] = x[k].list;
        real[k] = x[k].number;
    }
    real[nin] = value;
    if (!fy_foreach(at, op, g->n, in, real, out, made)) return false;
    for (size_t i = 0; !out && i < g->n; i++) fy_scope_track(made[i]);
    return true;
}

fy_tensor **fy_group_op(fy_site *at, fy_group *g, int op, fy_tensor **out, fy_each a, fy_each b, fy_each c,
                        double value)
{
    const fy_each x[FY_MOST_OPERANDS] = {a, b, c};
    fy_tensor **made = out ? NULL : fy_group_list(g);
    for (int k = 0; k < fy_ops[op].nin; k++)
        if (!x[k].list && !x[k].is_number) return NULL;
    bool ok = (g->foreach ? as_one : one_by_one)(at, g, op, out, x, value, made);
    return !ok ? NULL : out ? out : made;
}

fy_tensor **fy_add_scaled(fy_site *at, fy_group *g, fy_tensor **out, fy_tensor **a, fy_tensor **b, double alpha)
{
    return fy_group_op(at, g, FY_OP_add, out, fy_each_of(a), fy_each_of(b), fy_each_number(0), alpha);
}

fy_tensor **fy_scaled(fy_site *at, fy_group *g, fy_tensor **out, fy_tensor **a, double factor)
{
    return fy_group_op(at, g, FY_OP_mul, out, fy_each_of(a), fy_each_number(factor), fy_each_number(0), 0);
}
