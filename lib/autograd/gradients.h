/* gradients.h: the gradients of a node's operands from that of its result. */
#ifndef FERRY_GRADIENTS_H
#define FERRY_GRADIENTS_H

#include "algebra.h"

#define BY(name, ...) fy_gradient_##name(__VA_ARGS__)

/* The gradient of operand i, in the scope; it may still have to be summed to the operand's shape, and converted. g:
 * that of the result. NULL after an error. */
fy_tensor *fy_gradient(const fy_node *n, int i, fy_tensor *g);
fy_tensor *fy_gradient_of_view(const fy_node *n, int i, fy_tensor *g); /* gradients_of_views.c: of fy_node_kind */

/* What op.h's expressions call as BY(name, ...); g, r, a, b, c, n as there.
 * gradients_of_elements.c */
fy_arg fy_gradient_base_of_power(fy_arg g, fy_arg a, fy_arg b);
fy_arg fy_gradient_exponent_of_power(fy_arg g, fy_arg a, fy_arg b, fy_arg r);
fy_arg fy_gradient_unless_less(fy_arg g, fy_arg x, fy_arg y); /* 0 where x < y, half where equal */
fy_arg fy_gradient_one_minus(fy_arg x);
fy_arg fy_gradient_zeros(fy_arg g);
fy_arg fy_gradient_triangle(const fy_node *n, fy_arg g);
/* gradients_of_reductions.c */
fy_arg fy_gradient_spread(const fy_node *n, fy_arg g); /* over the reduced dimensions */
fy_arg fy_gradient_reduced_count(const fy_node *n);    /* elements per result */
fy_arg fy_gradient_product_of_others(const fy_node *n, fy_arg g, fy_arg a, fy_arg r);
fy_arg fy_gradient_variance(const fy_node *n, fy_arg g, fy_arg a);
fy_arg fy_gradient_extreme(const fy_node *n, fy_arg g, fy_arg a, fy_arg r);
fy_arg fy_gradient_norm(const fy_node *n, fy_arg g, fy_arg a, fy_arg r);
fy_arg fy_gradient_along(const fy_node *n, int op, fy_arg g, fy_arg r);
fy_arg fy_gradient_row_moments(const fy_node *n, fy_arg g,
                               fy_arg a); /* layer_norm: a row's mean depends on each element */
fy_arg fy_gradient_class_scores(const fy_node *n, fy_arg g, fy_arg b);
fy_arg fy_gradient_sum_from_end(const fy_node *n, fy_arg g);
/* gradients_of_products.c */
fy_arg fy_gradient_left_factor(const fy_node *n, fy_arg g, fy_arg right);
fy_arg fy_gradient_right_factor(const fy_node *n, fy_arg g, fy_arg left);
/* gradients_of_indexing.c */
fy_arg fy_gradient_sum_of_copies(const fy_node *n, fy_arg g);
fy_arg fy_gradient_add_rows(const fy_node *n, fy_arg g, fy_arg b);
fy_arg fy_gradient_add_elements(const fy_node *n, fy_arg g, fy_arg b);
fy_arg fy_gradient_take_elements(const fy_node *n, fy_arg g, fy_arg b);
fy_arg fy_gradient_put_selected(const fy_node *n, fy_arg g, fy_arg b);

#endif
