/* cpu.h: the host versions of the ops, one function an op and dtype, and the walk they share. */
#ifndef FERRY_CPU_H
#define FERRY_CPU_H

#include "op.h"

/* One row: n elements of each operand, p[0] the result; steps in bytes. */
typedef void (*fy_row)(int64_t n, char *const *p, const int64_t *step, void *context);

/* Call row for every row of the operands, x[0] the result, all of one shape. An operand whose data is
 * NULL is the number that its place in `numbers` points to. */
void fy_walk(int count, const fy_operand *const *x, const void *const *numbers, fy_row row, void *context);

#define FY_HOST_OPS(X) X(fill) X(arange) X(cast) X(clone) X(add) X(mul) X(relu) X(sum) X(matmul)
#define X(op) \
    void fy_host_##op##_f32(fy_run_work *w); \
    void fy_host_##op##_i64(fy_run_work *w);
FY_HOST_OPS(X)
#undef X
void fy_host_randn_f32(fy_run_work *w);

#endif
