/* settings.c: environment variables that several layers read. */
#include "settings.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fy_setting_is_on(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

uint64_t fy_session_seed(void)
{
    static _Atomic bool warned;
    const char *text = getenv("FERRY_SEED");
    char *end;
    if (!text || !*text) return 0;
    errno = 0;
    uint64_t seed = strtoull(text, &end, 10);
    if (!errno && !*end && *text != '-' && seed < 1ull << 53) return seed;
    if (!atomic_exchange(&warned, true))
        fprintf(stderr, "ferry: FERRY_SEED=%s is not a number from 0 to 2^53 - 1; using 0\n", text);
    return 0;
}

/* FERRY_LAUNCH_BLOCKING overrides CUDA_LAUNCH_BLOCKING. */
bool fy_launch_blocking(void)
{
    static _Atomic int known;
    enum { UNKNOWN, OFF, ON };
    int value = atomic_load_explicit(&known, memory_order_relaxed);
    if (value == UNKNOWN) {
        const char *own = getenv("FERRY_LAUNCH_BLOCKING");
        value = fy_setting_is_on(own && *own ? "FERRY_LAUNCH_BLOCKING" : "CUDA_LAUNCH_BLOCKING") ? ON : OFF;
        atomic_store_explicit(&known, value, memory_order_relaxed);
    }
    return value == ON;
}
