/* lesson_io.h: a lesson's inputs as a pure function of seed, name, dtype and index. The program gets them from
 * fy_given; the grader computes them again with these functions. */
#ifndef FERRY_GIVEN_H
#define FERRY_GIVEN_H

#include "ferry.h"

/* Finds `name` in a list such as "mat1:float32:4x3 n:int64:" (name:dtype:sizes, separated by blanks; no sizes: 0-dim).
 * False if it is missing or its entry is malformed. */
bool fy_given_spec(const char *spec, const char *name, fy_dtype *dtype, fy_shape *shape);

/* n values, row-major. Floats: multiples of 1/64 in [-4, 4), so that small sums are exact; integers: -8 to 8. */
void fy_given_values(uint64_t seed, const char *name, fy_dtype dtype, int64_t n, double *out);

#endif
