/* loss.c: operations that are several calls of the dispatcher, each of which shows in the log. */
#include "tensor.h"

/* The value of a step, handed on; what it was made of is freed. */
static fy_tensor *step(fy_site *at, fy_call c, bool last, fy_tensor *used)
{
    c.at = at;
    if (last) c.name = fy_name_for(at, NULL);
    fy_tensor *out = fy_dispatch(&c);
    fy_tensor_drop(at, used, FY_WORD_free);
    return out;
}

/* Each loss as it is, their sum or their mean; `loss` is used up. */
static fy_tensor *finish(fy_site *at, fy_tensor *loss, fy_reduction how)
{
    if (!loss || how == FY_NONE) return fy_hand_out(loss);
    int op = how == FY_SUM ? FY_OP_sum : FY_OP_mean;
    return fy_hand_out(step(at, (fy_call){.op = op, .in = {fy_arg_tensor(loss)}}, true, loss));
}

fy_tensor *fy_mse_loss_at(fy_site *at, fy_tensor *a, fy_tensor *b, fy_loss_opts o)
{
    fy_call difference = {.op = FY_OP_sub, .in = {fy_arg_tensor(a), fy_arg_tensor(b)}, .real = {0, 0, 1}, .integer = {0, 0, 1}};
    fy_tensor *d = step(at, difference, false, NULL);
    if (!d) return NULL;
    fy_tensor *square =
        step(at, (fy_call){.op = FY_OP_mul, .in = {fy_arg_tensor(d), fy_arg_tensor(d)}}, o.reduction == FY_NONE, d);
    return finish(at, square, o.reduction);
}
