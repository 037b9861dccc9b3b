/* offset.h: element offsets, for host loops over single elements; and when two strides meet. */
#ifndef FERRY_OFFSET_H
#define FERRY_OFFSET_H

#include "run_work.h"

/* Offset in elements of element i, counted row-major over the first ndim dimensions. */
static inline int64_t fy_offset_of(const fy_layout *l, int ndim, int64_t i)
{
    int64_t offset = 0;
    for (int d = ndim - 1; d >= 0; d--) {
        offset += i % l->shape[d] * l->strides[d];
        i /= l->shape[d];
    }
    return offset;
}

/* The greatest common divisor; of a and 0, a. */
static inline int64_t fy_gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Copies one element unchanged. */
static inline void fy_move(void *to, int64_t i, const void *from, int64_t k, size_t size)
{
    switch (size) {
    case 1: ((uint8_t *)to)[i] = ((const uint8_t *)from)[k]; break;
    case 2: ((uint16_t *)to)[i] = ((const uint16_t *)from)[k]; break;
    case 4: ((uint32_t *)to)[i] = ((const uint32_t *)from)[k]; break;
    default: ((uint64_t *)to)[i] = ((const uint64_t *)from)[k]; break;
    }
}

#endif
