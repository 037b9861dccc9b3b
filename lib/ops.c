/* ops.c: the operations of ferry.h, each one call of the dispatcher. */
#include "tensor.h"

static fy_tensor *call(fy_call c)
{
    c.name = fy_name_for(c.at, NULL);
    return fy_hand_out(fy_dispatch(&c));
}

fy_tensor *fy_add_at(fy_site *at, fy_tensor *a, fy_arg b)
{
    return call((fy_call){.at = at, .op = FY_OP_add, .in = {fy_arg_tensor(a), b}});
}

fy_tensor *fy_mul_at(fy_site *at, fy_tensor *a, fy_arg b)
{
    return call((fy_call){.at = at, .op = FY_OP_mul, .in = {fy_arg_tensor(a), b}});
}

fy_tensor *fy_matmul_at(fy_site *at, fy_tensor *a, fy_tensor *b)
{
    return call((fy_call){.at = at, .op = FY_OP_matmul, .in = {fy_arg_tensor(a), fy_arg_tensor(b)}});
}

fy_tensor *fy_relu_at(fy_site *at, fy_tensor *x)
{
    return call((fy_call){.at = at, .op = FY_OP_relu, .in = {fy_arg_tensor(x)}});
}

fy_tensor *fy_sum_at(fy_site *at, fy_tensor *x)
{
    return call((fy_call){.at = at, .op = FY_OP_sum, .in = {fy_arg_tensor(x)}});
}

fy_tensor *fy_clone_at(fy_site *at, fy_tensor *x)
{
    return call((fy_call){.at = at, .op = FY_OP_clone, .in = {fy_arg_tensor(x)}});
}

fy_tensor *fy_contiguous_at(fy_site *at, fy_tensor *x)
{
    if (!fy_check(at, 0, x)) return NULL;
    if (fy_is_contiguous(x)) return fy_hand_out(fy_tensor_again(x));
    return call((fy_call){.at = at, .op = FY_OP_clone, .in = {fy_arg_tensor(x)}, .row_major = true});
}
