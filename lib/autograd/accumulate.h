/* accumulate.h: gradients added up, and stored in their tensors. */
#ifndef FERRY_ACCUMULATE_H
#define FERRY_ACCUMULATE_H

#include "graph.h"

/* a + b: in a itself if nothing else holds it. Takes over the reference to a; NULL after an error. */
fy_tensor *fy_gradient_sum(fy_site *at, fy_tensor *a, fy_tensor *b);
/* Adds g to the node's gradient; takes over the reference. False after an error. */
bool fy_gradient_store(fy_site *at, fy_node *node, fy_tensor *g);
/* Replaces the node's gradient by g; takes over the reference. g may be NULL. */
void fy_gradient_set(fy_site *at, fy_node *node, fy_tensor *g);

#endif
