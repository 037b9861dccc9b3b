/* cpu_float.h: branch-free exp, log and the like for float, so that loops vectorize. Errors below 2 ulp; identical on
 * every machine, since no multiply-add is fused. Polynomials from Cephes (S. Moshier). */
#ifndef FERRY_CPU_FLOAT_H
#define FERRY_CPU_FLOAT_H

#include <math.h>

#include "half.h"

/* 2^n for n from -126 to 127. */
static inline float fy_power_of_two(int32_t n) { return fy_float_from((uint32_t)(n + 127) << 23); }

/* x = n ln 2 + r; e^r by a polynomial, times 2^n in two steps, as 2^n alone may be no float. Adding 1.5 * 2^23
 * leaves n in the last bits. */
static inline float fy_exp_float(float x)
{
    const float shift = 12582912.0f;
    float c = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
    float shifted = c * 1.44269504088896341f + shift, n = shifted - shift;
    float r = c - n * 0.693359375f - n * -2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    int32_t whole = (int32_t)(fy_float_bits(shifted) - fy_float_bits(shift)), half = whole >> 1;
    half = half > 127 ? 127 : half < -126 ? -126 : half; /* of NaN it is anything */
    int32_t rest = whole - half > 127 ? 127 : whole - half < -126 ? -126 : whole - half;
    return p * fy_power_of_two(half) * fy_power_of_two(rest);
}

/* x = 2^n m with m around 1; log m by a polynomial. */
static inline float fy_log_float(float x)
{
    uint32_t small = x < 1.17549435e-38f; /* no exponent of its own: a larger one is taken */
    uint32_t bits = fy_float_bits(small ? x * 8388608.0f : x), above = bits - 0x3f3504f3; /* sqrt(1/2) */
    int32_t n = (int32_t)above >> 23;
    float m = fy_float_from((above & 0x7fffff) + 0x3f3504f3) - 1.0f, square = m * m;
    float e = (float)(n - (small ? 23 : 0)), p = 7.0376836292e-2f;
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    p = p * m * square + e * -2.12194440e-4f - 0.5f * square;
    float log = m + p + e * 0.693359375f;
    log = x == 0 ? -HUGE_VALF : x < 0 ? NAN : log;
    return x < HUGE_VALF ? log : x; /* infinity, and NaN */
}

static inline float fy_sigmoid_float(float x) { return 1.0f / (1.0f + fy_exp_float(-x)); }

static inline float fy_tanh_float(float x)
{
    float size = fabsf(x), square = x * x, p = -5.70498872745e-3f;
    p = p * square + 2.06390887954e-2f;
    p = p * square - 5.37397155531e-2f;
    p = p * square + 1.33314422036e-1f;
    p = p * square - 3.33332819422e-1f;
    float small = p * square * x + x, large = 1.0f - 2.0f / (fy_exp_float(2.0f * size) + 1.0f);
    return copysignf(size < 0.625f ? small : large, x); /* of -0 too; NaN is not small */
}

/* fy_sine_float's range: beyond it the argument reduction loses precision. */
#define FY_SINE_LIMIT 100000.0f

/* sin(x + quarters * pi / 2), in double and rounded once: x = n pi / 2 + r, then by n a sine or a cosine of r. */
static inline float fy_sine_float(float x, int quarters)
{
    const double shift = 6755399441055744.0; /* 1.5 * 2^52 */
    double shifted = (double)x * 0.63661977236758134308 + shift, n = shifted - shift;
    double r = (double)x - n * 1.57079632673412561417 - n * 6.07710050650619224932e-11, z = r * r;
    double sine = r * (1.0 + z * (-1.66666666666666324348e-1 +
                                  z * (8.33333333332248946124e-3 +
                                       z * (-1.98412698298579493134e-4 +
                                            z * (2.75573137070700676789e-6 - z * 2.50507602534068634195e-8)))));
    double cosine = 1.0 + z * (-0.5 + z * (4.16666666666666019037e-2 +
                                           z * (-1.38888888888741095749e-3 +
                                                z * (2.48015872894767294178e-5 - z * 2.75573143513906633035e-7))));
    int64_t turn = (int64_t)(fy_bits_of(shifted) + (uint64_t)quarters);
    double value = turn & 1 ? cosine : sine;
    return (float)(turn & 2 ? -value : value);
}

#endif
