/* cpu_half.c: arrays of 16-bit floats to float and back. */
#include "cpu.h"
#include "half.h"

FY_CLONES void fy_half_widen(int64_t n, float *to, const fy_half *from)
{
    for (int64_t i = 0; i < n; i++) to[i] = fy_half_float(from[i]);
}

FY_CLONES void fy_half_narrow(int64_t n, fy_half *to, const float *from)
{
    for (int64_t i = 0; i < n; i++) to[i] = fy_half_of_float(from[i]);
}

FY_CLONES void fy_bfloat_widen(int64_t n, float *to, const fy_bfloat *from)
{
    for (int64_t i = 0; i < n; i++) to[i] = fy_bfloat_float(from[i]);
}

FY_CLONES void fy_bfloat_narrow(int64_t n, fy_bfloat *to, const float *from)
{
    for (int64_t i = 0; i < n; i++) to[i] = fy_bfloat_of_float(from[i]);
}
