/* cpu_row.h: one operand's elements of a row, read and written as doubles. The last dimension is the row. */
#ifndef FERRY_CPU_ROW_H
#define FERRY_CPU_ROW_H

#include "dtype.h"
#include "offset.h"
#include "run_work.h"

typedef struct row {
    fy_dtype dtype;
    void *data;
    int64_t at, step;
} row;

static inline row row_of(const fy_operand *x, int64_t i)
{
    int last = x->layout.ndim - 1;
    return (row){x->dtype, x->data, fy_offset_of(&x->layout, last, i), x->layout.strides[last]};
}

static inline double get(const row *r, int64_t i)
{
    int64_t k = r->at + i * r->step;
    return r->dtype == FY_FLOAT32 ? (double)((const float *)r->data)[k] : fy_real_at(r->dtype, r->data, k);
}

static inline void put(const row *r, int64_t i, double x)
{
    int64_t k = r->at + i * r->step;
    if (r->dtype == FY_FLOAT32) ((float *)r->data)[k] = (float)x;
    else fy_number_put(r->dtype, r->data, k, fy_arg_real(x));
}

#endif
