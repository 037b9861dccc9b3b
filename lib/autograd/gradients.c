/* gradients.c: compiles the gradient column of the op table (op.h). */
#include "gradients.h"

/* The scalars of a node's call. */
static inline fy_arg scalar(const fy_node *n, int i)
{
    return n->integer[i] == 0 || (double)n->integer[i] != n->real[i] ? fy_arg_real(n->real[i])
                                                                     : fy_arg_int(n->integer[i]);
}
static inline fy_arg minus_scalar(const fy_node *n, int i) { return fy_arg_real(-n->real[i]); }

/* Up to three expressions, one per operand; a missing one is NONE. */
#define NONE (fy_arg_tensor(NULL))
#define REFUSED NONE /* by backward.c, before anything runs */
#define X(name, nin, types, dtype, shape, flops, gradient, scalars, words) \
    static fy_arg gradient_of_##name(const fy_node *n, int i, fy_arg g) \
    { \
        const fy_arg a __attribute__((unused)) = n->saved[0].is, b __attribute__((unused)) = n->saved[1].is; \
        const fy_arg c __attribute__((unused)) = n->saved[2].is, r __attribute__((unused)) = n->saved[FY_RESULT].is; \
        (void)g; \
        PICK gradient \
    }
#define PICK(...) PICK_(__VA_ARGS__ __VA_OPT__(, ) NONE, NONE, NONE)
#define PICK_(first, second, third, ...) return i == 0 ? (first) : i == 1 ? (second) : (third);
FY_OPS(X)
#undef X

fy_tensor *fy_gradient(const fy_node *n, int i, fy_tensor *g)
{
    static fy_arg (*const of[FY_OP_COUNT])(const fy_node *, int, fy_arg) = {
#define X(name, ...) gradient_of_##name,
        FY_OPS(X)
#undef X
    };
    return n->op < FY_OP_COUNT ? of[n->op](n, i, fy_arg_tensor(g)).tensor : fy_gradient_of_view(n, i, g);
}
