/* random.c: the generators. The host's is MT19937 with PyTorch's way of drawing, so that its numbers are
 * PyTorch's; a card's is a counter, whose numbers differ from the host's for the same seed, as there. */
#include <math.h>
#include <pthread.h>

#include "tensor.h"

enum { N = 624, M = 397, MOST_DEVICES = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* everything below */
static bool seeded;
static uint64_t seed;
static uint32_t state[N];
static int next_word;
static bool has_spare; /* the second number of the pair drawn last */
static double spare;
static uint64_t offsets[MOST_DEVICES]; /* counters that each card has used */

static void reseed(uint64_t s)
{
    seeded = true;
    seed = s;
    has_spare = false;
    memset(offsets, 0, sizeof offsets);
    state[0] = (uint32_t)s;
    for (uint32_t i = 1; i < N; i++) state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    next_word = N;
}

static void start(void)
{
    if (!seeded) reseed(fy_session_seed());
}

void fy_manual_seed(uint64_t s)
{
    pthread_mutex_lock(&lock);
    reseed(s);
    pthread_mutex_unlock(&lock);
}

fy_philox fy_random_take(int device, int64_t numel)
{
    pthread_mutex_lock(&lock);
    start();
    fy_philox p = {seed, offsets[device]};
    offsets[device] += (uint64_t)(numel + 3) / 4;
    pthread_mutex_unlock(&lock);
    return p;
}

static void twist(void)
{
    for (int i = 0; i < N; i++) {
        uint32_t y = (state[i] & 0x80000000u) | (state[(i + 1) % N] & 0x7fffffffu);
        state[i] = state[(i + M) % N] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    next_word = 0;
}

static uint32_t word(void)
{
    if (next_word == N) twist();
    uint32_t y = state[next_word++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

/* In [0, 1): 24 bits for a float, 53 for a double. */
static float uniform_float(void) { return (float)(word() & 0xffffff) / 16777216.0f; }

static double uniform_double(void)
{
    uint64_t high = word(), both = high << 32 | word();
    return (double)(both & (((uint64_t)1 << 53) - 1)) / 9007199254740992.0;
}

/* One number at a time: a pair of uniform ones becomes a pair of normal ones (Box and Muller). */
static float one_normal(void)
{
    if (has_spare) {
        has_spare = false;
        return (float)spare;
    }
    double u1 = uniform_double(), u2 = uniform_double();
    double radius = sqrt(-2.0 * log1p(-u2)), angle = 2.0 * M_PI * u1;
    has_spare = true;
    spare = radius * sin(angle);
    return (float)(radius * cos(angle));
}

/* Sixteen uniform numbers become sixteen normal ones: the first eight are radii, the others angles. */
static void sixteen_normal(float *x)
{
    for (int j = 0; j < 8; j++) {
        float u1 = 1 - x[j], u2 = x[j + 8];
        float radius = sqrtf(-2 * logf(u1)), angle = 2.0f * (float)M_PI * u2;
        x[j] = radius * cosf(angle);
        x[j + 8] = radius * sinf(angle);
    }
}

void fy_random_normal(float *out, int64_t n)
{
    pthread_mutex_lock(&lock);
    start();
    if (n < 16) {
        for (int64_t i = 0; i < n; i++) out[i] = one_normal();
    } else {
        for (int64_t i = 0; i < n; i++) out[i] = uniform_float();
        for (int64_t i = 0; i + 16 <= n; i += 16) sixteen_normal(out + i);
        if (n % 16) { /* the last sixteen are drawn anew */
            for (int i = 0; i < 16; i++) out[n - 16 + i] = uniform_float();
            sixteen_normal(out + n - 16);
        }
    }
    pthread_mutex_unlock(&lock);
}
