/* make.h: what the factories share (make.c, ranges.c, random_*.c). */
#ifndef FERRY_MAKE_H
#define FERRY_MAKE_H

#include "dispatch.h"
#include "tensor.h"

/* random_factories.c: runs an op that draws: reserves the GPU generator's counters, and returns them if it fails. */
fy_tensor *fy_draw(fy_call *c);
/* Is the call's dtype a float type? False after an error in the words of PyTorch's kernel. */
bool fy_draw_check(const fy_call *c, const char *kernel);

/* make.c: an uninitialized row-major tensor in host memory; NULL after an error. */
fy_tensor *fy_make_host(fy_site *at, fy_dtype dtype, const fy_shape *shape, const char *name);

/* Sets a call's device, dtype (`usual` if unset) and name from its options. False after an error. */
bool fy_make_begin(fy_call *c, const fy_opts *o, fy_dtype usual);
/* Runs the call, and gives the program its tensor; NULL after an error. */
fy_tensor *fy_make_finish(const fy_call *c);
/* The program gets x, in its scope: a leaf that requires grad, if the options said so. x may be NULL. */
fy_tensor *fy_make_result(const fy_call *c, fy_tensor *x);
/* Are all values numbers? If not, false after an error with this message. *ints: all are integers. */
bool fy_make_numbers(fy_site *at, const char *message, size_t n, const fy_arg *values, bool *ints);
/* Is the value in the type's range? False after an error that names `type`. A negative one wraps around in uint8. */
bool fy_fits(fy_site *at, fy_dtype d, fy_arg value, const char *type);
double fy_dtype_largest(fy_dtype d);     /* the type's largest finite number */
const char *fy_dtype_scalar(fy_dtype d); /* the C++ element type in PyTorch's messages: "uint8_t", "at::Half" */
/* x's layout if it is dense, else a dense one with the dimensions in the same order. */
fy_geometry fy_geometry_like(const fy_tensor *x);
/* Stores the value as scalar i of a call, as real and as integer. */
void fy_make_scalar(fy_call *c, int i, fy_arg value);

#endif
