/* half.h: the two 16-bit floats, and every conversion between element types that C leaves open.
 *
 * float16 is IEEE 754 binary16 (5 bits of exponent, 10 of fraction), bfloat16 the upper half of a float32
 * (8 and 7). Conversions round once, to the nearest, halves to even. Read by the host's files (C) and by
 * the kernels (C++ and CUDA). */
#ifndef FERRY_HALF_H
#define FERRY_HALF_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define FY_BOTH __host__ __device__ static inline
#else
#define FY_BOTH static inline
#endif

typedef struct fy_half {
    uint16_t bits;
} fy_half;
typedef struct fy_bfloat {
    uint16_t bits;
} fy_bfloat;

FY_BOTH uint64_t fy_bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

FY_BOTH uint32_t fy_float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

FY_BOTH float fy_float_from(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The upper bits of n, its lower `drop` bits rounded to nearest, halves to even. */
FY_BOTH uint64_t fy_round_off(uint64_t n, int drop)
{
    uint64_t half = (uint64_t)1 << (drop - 1), kept = n >> drop, rest = n & (2 * half - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

/* A double's bits as a float of `exponent` and `fraction` bits: from double in one rounding, so that what
 * comes by way of float is rounded once as well (a float is a double). */
FY_BOTH uint16_t fy_narrowed(double x, int exponent, int fraction)
{
    uint64_t bits = fy_bits_of(x), payload = bits & (((uint64_t)1 << 52) - 1);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000), infinity = (uint16_t)(((1 << exponent) - 1) << fraction);
    int bias = (1 << (exponent - 1)) - 1, e = (int)(bits >> 52 & 0x7ff);
    if (e == 0x7ff) return (uint16_t)(sign | infinity | (payload ? 1 << (fraction - 1) : 0));
    e += bias - 1023;
    if (e >= (1 << exponent) - 1) return (uint16_t)(sign | infinity);
    if (e < -fraction) return sign; /* less than half of the smallest */
    payload |= (uint64_t)1 << 52;
    if (e > 0) /* a carry out of the fraction raises the exponent, as it should */
        return (uint16_t)(sign | (((uint64_t)(e - 1) << fraction) + fy_round_off(payload, 52 - fraction)));
    return (uint16_t)(sign | fy_round_off(payload, 53 - fraction - e));
}

FY_BOTH fy_half fy_half_of(double x)
{
    fy_half h = {fy_narrowed(x, 5, 10)};
    return h;
}

/* From a float it is the upper half, rounded. */
FY_BOTH fy_bfloat fy_bfloat_of_float(float x)
{
    uint32_t bits = fy_float_bits(x);
    fy_bfloat b = {(uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 | (bits >> 16 & 0x8000)
                                                               : (bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
    return b;
}

/* The same for binary16, without branches, so that a loop of it becomes vector instructions. What is too
 * small for an exponent of its own is rounded by the addition of a number whose last bit is worth 2^-24. */
FY_BOTH fy_half fy_half_of_float(float x)
{
    uint32_t bits = fy_float_bits(x), sign = bits & 0x80000000, rest = bits ^ sign;
    uint32_t normal = (rest + 0xc8000fff + (rest >> 13 & 1)) >> 13;
    uint32_t small = fy_float_bits(fy_float_from(rest) + 0.5f) - 0x3f000000;
    uint32_t beyond = rest > 0x7f800000 ? 0x7e00 : 0x7c00;
    uint32_t magnitude = rest >= 0x47800000 ? beyond : rest < 0x38800000 ? small : normal;
    fy_half h = {(uint16_t)(sign >> 16 | magnitude)};
    return h;
}

/* A double as a float whose last bit says whether anything was lost ("rounded to odd"): rounded once more, to
 * fewer bits, it gives what the double itself would have given. */
FY_BOTH float fy_float_odd(double x)
{
    float near = (float)x;
    uint32_t bits = fy_float_bits(near);
    double back = (double)near, size = x < 0 ? -x : x, found = back < 0 ? -back : back;
    uint32_t toward_zero = found > size, lost = back != x && x == x; /* beyond a float's range as well */
    return fy_float_from((bits - toward_zero) | lost);
}

FY_BOTH fy_bfloat fy_bfloat_of(double x)
{
    fy_bfloat b = {fy_narrowed(x, 8, 7)};
    return b;
}

FY_BOTH float fy_bfloat_float(fy_bfloat b) { return fy_float_from((uint32_t)b.bits << 16); }

/* Moved into place the fraction and exponent are those of a float 2^112 too small; infinities and NaN
 * then need the exponent's upper bits. */
FY_BOTH float fy_half_float(fy_half h)
{
    uint32_t sign = (uint32_t)(h.bits & 0x8000) << 16, rest = (uint32_t)(h.bits & 0x7fff) << 13;
    float magnitude = fy_float_from(rest) * 5.192296858534828e33f; /* 2^112 */
    if ((h.bits & 0x7c00) == 0x7c00) return fy_float_from(sign | 0x7f800000 | (rest & 0x7fffff));
    return fy_float_from(sign | fy_float_bits(magnitude));
}

/* A real as an integer: its fraction dropped. What does not fit becomes the nearest that there is, NaN the
 * smallest, on the card and on the host. */
FY_BOTH int64_t fy_to_int64(double x)
{
    if (x >= 9223372036854775808.0) return INT64_MAX;
    return x >= -9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

#endif
