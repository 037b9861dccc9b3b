/* round_card.h: a simulated card with round figures, for tests that use the back end by itself.
 *
 * The bus carries 1 byte a ns, staging copies 2 bytes a ns in chunks of 1000 bytes, VRAM moves 4 bytes
 * a ns; a call costs 10, a launch 20, a transfer 5 and a kernel 7 ns; 1 flop takes 1 ns. */
#ifndef ROUND_CARD_H
#define ROUND_CARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "card_params.h"
#include "device.h"
#include "event.h"
#include "op.h"
#include "run_work.h"

static fy_card round_card = {
    .name = "Round",
    .key = "round",
    .capacity = 1 << 20,
    .flops_f32 = 1e9,
    .memory_bandwidth = 4e9,
    .bus_bandwidth = 1e9,
    .staging_bandwidth = 2e9,
    .staging_chunk = 1000,
    .bus_latency = 5,
    .call_overhead = 10,
    .launch_overhead = 20,
    .kernel_latency = 7,
};

/* number 1 is cuda:0; each has a place of its own */
static inline fy_dev *open_card_number(int number, const fy_card *card, int64_t capacity)
{
    static fy_dev cards[3];
    fy_dev *d = &cards[number];
    char why[100] = "";
    *d = (fy_dev){.backend = &fy_backend_sim, .number = number, .card = card, .capacity = capacity};
    snprintf(d->name, sizeof d->name, "cuda:%d", number - 1);
    if (!fy_backend_sim.open(d, why, sizeof why)) return NULL;
    fy_backend_sim.info(d);
    return d;
}

static inline fy_dev *open_card(const fy_card *card, int64_t capacity) { return open_card_number(1, card, capacity); }

static inline int setup(void **state)
{
    *state = open_card(&round_card, 1 << 20);
    return *state ? 0 : -1;
}

static inline int teardown(void **state)
{
    fy_backend_sim.close(*state);
    return 0;
}

static inline void *alloc(fy_dev *d, size_t bytes)
{
    fy_time t;
    return fy_backend_sim.alloc(d, bytes, FY_WORD_device, &t);
}

static inline void give(fy_dev *d, void *p, size_t bytes)
{
    fy_time t;
    fy_backend_sim.release(d, p, bytes, FY_WORD_device, &t);
}

static inline fy_copy_work copy_way(fy_dev *d, fy_word dir, void *dst, const void *src, size_t bytes, bool pinned,
                                    bool async)
{
    fy_copy_work w = {.dst = dst, .src = src, .bytes = bytes, .dir = dir, .pinned = pinned, .async = async};
    assert_true(fy_backend_sim.copy(d, &w));
    return w;
}

static inline fy_copy_work up(fy_dev *d, void *dst, const void *src, size_t bytes)
{
    return copy_way(d, FY_WORD_h2d, dst, src, bytes, false, false);
}

static inline fy_copy_work down(fy_dev *d, void *dst, const void *src, size_t bytes)
{
    return copy_way(d, FY_WORD_d2h, dst, src, bytes, false, false);
}

static inline void wait_for_all(fy_dev *d)
{
    fy_time t;
    assert_true(fy_backend_sim.wait(d, NULL, NULL, 0, &t));
}

static inline fy_run_work fill_work(void *out, int64_t n, int64_t flops)
{
    fy_run_work w = {.op = FY_OP_fill, .dtype = FY_FLOAT32, .real = {2.5}, .flops = flops, .bytes = n * 4};
    w.out = (fy_operand){out, FY_FLOAT32, {.ndim = 1, .numel = n, .shape = {n}, .strides = {1}}};
    return w;
}

#define WITH_CARD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#endif
