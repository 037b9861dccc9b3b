/* gradients_of_elements.c: gradients of elementwise ops that take more than an expression. */
#include "gradients.h"

/* b * a ** (b - 1); 0 for b = 0, also where a is 0. */
fy_arg fy_gradient_base_of_power(fy_arg g, fy_arg a, fy_arg b)
{
    if (!b.is_tensor && b.real == 0) return fy_gradient_zeros(g);
    fy_arg less = b.is_tensor ? OP(sub, b, NUMBER(1)) : b.is_int ? fy_arg_int(b.integer - 1) : fy_arg_real(b.real - 1);
    fy_arg gradient = OP(mul, g, OP(mul, OP(pow, a, less), b));
    return b.is_tensor ? OP(where, OP(eq, b, NUMBER(0)), ZERO, gradient) : gradient;
}

/* r * log(a); 0 where a is 0 and b is not negative. */
fy_arg fy_gradient_exponent_of_power(fy_arg g, fy_arg a, fy_arg b, fy_arg r)
{
    fy_arg gradient = OP(mul, g, OP(mul, r, a.is_tensor ? OP(log, a) : NUMBER(__builtin_log(a.real))));
    if (!a.is_tensor) return a.real == 0 ? OP(where, OP(ge, b, NUMBER(0)), ZERO, gradient) : gradient;
    return OP(where, OP(logical_and, OP(eq, a, NUMBER(0)), OP(ge, b, NUMBER(0))), ZERO, gradient);
}

fy_arg fy_gradient_unless_less(fy_arg g, fy_arg x, fy_arg y)
{
    fy_arg shared = OP(where, OP(eq, x, y), OP(div, g, NUMBER(2)), g);
    return OP(where, OP(lt, x, y), ZERO, shared);
}

fy_arg fy_gradient_one_minus(fy_arg x) { return x.is_tensor ? OP(add, OP(neg, x), NUMBER(1)) : NUMBER(1 - x.real); }

fy_arg fy_gradient_zeros(fy_arg g)
{
    fy_geometry as = {0};
    if (!g.tensor) return g;
    as.shape.ndim = g.tensor->ndim;
    for (int d = 0; d < as.shape.ndim; d++) as.shape.dims[d] = g.tensor->shape[d];
    return fy_arg_tensor(fy_algebra_zeros(g.tensor, &as.shape));
}

fy_arg fy_gradient_triangle(const fy_node *n, fy_arg g) { return fy_algebra_call(n->op, g, NUMBER(0), n); }
