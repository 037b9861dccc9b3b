/* arithmetic.c: the ops that updates consist of. */
#include "dispatch.h"
#include "event.h"
#include "optimizer.h"

static bool is_missing(const fy_arg *x) { return x->is_tensor && !x->tensor; }

/* The scalar follows the operands (op.h); ops without one ignore it. */
fy_tensor *fy_optimizer_op(fy_site *at, int op, fy_tensor *out, fy_arg a, fy_arg b, fy_arg c, double value)
{
    fy_call call = {.at = at, .op = op, .in = {a, b, c}, .out = out};
    int n = fy_ops[op].nin;
    call.real[n] = value;
    for (int i = 0; i < n; i++)
        if (is_missing(&call.in[i])) return NULL;
    fy_tensor *result = fy_compute(&call);
    return out ? result : fy_scope_track(result);
}

fy_tensor *fy_add_scaled(fy_site *at, fy_tensor *out, fy_tensor *a, fy_tensor *b, double alpha)
{
    return fy_optimizer_op(at, FY_OP_add, out, fy_arg_tensor(a), fy_arg_tensor(b), fy_arg_int(0), alpha);
}

fy_tensor *fy_scaled(fy_site *at, fy_tensor *out, fy_tensor *a, double factor)
{
    return fy_optimizer_op(at, FY_OP_mul, out, fy_arg_tensor(a), fy_arg_real(factor), fy_arg_int(0), 0);
}
