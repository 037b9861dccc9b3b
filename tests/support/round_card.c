/* round_card.c: see round_card.h. */
#include "round_card.h"

fy_card round_card = {
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

fy_dev *open_card_number(int number, const fy_card *card, int64_t capacity)
{
    static fy_dev cards[3];
    fy_dev *d = &cards[number];
    char why[100] = "";
    *d = (fy_dev){.backend = &fy_backend_sim, .number = number, .card = card, .capacity = capacity};
    snprintf(d->name, sizeof d->name, "cuda:%d", (number - 1) % 10);
    if (!fy_backend_sim.open(d, why, sizeof why)) return NULL;
    return fy_backend_sim.info(d, why, sizeof why) ? d : NULL;
}

fy_dev *open_card(const fy_card *card, int64_t capacity) { return open_card_number(1, card, capacity); }

int open_round_card(void **state)
{
    *state = open_card(&round_card, 1 << 20);
    return *state ? 0 : -1;
}

int close_round_card(void **state)
{
    fy_backend_sim.close(*state);
    return 0;
}

void *alloc(fy_dev *d, size_t bytes)
{
    fy_time t;
    return fy_backend_sim.alloc(d, bytes, FY_WORD_device, &t);
}

void release(fy_dev *d, void *p, size_t bytes)
{
    fy_time t;
    fy_backend_sim.release(d, p, bytes, FY_WORD_device, &t);
}

fy_copy_work copy_dir(fy_dev *d, fy_word dir, void *dst, const void *src, size_t bytes, bool pinned, bool async)
{
    fy_copy_work w = {.dst = dst, .src = src, .bytes = bytes, .dir = dir, .pinned = pinned, .async = async};
    assert_true(fy_backend_sim.copy(d, &w));
    return w;
}

fy_copy_work copy_h2d(fy_dev *d, void *dst, const void *src, size_t bytes)
{
    return copy_dir(d, FY_WORD_h2d, dst, src, bytes, false, false);
}

fy_copy_work copy_d2h(fy_dev *d, void *dst, const void *src, size_t bytes)
{
    return copy_dir(d, FY_WORD_d2h, dst, src, bytes, false, false);
}

void wait_for_all(fy_dev *d)
{
    fy_time t;
    assert_true(fy_backend_sim.wait(d, NULL, NULL, 0, &t));
}

fy_run_work fill_work(void *out, int64_t n, int64_t flops)
{
    fy_run_work w = {.op = FY_OP_fill, .dtype = FY_FLOAT32, .real = {2.5}, .flops = flops, .bytes = n * 4};
    w.out = (fy_operand){out, FY_FLOAT32, {.ndim = 1, .numel = n, .shape = {n}, .strides = {1}}};
    return w;
}
