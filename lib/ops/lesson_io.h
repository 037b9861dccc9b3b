/* lesson_io.h: a lesson's inputs, as a pure function of seed, name, dtype and index. The program asks for
 * them with fy_given, the grader makes them again with these. */
#ifndef FERRY_GIVEN_H
#define FERRY_GIVEN_H

#include "ferry.h"

/* Look `name` up in a list such as "mat1:float32:4x3 n:int64:" (name:dtype:sizes, blanks between; no
 * sizes: 0-dim). False when it is not there, or its entry cannot be read. */
bool fy_given_spec(const char *spec, const char *name, fy_dtype *dtype, fy_shape *shape);

/* n values, row-major. float32: multiples of 1/64 in [-4, 4), so that small sums are exact; int64: -8 to 8. */
void fy_given_values(uint64_t seed, const char *name, fy_dtype dtype, int64_t n, double *out);

#endif
