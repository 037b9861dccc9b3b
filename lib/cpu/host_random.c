/* host_random.c: the random generators. The host's is MT19937 with PyTorch's sampling, so its numbers equal PyTorch's;
 * a GPU's is counter-based (Philox), with other numbers for the same seed, as in PyTorch. */
#include <math.h>
#include <stdlib.h>

#include "dtype.h"
#include "half.h"
#include "lock.h"
#include "random.h"
#include "op.h"
#include "run_work.h"
#include "settings.h"

enum { N = 624, M = 397, MOST_DEVICES = 256 };

struct fy_generator {
    bool seeded;
    uint64_t seed;
    uint32_t state[N];
    int next_word;
    bool has_spare; /* the second of the last pair of normals */
    double spare;
};

FY_LONG_LOCK(lock) /* everything below */
static fy_generator session;
static uint64_t offsets[MOST_DEVICES];  /* counters used per GPU, under the session's seed */
static fy_generator *g;                 /* from enter to leave: the calling thread's */
static _Thread_local fy_generator *own; /* NULL: the session's */

static void reseed(fy_generator *r, uint64_t s)
{
    r->seeded = true;
    r->seed = s;
    r->has_spare = false;
    r->state[0] = (uint32_t)s;
    for (uint32_t i = 1; i < N; i++) r->state[i] = 1812433253u * (r->state[i - 1] ^ (r->state[i - 1] >> 30)) + i;
    r->next_word = N;
}

static void enter(void)
{
    pthread_mutex_lock(&lock);
    if (!session.seeded) reseed(&session, fy_session_seed());
    g = own ? own : &session;
}

static void leave(void) { pthread_mutex_unlock(&lock); }

void fy_manual_seed(uint64_t s)
{
    enter();
    reseed(g, s);
    if (!own) memset(offsets, 0, sizeof offsets);
    leave();
}

fy_generator *fy_generator_make(uint64_t seed)
{
    fy_generator *made = calloc(1, sizeof *made);
    if (made) reseed(made, seed);
    return made;
}

void fy_generator_free(fy_generator *generator) { free(generator); }

fy_generator *fy_generator_use(fy_generator *generator)
{
    fy_generator *before = own;
    own = generator;
    return before;
}

/* ---- the GPUs' counters ---- */

fy_philox fy_random_take(int device, uint64_t counters)
{
    enter();
    fy_philox p = {session.seed, offsets[device]};
    offsets[device] += counters;
    leave();
    return p;
}

void fy_random_give(int device, fy_philox p, uint64_t counters)
{
    enter();
    if (session.seed == p.seed && offsets[device] == p.offset + counters) offsets[device] = p.offset;
    leave();
}

/* ---- the host's words ---- */

static void twist(void)
{
    uint32_t *state = g->state;
    for (int i = 0; i < N; i++) {
        uint32_t y = (state[i] & 0x80000000u) | (state[(i + 1) % N] & 0x7fffffffu);
        state[i] = state[(i + M) % N] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    g->next_word = 0;
}

static uint32_t word(void)
{
    if (g->next_word == N) twist();
    uint32_t y = g->state[g->next_word++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

static uint64_t two_words(void)
{
    uint64_t high = word();
    return high << 32 | word();
}

int64_t fy_generator_draw(void)
{
    enter();
    int64_t drawn = (int64_t)(two_words() & INT64_MAX);
    leave();
    return drawn;
}

/* ---- rand, uniform: as many bits as the dtype's significand has ---- */

static int bits_of(fy_dtype d) { return d == FY_FLOAT16 ? 11 : d == FY_BFLOAT16 ? 8 : 24; }
static float uniform_bits(int bits) { return (float)(word() & ((1u << bits) - 1)) / (float)(1u << bits); }
static double uniform_double(void) { return (double)(two_words() & (((uint64_t)1 << 53) - 1)) / 0x1p53; }

static void fill_uniform(fy_dtype d, void *out, int64_t n)
{
    switch (d) {
    case FY_FLOAT16:
        for (int64_t i = 0; i < n; i++) ((fy_half *)out)[i] = fy_half_of((double)uniform_bits(11));
        break;
    case FY_BFLOAT16:
        for (int64_t i = 0; i < n; i++) ((fy_bfloat *)out)[i] = fy_bfloat_of((double)uniform_bits(8));
        break;
    case FY_FLOAT64:
        for (int64_t i = 0; i < n; i++) ((double *)out)[i] = uniform_double();
        break;
    default:
        for (int64_t i = 0; i < n; i++) ((float *)out)[i] = uniform_bits(24);
    }
}

void fy_host_rand(fy_run_work *w)
{
    enter();
    fill_uniform(w->dtype, w->out.data, w->out.layout.numel);
    leave();
}

/* One rounding for product and sum, as PyTorch's compiled loop has it. */
void fy_host_uniform(fy_run_work *w)
{
    double low = w->real[FY_RANDOM_low], high = w->real[FY_RANDOM_high];
    float low_f = (float)low, range = (float)high - low_f;
    fy_dtype d = w->dtype;
    enter();
    for (int64_t i = 0; i < w->out.layout.numel; i++)
        if (d == FY_FLOAT64) ((double *)w->out.data)[i] = fma(uniform_double(), high - low, low);
        else fy_number_put(d, w->out.data, i, fy_arg_real(fmaf(uniform_bits(bits_of(d)), range, low_f)));
    leave();
}

/* ---- bernoulli: PyTorch draws doubles, whatever the dtype ---- */

void fy_host_bernoulli(fy_run_work *w)
{
    enter();
    for (int64_t i = 0; i < w->out.layout.numel; i++) {
        bool one = uniform_double() < w->real[FY_RANDOM_p];
        fy_number_put(w->dtype, w->out.data, i, fy_arg_real(one ? w->real[FY_RANDOM_value] : 0));
    }
    leave();
}

/* ---- randn, normal: pairs of uniform numbers become normal ones (Box-Muller) ---- */

static double one_normal(void)
{
    if (g->has_spare) {
        g->has_spare = false;
        return g->spare;
    }
    double u1 = uniform_double(), u2 = uniform_double();
    double radius = sqrt(-2.0 * log1p(-u2)), angle = 2.0 * M_PI * u1;
    g->has_spare = true;
    g->spare = radius * sin(angle);
    return radius * cos(angle);
}

typedef struct spread {
    double mean, std;
} spread;

/* PyTorch rounds every value to the dtype, except that float16's functions (log, sqrt, cos, sin) compute in float. */
static double rounded(fy_dtype d, double x)
{
    return d == FY_BFLOAT16  ? (double)fy_bfloat_float(fy_bfloat_of(x))
           : d == FY_FLOAT16 ? (double)fy_half_float(fy_half_of(x))
                             : x;
}

static double inner(fy_dtype d, double x)
{
    return d == FY_BFLOAT16 ? rounded(d, x) : d == FY_FLOAT16 ? (double)(float)x : x;
}

/* x * std + mean, as PyTorch computes it in a block of sixteen: fused, but for bfloat16, which rounds each step. */
static double scaled(fy_dtype d, double x, spread of)
{
    double std = rounded(d, of.std), mean = rounded(d, of.mean);
    if (d == FY_FLOAT64) return fma(x, std, mean);
    if (d == FY_FLOAT16) return (double)fmaf((float)x, (float)std, (float)mean);
    return rounded(d, rounded(d, x) * std) + mean;
}

/* Sixteen uniform numbers become sixteen normal ones: the first eight are radii, the others angles. */
static void sixteen_normal(fy_dtype d, void *x, int64_t from, spread of)
{
    for (int64_t j = from; j < from + 8; j++) {
        double u1 = rounded(d, 1 - fy_real_at(d, x, j)), u2 = fy_real_at(d, x, j + 8);
        double radius = rounded(d, sqrt(inner(d, -2 * inner(d, log(u1))))), angle = rounded(d, 2 * M_PI * u2);
        fy_number_put(d, x, j, fy_arg_real(scaled(d, radius * inner(d, cos(angle)), of)));
        fy_number_put(d, x, j + 8, fy_arg_real(scaled(d, radius * inner(d, sin(angle)), of)));
    }
}

static void sixteen(fy_dtype d, void *x, int64_t from, spread of)
{
    if (d == FY_FLOAT32) fy_sixteen_normal((float *)x + from, (float)of.mean, (float)of.std);
    else sixteen_normal(d, x, from, of);
}

static void *element(fy_dtype d, void *x, int64_t i) { return (char *)x + i * (int64_t)fy_dtype_size(d); }

/* In blocks of sixteen only if row-major, as in PyTorch. */
static bool is_rows(const fy_layout *l)
{
    int64_t step = 1;
    for (int d = l->ndim - 1; d >= 0; step *= l->shape[d--])
        if (l->shape[d] != 1 && l->strides[d] != step) return false;
    return true;
}

static void fill_normal(const fy_run_work *w, spread of)
{
    fy_dtype d = w->dtype;
    void *out = w->out.data;
    int64_t n = w->out.layout.numel;
    enter();
    if (n < 16 || !is_rows(&w->out.layout)) {
        for (int64_t i = 0; i < n; i++) fy_number_put(d, out, i, fy_arg_real(one_normal() * of.std + of.mean));
    } else {
        fill_uniform(d, out, n);
        for (int64_t i = 0; i + 16 <= n; i += 16) sixteen(d, out, i, of);
        if (n % 16) { /* the last sixteen are drawn again */
            fill_uniform(d, element(d, out, n - 16), 16);
            sixteen(d, out, n - 16, of);
        }
    }
    leave();
}

void fy_host_randn(fy_run_work *w) { fill_normal(w, (spread){0, 1}); }

void fy_host_normal(fy_run_work *w) { fill_normal(w, (spread){w->real[FY_RANDOM_mean], w->real[FY_RANDOM_std]}); }

/* ---- randint, randperm ---- */

/* Two words for ranges that need more than 32 bits; other dtypes take one. */
void fy_host_randint(fy_run_work *w)
{
    uint64_t low = (uint64_t)w->integer[FY_RANDOM_low], range = (uint64_t)w->integer[FY_RANDOM_high] - low;
    bool wide = range > UINT32_MAX && w->dtype != FY_FLOAT16;
    enter();
    for (int64_t i = 0; i < w->out.layout.numel; i++) {
        uint64_t drawn = wide ? two_words() : word();
        fy_number_put(w->dtype, w->out.data, i, fy_arg_int((int64_t)(drawn % range + low)));
    }
    leave();
}

/* Fisher-Yates; long permutations need more bits than a word has. */
void fy_host_randperm(fy_run_work *w)
{
    int64_t n = w->out.layout.numel;
    fy_dtype d = w->dtype;
    size_t size = fy_dtype_size(d);
    bool wide = n >= UINT32_MAX / 20;
    for (int64_t i = 0; i < n; i++) fy_number_put(d, w->out.data, i, fy_arg_int(i));
    enter();
    for (int64_t i = 0; i < n - 1; i++) {
        uint64_t z = (wide ? two_words() : word()) % (uint64_t)(n - i);
        char *a = element(d, w->out.data, i), *b = element(d, w->out.data, i + (int64_t)z), kept[8];
        memcpy(kept, a, size);
        memmove(a, b, size); /* the same element if z is 0 */
        memcpy(b, kept, size);
    }
    leave();
}
