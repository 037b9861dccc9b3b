/* algebra.h: what the gradients' expressions are made of: ops on tensors and numbers, by a node's backward pass. Results
 * belong to the scope that backward.c opens for the node. A failed op gives NULL, which the ones after it pass on. */
#ifndef FERRY_ALGEBRA_H
#define FERRY_ALGEBRA_H

#include "graph.h"
#include "op.h"

#define OP(op, ...) fy_algebra(FY_OP_##op, sizeof((fy_arg[]){__VA_ARGS__}) / sizeof(fy_arg), (fy_arg[]){__VA_ARGS__})
#define NUMBER(x) fy_arg_real(x)
#define ZERO NUMBER(0)
#define WHERE(mask, x) OP(where, mask, x, ZERO)

extern _Thread_local fy_site *fy_algebra_site; /* of the fy_backward call that this thread runs */

fy_arg fy_algebra(int op, size_t n, const fy_arg *in);
fy_arg fy_algebra_call(int op, fy_arg a, fy_arg b, const fy_node *like); /* with the node's dims and scalars */

/* Shapes, and zeros on x's device of x's dtype. */
fy_tensor *fy_algebra_zeros(const fy_tensor *x, const fy_shape *shape);
fy_tensor *fy_algebra_reshape(fy_tensor *x, const fy_shape *shape);
fy_tensor *fy_algebra_sum(fy_tensor *x, const fy_shape *dims, bool keepdim);
fy_tensor *fy_algebra_sum_to(fy_tensor *x, const fy_shape *shape); /* the reverse of broadcasting */
fy_tensor *fy_algebra_transposed(fy_tensor *x);                    /* the last two dimensions swapped */
/* A view of x's memory, offset elements after x's first. */
fy_tensor *fy_algebra_view(fy_tensor *x, const fy_geometry *g, int64_t offset);

#endif
