/* make.h: what the factories share (make.c, ranges.c, random_factories.c). */
#ifndef FERRY_MAKE_H
#define FERRY_MAKE_H

#include "dispatch.h"
#include "tensor.h"

/* make.c: a row-major tensor in RAM whose values the caller sets; NULL after an error. */
fy_tensor *fy_make_host(fy_site *at, fy_dtype dtype, const fy_shape *shape, const char *name);

/* Device, dtype and name of a call, from its options. False after an error. */
bool fy_make_begin(fy_call *c, const fy_opts *o, fy_dtype usual);
/* The new tensor, handed out; NULL after an error. */
fy_tensor *fy_make_finish(const fy_call *c);
/* Are they all numbers, as `what` must be ("a range")? False after an error. ints: are all of them integers? */
bool fy_make_numbers(fy_site *at, const char *what, size_t n, const fy_arg *values, bool *ints);
/* Does the type hold the value? False after an error, in the words for `type`. A negative one wraps in uint8. */
bool fy_fits(fy_site *at, fy_dtype d, fy_arg value, const char *type);
const char *fy_dtype_scalar(fy_dtype d); /* "uint8_t", "at::Half": PyTorch's words for one element */
/* x's layout where it is dense, else one without holes in the same order of dimensions. */
fy_geometry fy_geometry_like(const fy_tensor *x);
/* The value as both kinds of scalar of a call. */
void fy_make_scalar(fy_call *c, int i, fy_arg value);

#endif
