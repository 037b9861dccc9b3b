/* half.h: the two 16-bit floats, and conversions between element types that C leaves undefined.
 *
 * float16 is IEEE 754 binary16 (5 exponent bits, 10 fraction bits), bfloat16 the upper half of a float32 (8 and 7).
 * Conversions round once, to nearest, ties to even. Included by host code (C) and kernels (C++ and CUDA). */
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

/* n without its lower `drop` bits, rounded to nearest, ties to even. */
FY_BOTH uint64_t fy_round_off(uint64_t n, int drop)
{
    uint64_t half = (uint64_t)1 << (drop - 1), kept = n >> drop, rest = n & (2 * half - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

/* A double as a float with `exponent` and `fraction` bits, in one rounding. Exact for float input too, since every
 * float is a double. */
FY_BOTH uint16_t fy_narrowed(double x, int exponent, int fraction)
{
    uint64_t bits = fy_bits_of(x), payload = bits & (((uint64_t)1 << 52) - 1);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000), infinity = (uint16_t)(((1 << exponent) - 1) << fraction);
    int bias = (1 << (exponent - 1)) - 1, e = (int)(bits >> 52 & 0x7ff);
    if (e == 0x7ff) return (uint16_t)(sign | infinity | (payload ? 1 << (fraction - 1) : 0));
    e += bias - 1023;
    if (e >= (1 << exponent) - 1) return (uint16_t)(sign | infinity);
    if (e < -fraction) return sign; /* less than half of the smallest subnormal */
    payload |= (uint64_t)1 << 52;
    if (e > 0) /* a carry out of the fraction correctly increments the exponent */
        return (uint16_t)(sign | (((uint64_t)(e - 1) << fraction) + fy_round_off(payload, 52 - fraction)));
    return (uint16_t)(sign | fy_round_off(payload, 53 - fraction - e));
}

FY_BOTH fy_half fy_half_of(double x)
{
    fy_half h = {fy_narrowed(x, 5, 10)};
    return h;
}

/* The upper half of the float's bits, rounded. */
FY_BOTH fy_bfloat fy_bfloat_of_float(float x)
{
    uint32_t bits = fy_float_bits(x);
    fy_bfloat b = {(uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 | (bits >> 16 & 0x8000)
                                                               : (bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
    return b;
}

/* The same for binary16, branchless, so that loops vectorize. Subnormals are rounded by adding 0.5, whose last bit is
 * worth 2^-24, the smallest binary16 subnormal. */
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

/* A double as a float, rounded to odd: rounding that again, to fewer bits, gives the same as rounding the double. */
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

/* Shifted into place, the exponent bias differs by 112, so the float is scaled by 2^112; infinities and NaN need all
 * exponent bits set. */
FY_BOTH float fy_half_float(fy_half h)
{
    uint32_t sign = (uint32_t)(h.bits & 0x8000) << 16, rest = (uint32_t)(h.bits & 0x7fff) << 13;
    float magnitude = fy_float_from(rest) * 5.192296858534828e33f; /* 2^112 */
    if ((h.bits & 0x7c00) == 0x7c00) return fy_float_from(sign | 0x7f800000 | (rest & 0x7fffff));
    return fy_float_from(sign | fy_float_bits(magnitude));
}

/* Truncates. Saturates where C's conversion would be UB, NaN gives INT64_MIN: the same on host and device. */
FY_BOTH int64_t fy_to_int64(double x)
{
    if (x >= 9223372036854775808.0) return INT64_MAX;
    return x >= -9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

#endif
