/* randn.cu: normal(0, 1) numbers from a counter: element i depends on seed, offset and i alone, so any
 * thread can make any element, in any order, on any card.
 *
 * Philox4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011) turns one
 * 128-bit counter and a 64-bit key into four 32-bit words in ten rounds of multiply and xor; each
 * pair of words becomes two normal numbers by the method of Box and Muller. One thread makes four
 * elements; a call uses (numel + 3) / 4 counters from its offset on. */
#include "kernel.h"

struct words {
    uint32_t w[4];
};

__device__ inline words philox(uint64_t counter, uint64_t seed)
{
    words c = {{(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0}};
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c.w[0], p1 = (uint64_t)0xCD9E8D57u * c.w[2];
        c = {{(uint32_t)(p1 >> 32) ^ c.w[1] ^ k0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c.w[3] ^ k1, (uint32_t)p0}};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

__device__ inline void box_muller(uint32_t a, uint32_t b, float *x, float *y)
{
    float u = ((float)(a >> 8) + 0.5f) / 16777216.0f;              /* in (0, 1): its log is finite */
    float angle = 6.28318530717958647692f * (float)(b >> 8) / 16777216.0f;
    float radius = sqrtf(-2.0f * logf(u));
    *x = radius * cosf(angle);
    *y = radius * sinf(angle);
}

__global__ void randn(uint64_t seed, uint64_t offset, float *out, fy_layout lo)
{
    int64_t four = thread_number();
    if (four * 4 >= lo.numel) return;
    words r = philox(offset + (uint64_t)four, seed);
    float x[4];
    box_muller(r.w[0], r.w[1], &x[0], &x[1]);
    box_muller(r.w[2], r.w[3], &x[2], &x[3]);
    for (int64_t k = 0; k < 4 && four * 4 + k < lo.numel; k++) out[at(lo, four * 4 + k)] = x[k];
}

LAUNCHER(randn_f32)
{
    int64_t n = w->out.layout.numel;
    if (n == 0) return;
    dim3 grid = grid_for(w, "randn_f32", (n + 3) / 4);
    LAUNCH(randn, grid, FY_THREADS)
    ((uint64_t)w->integer[0], (uint64_t)w->integer[1], (float *)w->out.data, flat(w->out.layout));
}
