/* values.h: compares a tensor's elements with expected values, on the CPU and on the card. */
#ifndef VALUES_H
#define VALUES_H

#include <math.h>

#include "dtype.h"
#include "tensor.h"

/* In row-major order, with the relative tolerance `part`; NaN equals NaN. */
void assert_values(fy_tensor *x, size_t n, const double *expected, double part, int line);
#define DOUBLES(...) \
    sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]) { __VA_ARGS__ }
#define GIVES(x, ...) assert_values(x, DOUBLES(__VA_ARGS__), 0, __LINE__)
#define NEARLY(part, x, ...) assert_values(x, DOUBLES(__VA_ARGS__), part, __LINE__)
#define ON_BOTH(device) \
    for (size_t place_ = 0; place_ < 2; place_++) FY_SCOPE \
    for (const char *device = ((const char *[]){"cpu", "cuda"})[place_], *once_ = device; once_; once_ = NULL)
#define OF(d, dtype_, ...) fy_to(fy_to(fy_tensor((__VA_ARGS__)), dtype_), d)

#endif
