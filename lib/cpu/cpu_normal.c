/* cpu_normal.c: sixteen uniform numbers become sixteen normal ones, to PyTorch's bit. PyTorch computes them with eight
 * lanes of AVX2: Box-Muller, with logarithm, sine and cosine by the polynomials of Cephes' logf, sinf and cosf (S. L.
 * Moshier), and a product that meets a sum is fused. Here the same in C, wherever it runs: fmaf is exact with and
 * without an instruction for it. */
#include <math.h>
#include <stdint.h>

#include "half.h"
#include "random.h"

#define INLINE static inline __attribute__((always_inline))

/* log(x), 0 < x <= 1: x = m * 2^e with m from sqrt(1/2) to sqrt(2), and log(m) by a polynomial in m - 1. */
INLINE float logarithm(float x)
{
    int32_t bits = (int32_t)fy_float_bits(x);
    float e = (float)(((bits >> 23) & 0xff) - 126),
          half = fy_float_from(((uint32_t)bits & 0x007fffff) | 0x3f000000); /* from 1/2 to 1 */
    int32_t low = half < 0.707106781186547524f;
    float m = low ? half - 1 + half : half - 1, squared = m * m, y = 7.0376836292e-2f;
    e -= (float)low;
    y = fmaf(y, m, -1.1514610310e-1f);
    y = fmaf(y, m, 1.1676998740e-1f);
    y = fmaf(y, m, -1.2420140846e-1f);
    y = fmaf(y, m, 1.4249322787e-1f);
    y = fmaf(y, m, -1.6668057665e-1f);
    y = fmaf(y, m, 2.0000714765e-1f);
    y = fmaf(y, m, -2.4999993993e-1f);
    y = fmaf(y, m, 3.3333331174e-1f);
    y = fmaf(y * m, squared,
             e * -2.12194440e-4f); /* log(2) in two parts: 0.693359375 has few bits, so e times it is exact */
    return m + (y - 0.5f * squared) + e * 0.693359375f;
}

/* sin and cos of an angle from 0 to 2 pi: an octant, and the rest within pi/4 by polynomials. */
INLINE void sine_and_cosine(float angle, float *sine, float *cosine)
{
    int32_t octant = ((int32_t)(angle * 1.27323954473516f) + 1) & ~1;
    float turns = (float)octant;
    float x = fmaf(turns, -3.77489497744594108e-8f, /* pi/4 in three parts */
                   fmaf(turns, -2.4187564849853515625e-4f, fmaf(turns, -0.78515625f, angle)));
    float z = x * x, half = 0.5f * z;
    float c = fmaf(fmaf(2.443315711809948e-5f, z, -1.388731625493765e-3f), z, 4.166664568298827e-2f) * z;
    float s = fmaf(fmaf(-1.9515295891e-4f, z, 8.3321608736e-3f), z, -1.6666654611e-1f) * z;
    c = fmaf(c, z, -half) + 1;
    s = fmaf(s, x, x);
    float first = octant & 2 ? c : s, second = octant & 2 ? s : c;
    *sine = octant & 4 ? -first : first;
    *cosine = (octant + 2) & 4 ? -second : second;
}

/* The first eight are radii, the others angles. */
INLINE void box_muller(float *x, float mean, float std)
{
    for (int j = 0; j < 8; j++) {
        float s, c, radius = sqrtf(-2 * logarithm(1 - x[j]));
        sine_and_cosine((float)(2 * M_PI) * x[j + 8], &s, &c);
        x[j] = fmaf(radius * c, std, mean);
        x[j + 8] = fmaf(radius * s, std, mean);
    }
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static void by_lanes(float *x, float mean, float std) { box_muller(x, mean, std); }
#endif

void fy_sixteen_normal(float *x, float mean, float std)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        by_lanes(x, mean, std);
        return;
    }
#endif
    box_muller(x, mean, std);
}
