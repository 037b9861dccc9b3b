/* random.cu: counter-based random numbers, in PyTorch's order: element i depends only on seed, offset and i, so any
 * thread can compute any element, in any order.
 *
 * Philox4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011) turns a 128-bit counter and a
 * 64-bit key into four 32-bit words in ten rounds of multiply and xor. The counter's lower half increases from call to
 * call; the upper half is the thread's index, so each thread has a sequence of its own. A thread computes four elements
 * per counter, or two of 64 bits. There are T threads, at most as many as the card holds:
 *
 *      thread i, first counter     elements i, i + T, i + 2T, i + 3T
 *      thread i, second counter    the same plus 4T
 *
 * So the first T elements take the first word of each thread and are the same on every card; T is 256 * min(blocks,
 * elements / 256). The conversion of words to numbers is cuRAND's. rand and randint are bit-identical to PyTorch's,
 * in float64 too. randn differs by some millionths, since a card's fast sine is less exact. randperm is PyTorch's up to
 * RANKED elements. */
#include "kernel.h"

struct words {
    uint32_t w[4];
};

__device__ inline words philox(uint64_t counter, uint64_t thread, uint64_t seed)
{
    words c = {{(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)thread, (uint32_t)(thread >> 32)}};
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c.w[0], p1 = (uint64_t)0xCD9E8D57u * c.w[2];
        c = {{(uint32_t)(p1 >> 32) ^ c.w[1] ^ k0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c.w[3] ^ k1, (uint32_t)p0}};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

/* Two words as one number. The first word is the upper half of randint's integers, the lower of cuRAND's fractions. */
__device__ inline uint64_t long_of(const words &w, int k)
{
    return (uint64_t)w.w[2 * k] << 32 | w.w[2 * k + 1];
}
__device__ inline double fraction_of(const words &w, int k)
{
    uint64_t bits = w.w[2 * k] ^ (uint64_t)w.w[2 * k + 1] << 21;
    return (double)bits * 0x1p-53 + 0x1p-54;
}
__device__ inline float fraction_of(uint32_t word)
{
    return (float)word * 0x1p-32f + 0x1p-33f;
}

/* A distribution D makes EACH elements of the words of one counter, stored in the order above. */
template <typename D, typename T>
__global__ void distribution(D d, uint64_t seed, uint64_t offset, T *out, fy_layout_arg lo)
{
    int64_t i = thread_number(), threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t first = i; first < lo.numel; first += threads * D::EACH, offset++) {
        T x[D::EACH];
        D::make(d, philox(offset, (uint64_t)i, seed), x);
        for (int k = 0; k < D::EACH && first + k * threads < lo.numel; k++) out[at(lo, first + k * threads)] = x[k];
    }
}

/* ---- rand: fractions in (0, 1]; 1, also by rounding, becomes 0 ---- */

template <typename T> struct uniform {
    enum { EACH = 4 };
    MEMBER void make(uniform, const words &w, T *x)
    {
        for (int k = 0; k < EACH; k++) {
            put(&x[k], fraction_of(w.w[k]));
            if (wide(x[k]) == 1) put(&x[k], 0.0f);
        }
    }
};
template <> struct uniform<double> {
    enum { EACH = 2 };
    MEMBER void make(uniform, const words &w, double *x)
    {
        for (int k = 0; k < EACH; k++) {
            x[k] = fraction_of(w, k);
            if (x[k] == 1) x[k] = 0;
        }
    }
};

/* ---- randn: two uniform numbers become two normal ones (Box-Muller) ---- */

/* On a card with its fast sine, as in cuRAND. */
__device__ inline void box_muller(uint32_t a, uint32_t b, float *x, float *y)
{
    const float turn = 0x1p-32f * 6.2831855f;
    float radius = sqrtf(-2.0f * logf(fraction_of(a))), angle = fmaf((float)b, turn, turn / 2);
#ifdef __CUDA_ARCH__
    __sincosf(angle, x, y);
#else
    *x = sinf(angle);
    *y = cosf(angle);
#endif
    *x *= radius;
    *y *= radius;
}

template <typename T> struct normal {
    enum { EACH = 4 };
    MEMBER void make(normal, const words &w, T *x)
    {
        float y[EACH];
        box_muller(w.w[0], w.w[1], &y[0], &y[1]);
        box_muller(w.w[2], w.w[3], &y[2], &y[3]);
        for (int k = 0; k < EACH; k++) put(&x[k], y[k]);
    }
};
template <> struct normal<double> {
    enum { EACH = 2 };
    MEMBER void make(normal, const words &w, double *x)
    {
        double radius = sqrt(-2.0 * log(fraction_of(w, 0))), angle = fraction_of(w, 1) * 2 * 3.14159265358979323846;
        x[0] = radius * sin(angle);
        x[1] = radius * cos(angle);
    }
};

/* ---- uniform, normal: the same, scaled; bernoulli: a value with probability p, else 0 ---- */

template <typename T> struct between {
    enum { EACH = uniform<T>::EACH };
    double low, range;
    MEMBER void make(const between &d, const words &w, T *x)
    {
        uniform<T>::make(uniform<T>{}, w, x);
        for (int k = 0; k < EACH; k++) put(&x[k], fmaf(wide(x[k]), (float)d.range, (float)d.low));
    }
};
template <> struct between<double> {
    enum { EACH = 2 };
    double low, range;
    MEMBER void make(const between &d, const words &w, double *x)
    {
        uniform<double>::make(uniform<double>{}, w, x);
        for (int k = 0; k < EACH; k++) x[k] = fma(x[k], d.range, d.low);
    }
};

template <typename T> struct scaled_normal {
    enum { EACH = normal<T>::EACH };
    double mean, std;
    MEMBER void make(const scaled_normal &d, const words &w, T *x)
    {
        normal<T>::make(normal<T>{}, w, x);
        for (int k = 0; k < EACH; k++) put(&x[k], (decltype(wide(x[k])))(wide(x[k]) * d.std + d.mean));
    }
};

template <typename T> struct chances {
    enum { EACH = uniform<T>::EACH };
    double p, value;
    MEMBER void make(const chances &d, const words &w, T *x)
    {
        for (int k = 0; k < EACH; k++) {
            bool one = EACH == 2 ? fraction_of(w, k % 2) < d.p : fraction_of(w.w[k]) < (float)d.p;
            put(&x[k], (decltype(wide(x[k])))(one ? d.value : 0));
        }
    }
};

/* ---- randint: a word modulo the range; two words for ranges of FY_LONG_RANGE or more ---- */

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

template <typename T> struct integers {
    enum { EACH = 4 };
    uint64_t low, range;
    MEMBER void make(const integers &d, const words &w, T *x)
    {
        for (int k = 0; k < EACH; k++) set(&x[k], (int64_t)(w.w[k] % d.range + d.low));
    }
};
template <typename T> struct long_integers {
    enum { EACH = 2 };
    uint64_t low, range;
    MEMBER void make(const long_integers &d, const words &w, T *x)
    {
        for (int k = 0; k < EACH; k++) set(&x[k], (int64_t)(long_of(w, k) % d.range + d.low));
    }
};

/* ---- randperm, few elements: element i goes to the rank of its random key ----
 *
 * Keys have enough bits that equal ones are improbable; equal ones are shuffled among themselves, with words of the
 * sequence whose index is their first position. Each thread counts the keys smaller than its own: a block loads 256 keys
 * at a time into shared memory. */

enum { RANKED = 4096 };

__device__ inline uint32_t key_of(uint64_t seed, uint64_t offset, int64_t i, uint32_t mask)
{
    words w = philox(offset, (uint64_t)i, seed);
    return ((uint32_t)(long_of(w, 0) % 0xffffffffu) + 0x80000000u) & mask;
}

/* Fisher-Yates for a group of `equal` keys: the new position of the element at `place`. */
__device__ inline int64_t shuffled(uint64_t seed, uint64_t offset, int64_t first, int64_t place, int64_t equal)
{
    int64_t n = 0;
    for (int64_t last = equal - 1; last > 0; last--, n++) {
        int64_t other = philox(offset + (uint64_t)n / 4, (uint64_t)first, seed).w[n % 4] % (uint32_t)(last + 1);
        place = place == last ? other : place == other ? last : place;
    }
    return place;
}

template <typename T>
__global__ void ranked_randperm(uint64_t seed, uint64_t offset, uint32_t mask, T *out, fy_layout_arg lo)
{
    __shared__ uint32_t keys[FY_THREADS];
    int64_t i = thread_number(), before = 0, equal = 0, place = 0;
    uint32_t mine = key_of(seed, offset, i, mask);
    for (int64_t left = 0; left < lo.numel; left += FY_THREADS) {
        keys[threadIdx.x] = key_of(seed, offset, left + threadIdx.x, mask);
        __syncthreads(); /* all keys are stored */
        for (int64_t k = 0; k < FY_THREADS && left + k < lo.numel; k++) {
            before += keys[k] < mine;
            equal += keys[k] == mine;
            place += keys[k] == mine && left + k < i;
        }
        __syncthreads(); /* all threads have read them before the next ones overwrite them */
    }
    if (i < lo.numel) set(&out[at(lo, before + shuffled(seed, offset + 1, before, place, equal))], i);
}

/* ---- randperm, many elements: each thread computes its own element; not PyTorch's permutation ----
 *
 * A Feistel network is a permutation of the numbers of 2 * half bits, whatever its round function. A number below n may
 * be mapped to one outside the range; it is then mapped again until the result is below n. */

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
__global__ void randperm(uint64_t seed, uint64_t offset, int half, T *out, fy_layout_arg lo)
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
    return (uint64_t)w->integer[FY_RANDOM_seed];
}
static uint64_t offset_of(const fy_run_work *w)
{
    return (uint64_t)w->integer[FY_RANDOM_counter];
}

/* Results of factories are dense: elements are generated in memory order, whatever their strides are. */
static inline fy_layout in_memory(fy_layout l)
{
    l.ndim = 1;
    l.shape[0] = l.numel;
    l.strides[0] = 1;
    return l;
}

template <typename T, typename D> static void launch(fy_run_work *w, const char *name, D d)
{
    int64_t blocks = (w->out.layout.numel + FY_RANDOM_THREADS - 1) / FY_RANDOM_THREADS, most = w->integer[FY_RANDOM_blocks];
    dim3 grid((unsigned)(blocks < most ? blocks : most));
    constexpr auto *kernel = distribution<D, T>;
    note(w, name, grid, dim3(FY_RANDOM_THREADS));
    LAUNCH(kernel, grid, FY_RANDOM_THREADS)(d, seed_of(w), offset_of(w), (T *)w->out.data, in_memory(w->out.layout));
}

template <typename T> static void launch_randint(fy_run_work *w, const char *name)
{
    uint64_t low = (uint64_t)w->integer[FY_RANDOM_low], range = (uint64_t)w->integer[FY_RANDOM_high] - low;
    if (range < FY_LONG_RANGE) launch<T>(w, name, integers<T>{low, range});
    else launch<T>(w, name, long_integers<T>{low, range});
}

template <typename T> static void launch_randperm(fy_run_work *w, const char *name)
{
    int half = 1;
    double n = (double)w->out.layout.numel;
    dim3 grid = grid_for(w, name, w->out.layout.numel);
    if (w->out.layout.numel <= RANKED) {
        int bits = (int)ceil(log2(n - (6 * n * n + 1) / (12 * log(0.9)))); /* equal keys in one call out of ten */
        uint32_t mask = (uint32_t)(((uint64_t)1 << bits) - 1);
        LAUNCH(ranked_randperm<T>, grid, FY_THREADS)
        (seed_of(w), offset_of(w), mask, (T *)w->out.data, flat(w->out.layout));
        return;
    }
    while (half < 31 && ((int64_t)1 << (2 * half)) < w->out.layout.numel) half++;
    LAUNCH(randperm<T>, grid, FY_THREADS)(seed_of(w), offset_of(w), half, (T *)w->out.data, flat(w->out.layout));
}

LAUNCHER(rand)
{
    FOR_REALS("rand", launch<T>(w, name, uniform<T>{}))
}
LAUNCHER(randn)
{
    FOR_REALS("randn", launch<T>(w, name, normal<T>{}))
}
LAUNCHER(uniform)
{
    double low = w->real[FY_RANDOM_low], range = w->real[FY_RANDOM_high] - low;
    FOR_REALS("uniform", launch<T>(w, name, between<T>{low, range}))
}
LAUNCHER(normal)
{
    FOR_REALS("normal", launch<T>(w, name, scaled_normal<T>{w->real[FY_RANDOM_mean], w->real[FY_RANDOM_std]}))
}
LAUNCHER(bernoulli)
{
    FOR_REALS("bernoulli", launch<T>(w, name, chances<T>{w->real[FY_RANDOM_p], w->real[FY_RANDOM_value]}))
}
LAUNCHER(randint)
{
    FOR_ALL("randint", launch_randint<T>(w, name))
}
LAUNCHER(randperm)
{
    FOR_NUMBERS("randperm", launch_randperm<T>(w, name))
}
