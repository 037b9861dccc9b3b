/* random.cu: random numbers from a counter: element i depends on seed, offset and i alone, so any thread can
 * make any element, in any order, on any card.
 *
 * Philox4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011) turns one
 * 128-bit counter and a 64-bit key into four 32-bit words in ten rounds of multiply and xor. One thread
 * makes four elements; a call uses (numel + 3) / 4 counters from its offset on. What needs 64 bits an
 * element takes the words of a second counter, which differs in its upper half. */
#include "kernel.h"

struct words {
    uint32_t w[4];
};

__device__ inline words philox(uint64_t counter, uint32_t upper, uint64_t seed)
{
    words c = {{(uint32_t)counter, (uint32_t)(counter >> 32), upper, 0}};
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c.w[0], p1 = (uint64_t)0xCD9E8D57u * c.w[2];
        c = {{(uint32_t)(p1 >> 32) ^ c.w[1] ^ k0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c.w[3] ^ k1, (uint32_t)p0}};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

/* Sixty-four bits for each of a counter's four elements. */
struct draws {
    uint64_t bits[4];
};

__device__ inline draws draw(uint64_t counter, uint64_t seed)
{
    words high = philox(counter, 0, seed), low = philox(counter, 1, seed);
    draws d;
    for (int k = 0; k < 4; k++) d.bits[k] = (uint64_t)high.w[k] << 32 | low.w[k];
    return d;
}

/* ---- rand: as many bits as the type's fraction has ---- */

__device__ inline void uniform(uint64_t bits, float *x)
{
    *x = (float)(bits >> 40) / 16777216.0f;
}
__device__ inline void uniform(uint64_t bits, double *x)
{
    *x = (double)(bits >> 11) / 9007199254740992.0;
}
__device__ inline void uniform(uint64_t bits, fy_half *x)
{
    put(x, (float)(bits >> 53) / 2048.0f);
}
__device__ inline void uniform(uint64_t bits, fy_bfloat *x)
{
    put(x, (float)(bits >> 56) / 256.0f);
}

template <typename T> __global__ void rand_(uint64_t seed, uint64_t offset, T *out, fy_layout lo)
{
    int64_t four = thread_number();
    if (four * 4 >= lo.numel) return;
    draws d = draw(offset + (uint64_t)four, seed);
    for (int64_t k = 0; k < 4 && four * 4 + k < lo.numel; k++) uniform(d.bits[k], &out[at(lo, four * 4 + k)]);
}

/* ---- randn: two uniform numbers become two normal ones (Box and Muller) ---- */

__device__ inline void box_muller(uint64_t a, uint64_t b, float *x, float *y)
{
    float u = ((float)(a >> 40) + 0.5f) / 16777216.0f; /* in (0, 1): its log is finite */
    float angle = 6.28318530717958647692f * (float)(b >> 40) / 16777216.0f;
    float radius = sqrtf(-2.0f * logf(u));
    *x = radius * cosf(angle);
    *y = radius * sinf(angle);
}
__device__ inline void box_muller(uint64_t a, uint64_t b, double *x, double *y)
{
    double u = ((double)(a >> 11) + 0.5) / 9007199254740992.0;
    double angle = 6.28318530717958647692 * (double)(b >> 11) / 9007199254740992.0;
    double radius = sqrt(-2.0 * log(u));
    *x = radius * cos(angle);
    *y = radius * sin(angle);
}

template <typename T> __global__ void randn(uint64_t seed, uint64_t offset, T *out, fy_layout lo)
{
    int64_t four = thread_number();
    if (four * 4 >= lo.numel) return;
    draws d = draw(offset + (uint64_t)four, seed);
    wide_of<T> x[4];
    box_muller(d.bits[0], d.bits[1], &x[0], &x[1]);
    box_muller(d.bits[2], d.bits[3], &x[2], &x[3]);
    for (int64_t k = 0; k < 4 && four * 4 + k < lo.numel; k++) put(&out[at(lo, four * 4 + k)], x[k]);
}

/* ---- randint ---- */

__device__ inline void set(fy_half *to, int64_t x)
{
    *to = fy_half_of((double)x);
}
__device__ inline void set(fy_bfloat *to, int64_t x)
{
    *to = fy_bfloat_of((double)x);
}
template <typename T> __device__ inline void set(T *to, int64_t x)
{
    *to = (T)x;
}

template <typename T>
__global__ void randint(uint64_t seed, uint64_t offset, uint64_t low, uint64_t range, T *out, fy_layout lo)
{
    int64_t four = thread_number();
    if (four * 4 >= lo.numel) return;
    draws d = draw(offset + (uint64_t)four, seed);
    for (int64_t k = 0; k < 4 && four * 4 + k < lo.numel; k++)
        set(&out[at(lo, four * 4 + k)], (int64_t)(d.bits[k] % range + low));
}

/* ---- randperm: a shuffle in which every thread finds its own element ----
 *
 * A Feistel network turns numbers of 2 * half bits into one another, one to one, whatever its round function
 * does. Numbers below n may leave their range; they go through it again until they are back. */

__device__ inline uint32_t stirred(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
    x = (x ^ (x >> 13)) * 0xC2B2AE35u;
    return x ^ (x >> 16);
}

__device__ inline uint64_t feistel(uint64_t x, int half, const words &key)
{
    uint32_t mask = (uint32_t)(((uint64_t)1 << half) - 1), left = (uint32_t)(x >> half), right = (uint32_t)x & mask;
    for (uint32_t round = 0; round < 12; round++) {
        uint32_t mixed = left ^ (stirred(right * 0x9E3779B9u + key.w[round % 4] + round * 0xBB67AE85u) & mask);
        left = right;
        right = mixed;
    }
    return (uint64_t)left << half | right;
}

template <typename T>
__global__ void randperm(uint64_t seed, uint64_t offset, int half, T *out, fy_layout lo)
{
    int64_t i = thread_number();
    if (i >= lo.numel) return;
    words key = philox(offset, 0, seed);
    uint64_t x = (uint64_t)i;
    do x = feistel(x, half, key);
    while (x >= (uint64_t)lo.numel);
    set(&out[at(lo, i)], (int64_t)x);
}

/* ---- launching ---- */

static uint64_t seed_of(const fy_run_work *w)
{
    return (uint64_t)w->integer[0];
}
static uint64_t offset_of(const fy_run_work *w)
{
    return (uint64_t)w->integer[1];
}
static dim3 by_fours(fy_run_work *w, const char *name)
{
    return grid_for(w, name, (w->out.layout.numel + 3) / 4);
}

template <typename T> static void launch_rand(fy_run_work *w, const char *name)
{
    dim3 grid = by_fours(w, name);
    LAUNCH(rand_<T>, grid, FY_THREADS)(seed_of(w), offset_of(w), (T *)w->out.data, flat(w->out.layout));
}

template <typename T> static void launch_randn(fy_run_work *w, const char *name)
{
    dim3 grid = by_fours(w, name);
    LAUNCH(randn<T>, grid, FY_THREADS)(seed_of(w), offset_of(w), (T *)w->out.data, flat(w->out.layout));
}

template <typename T> static void launch_randint(fy_run_work *w, const char *name)
{
    uint64_t low = (uint64_t)w->integer[2], range = (uint64_t)w->integer[3] - low;
    dim3 grid = by_fours(w, name);
    LAUNCH(randint<T>, grid, FY_THREADS)
    (seed_of(w), offset_of(w), low, range, (T *)w->out.data, flat(w->out.layout));
}

template <typename T> static void launch_randperm(fy_run_work *w, const char *name)
{
    int half = 1;
    while (half < 31 && ((int64_t)1 << (2 * half)) < w->out.layout.numel) half++;
    dim3 grid = grid_for(w, name, w->out.layout.numel);
    LAUNCH(randperm<T>, grid, FY_THREADS)(seed_of(w), offset_of(w), half, (T *)w->out.data, flat(w->out.layout));
}

LAUNCHER(rand)
{
    FOR_REALS("rand", launch_rand<T>(w, name))
}
LAUNCHER(randn)
{
    FOR_REALS("randn", launch_randn<T>(w, name))
}
LAUNCHER(randint)
{
    FOR_ALL("randint", launch_randint<T>(w, name))
}
LAUNCHER(randperm)
{
    FOR_NUMBERS("randperm", launch_randperm<T>(w, name))
}
