/* shape.h: arithmetic of sizes, strides and views. */
#ifndef FERRY_SHAPE_H
#define FERRY_SHAPE_H

#include "graph.h"
#include "run_work.h"
#include "tensor.h"

/* shape.c */
int64_t fy_shape_numel(const fy_shape *s);
bool fy_shape_ok(fy_site *at, const fy_shape *s, fy_dtype d, int64_t *numel); /* false after an error */
void fy_shape_rows(const fy_shape *s, int64_t *strides);                      /* row-major strides */
fy_geometry fy_geometry_of(const fy_tensor *x);
int64_t fy_span(const fy_geometry *g);  /* elements from the first to the last, gaps included */
bool fy_is_dense(const fy_geometry *g); /* no gaps and no overlaps, in any order of dimensions */
/* Strides of a result that follows its operands' order of dimensions, as in PyTorch. The operands are expanded to s;
 * alike: all had that shape before, and none is a number. */
void fy_shape_follow(const fy_shape *s, int n, const fy_layout *in, bool alike, int64_t *strides);
fy_layout fy_layout_of(const fy_geometry *g);
const char *fy_shape_text(const int64_t *dims, int n, const char *ends, char *buf, size_t room); /* "[2, 3]" */

int64_t fy_saturating_mul(int64_t step, int64_t size); /* step * size, or INT64_MAX */
/* offset + step * index, or `offset` if that is too large: only an empty tensor can get there. */
int64_t fy_saturating_offset(int64_t offset, int64_t step, int64_t index);

/* view.c */
/* A view of x's storage; scope-tracked. kind and dims say how its gradient becomes x's (graph.h). */
fy_tensor *fy_view_make(fy_site *at, fy_tensor *x, const fy_geometry *g, fy_node_kind kind, const fy_shape *dims);
fy_tensor *fy_view_named(fy_site *at, fy_tensor *x, const fy_geometry *g, fy_node_kind kind, const fy_shape *dims,
                         const char *name); /* name: static */
/* Strides of a view of shape s that keeps x's element order; false if there is none. */
bool fy_restride(const fy_tensor *x, const fy_shape *s, int64_t *strides);
/* Makes a negative dimension (of x; of n) positive; false after an error. */
bool fy_wrap_dim(fy_site *at, fy_tensor *x, int64_t *dim);
bool fy_wrap_dim_of(fy_site *at, fy_tensor *x, int n, int64_t *dim);

/* Infers the one size that is -1; false after an error. */
bool fy_shape_infer(fy_site *at, fy_tensor *x, fy_shape *s);

#endif
