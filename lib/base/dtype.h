/* dtype.h: element types: names, sizes, and reading and writing one element. */
#ifndef FERRY_DTYPE_H
#define FERRY_DTYPE_H

#include "ferry.h"

size_t fy_dtype_size(fy_dtype d);       /* bytes of one element */
const char *fy_dtype_torch(fy_dtype d); /* "Float", "Long": as in PyTorch's messages */
const char *fy_dtype_c(fy_dtype d);     /* "float", "long int" */
bool fy_dtype_exists(fy_dtype d);       /* a valid value other than FY_DTYPE_UNSET? */
bool fy_dtype_is_real(fy_dtype d);
bool fy_dtype_is_integer(fy_dtype d);                     /* false for bool */
int fy_dtype_category(fy_dtype d);                        /* 0 unset, 1 bool, 2 integer, 3 float */
fy_dtype fy_dtype_named(const char *name, size_t length); /* "float32"; FY_DTYPE_UNSET if unknown */
/* Reads or writes element i of a host array. Conversions round floats once, truncate to integers (saturating at int64),
 * and wrap to narrower integers. */
double fy_real_at(fy_dtype d, const void *p, int64_t i);
int64_t fy_integer_at(fy_dtype d, const void *p, int64_t i);
fy_arg fy_number_at(fy_dtype d, const void *p, int64_t i);
void fy_number_put(fy_dtype d, void *p, int64_t i, fy_arg x);

#endif
