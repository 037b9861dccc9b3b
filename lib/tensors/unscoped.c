/* unscoped.c: leak detection. The program owns what a call returns outside any scope. If very many tensors from one
 * line are alive, it probably never frees them: a warning on stderr, once per process.
 *
 * Very many: 10,000, or 1,000 that hold 1 GiB together. A line that stores each one in an element or a member,
 * `list[i] = fy_ones((3))`, is exempt. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session_hooks.h"
#include "site.h"
#include "tensor.h"

enum { INTERVAL = 1000, MANY = 10000 };
static const int64_t MUCH = (int64_t)1 << 30;

static atomic_flag warned = ATOMIC_FLAG_INIT;
static _Atomic uint32_t next_check; /* tensor id before which nothing is checked: a check scans all handles */

static int by_address(const void *a, const void *b)
{
    const fy_unscoped_storage *x = a, *y = b;
    return (x->storage > y->storage) - (x->storage < y->storage);
}

/* Bytes held by tensors of that call site; a storage counts once, however many views it has. */
static int64_t bytes_of(const fy_site *at, size_t n)
{
    int64_t bytes = 0;
    fy_unscoped_storage *held = malloc(n * sizeof *held);
    if (!held) return 0;
    n = fy_tensors_unscoped(at, held, n);
    qsort(held, n, sizeof *held, by_address);
    for (size_t i = 0; i < n; i++)
        if (!i || held[i].storage != held[i - 1].storage) bytes += (int64_t)held[i].bytes;
    free(held);
    return bytes;
}

void fy_unscoped_add(fy_tensor *x)
{
    fy_site *at = x->born;
    if (!at || x->unscoped || __atomic_load_n(&x->refs, __ATOMIC_RELAXED) != 1) return;
    __atomic_store_n(&x->unscoped, true, __ATOMIC_RELEASE);
    uint32_t n = __atomic_add_fetch(&at->unscoped, 1, __ATOMIC_RELAXED);
    if (n < INTERVAL || x->id < atomic_load_explicit(&next_check, memory_order_relaxed)) return;
    const char *target = fy_site_variable(at); /* left of '=': an element or a member stores each tensor */
    if (target && strpbrk(target, "[.>")) return;

    int64_t bytes = bytes_of(at, n);
    bool many = n >= MANY || bytes >= MUCH;
    atomic_store_explicit(&next_check, many ? UINT32_MAX : x->id + (n + INTERVAL < MANY ? INTERVAL : MANY - n),
                          memory_order_relaxed);
    if (!many || atomic_flag_test_and_set(&warned)) return;
    const char *line = fy_site_line(at);
    fy_narrate_flush();
    fprintf(stderr,
            "ferry: %s:%d: %s: %u tensors created by this line are alive, outside any scope, and nothing frees them: "
            "%.1f MiB so far\n    %s\n"
            "  fix: for a variable that gets a new tensor in each iteration, fy_set(&w, fy_mul(w, 2)) frees the old "
            "one; for tensors used in one iteration only, FY_TIMES(i, n) { ... } or FY_SCOPE { ... }; else fy_free\n",
            at->file, at->line, at->call, n, (double)bytes / (1 << 20), line ? line : "");
}

void fy_unscoped_remove(const fy_tensor *x)
{
    if (x->unscoped) __atomic_sub_fetch(&x->born->unscoped, 1, __ATOMIC_RELAXED);
}
