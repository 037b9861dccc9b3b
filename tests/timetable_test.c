/* The times of a modelled card. Each scenario's times are calculated by hand from the card's parameters:
 *
 *     bus 1 byte per ns   staging 2 bytes per ns, chunks of 1000   VRAM 4 bytes per ns, so 2 for a copy
 *     call 10   launch 20   transfer 5   kernel 7   1 flop per ns   queue of 4   cudaMalloc 50   cudaFree 40
 *     page-locking 30 and 8 bytes per ns, unlocking 16 bytes per ns   card to card 2 bytes per ns */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "card_params.h"
#include "device.h"
#include "engine_schedule.h"
#include "event.h"
#include "naive_timetable.h"
#include "run_work.h"
#include "timing_model.h"

static const fy_card round_figures = {.flops_f32 = 1e9,
                                      .memory_bandwidth = 4e9,
                                      .bus_bandwidth = 1e9,
                                      .peer_bandwidth = 2e9,
                                      .staging_bandwidth = 2e9,
                                      .staging_chunk = 1000,
                                      .bus_latency = 5,
                                      .call_overhead = 10,
                                      .launch_overhead = 20,
                                      .kernel_latency = 7,
                                      .launch_queue = 4,
                                      .malloc_overhead = 50,
                                      .free_overhead = 40,
                                      .pin_overhead = 30,
                                      .pin_bandwidth = 8e9,
                                      .unpin_bandwidth = 16e9};

/* The host's time, advanced by every call. */
typedef struct host {
    int64_t now;
    fy_timing *a, *b; /* two cards */
} host;

static int setup(void **state)
{
    static host h;
    h = (host){0, fy_timing_make(&round_figures), fy_timing_make(&round_figures)};
    *state = &h;
    return h.a && h.b ? 0 : -1;
}

static int teardown(void **state)
{
    host *h = *state;
    fy_timing_free(h->a);
    fy_timing_free(h->b);
    return 0;
}

static fy_copy_work copy(host *h, fy_word dir, int stream, size_t bytes, bool pinned, bool async)
{
    fy_copy_work w = {.dir = dir, .stream = stream, .bytes = bytes, .pinned = pinned, .async = async};
    fy_timing_copy(h->a, h->now, &w);
    h->now += w.time.held;
    return w;
}

static fy_copy_work across(host *h, int stream, size_t bytes, bool peer)
{
    fy_copy_work w = {.dir = FY_WORD_p2p, .stream = stream, .to_stream = stream + 3, .bytes = bytes};
    fy_timing_copy_peer(h->a, h->b, h->now, peer, &w);
    h->now += w.time.held;
    return w;
}

static fy_time kernel(host *h, int stream, int64_t flops)
{
    fy_time t;
    fy_timing_run(h->a, h->now, stream, FY_SINGLE, flops, 0, &t);
    h->now += t.held;
    return t;
}

static void assert_time(fy_time t, int64_t start, int64_t end, int64_t held)
{
    assert_int_equal(t.start, start);
    assert_int_equal(t.end, end);
    assert_int_equal(t.held, held);
}

/* ---- six scenarios ---- */

static void a_blocking_pageable_copy(void **state)
{
    host *h = *state;
    fy_copy_work w = copy(h, FY_WORD_h2d, 0, 2500, false, false);
    /* call      0-10
     * memcpy    10-510   510-1010   1515-1765 (its buffer is free when transfer 0 has ended)
     * transfer  510-1515 1515-2520  2520-3025 (5 + 1000, 5 + 1000, 5 + 500)      held until then */
    assert_time(w.time, 10, 3025, 3025);
    assert_int_equal(w.route, FY_WORD_staged);
    assert_false(w.was_async);
    assert_int_equal(w.time.staging, 500 + 500 + 250);
    assert_int_equal(w.time.wire, 2500);
    assert_int_equal(w.time.overhead, 10 + 3 * 5);
    w = copy(h, FY_WORD_d2h, 0, 2500, false, true); /* to the host; non-blocking has no effect */
    /* from 3025: call -3035; transfer 3035-4040 4040-5045 5045-5550; memcpy 4040-4540 5045-5545 5550-5800 */
    assert_time(w.time, 3035, 5800, 2775);
    assert_false(w.was_async);
}

/* 64 flops: at 1 a ns, 0.25 and 16; memory still bounds what reads much. */
static void a_kernel_takes_the_rate_of_its_units(void **state)
{
    fy_card rates = round_figures;
    fy_time t;
    (void)state;
    rates.flops_f64 = 0.25e9;
    rates.flops_f16 = 16e9;
    rates.flops_f16_peak = 32e9; /* shown, and used for nothing */
    fy_timing *card = fy_timing_make(&rates), *plain = fy_timing_make(&round_figures);
    fy_timing_run(card, 0, 0, FY_SINGLE, 64, 0, &t);
    assert_int_equal(t.end - t.start, 7 + 64);
    fy_timing_run(card, 0, 0, FY_DOUBLE, 64, 0, &t);
    assert_int_equal(t.end - t.start, 7 + 256);
    fy_timing_run(card, 0, 0, FY_TENSOR, 64, 0, &t);
    assert_int_equal(t.end - t.start, 7 + 4);
    fy_timing_run(card, 0, 0, FY_TENSOR, 64, 400, &t);
    assert_int_equal(t.end - t.start, 7 + 100);
    fy_timing_run(plain, 0, 0, FY_TENSOR, 64, 0, &t); /* no rate of its own */
    assert_int_equal(t.end - t.start, 7 + 64);
    fy_timing_free(card);
    fy_timing_free(plain);
}

static void tensor_cores_compute_products_of_16_bits_alone(void **state)
{
    (void)state;
    assert_int_equal(fy_op_arithmetic(FY_OP_matmul, FY_BFLOAT16), FY_TENSOR);
    assert_int_equal(fy_op_arithmetic(FY_OP_addmm, FY_FLOAT16), FY_TENSOR);
    assert_int_equal(fy_op_arithmetic(FY_OP_matmul, FY_FLOAT32), FY_SINGLE); /* TF32 is off by default */
    assert_int_equal(fy_op_arithmetic(FY_OP_add, FY_FLOAT16), FY_SINGLE);
    assert_int_equal(fy_op_arithmetic(FY_OP_matmul, FY_FLOAT64), FY_DOUBLE);
    assert_int_equal(fy_op_arithmetic(FY_OP_exp, FY_FLOAT64), FY_DOUBLE);
    assert_int_equal(fy_op_arithmetic(fy_op_named("addmm", 5), FY_BFLOAT16), FY_TENSOR);
    assert_int_equal(fy_op_named("add", 2), -1);
}

static void a_pinned_non_blocking_copy_then_a_kernel(void **state)
{
    host *h = *state;
    fy_copy_work w = copy(h, FY_WORD_h2d, 0, 800, true, true);
    assert_time(w.time, 10, 10 + 5 + 800, 10);
    assert_int_equal(w.route, FY_WORD_direct);
    assert_true(w.was_async);
    fy_time t = kernel(h, 0, 300); /* launched from 10 to 30, ready when the copy has ended */
    assert_time(t, 815, 815 + 7 + 300, 20);
    fy_timing_host_wait(h->a, h->now, fy_timing_tail(h->a, 0), &t);
    assert_time(t, 30, 1122, 1092);
    assert_int_equal(t.overhead, 10);
    h->now += t.held;
    w = copy(h, FY_WORD_h2d, 0, 800, true, false); /* pinned and blocking */
    assert_time(w.time, 1132, 1937, 815);
    assert_false(w.was_async);
}

static void two_streams_copy_while_computing(void **state)
{
    host *h = *state;
    /* stream   h2d        compute                     d2h
     *   1    10-515                                            (call 0-10)
     *   1               515-1022  (launch 10-30)
     *   2   515-1020                                           (call 30-40; the bus is busy until 515)
     *   2              1022-1529  (launch 40-60; ready at 1020, the engine at 1022)
     *   1                                     1022-1527        (call 60-70): beside the second kernel
     *   2                                     1529-2034        (call 70-80) */
    assert_time(copy(h, FY_WORD_h2d, 1, 500, true, true).time, 10, 515, 10);
    assert_time(kernel(h, 1, 500), 515, 1022, 20);
    assert_time(copy(h, FY_WORD_h2d, 2, 500, true, true).time, 515, 1020, 10);
    assert_time(kernel(h, 2, 500), 1022, 1529, 20);
    assert_time(copy(h, FY_WORD_d2h, 1, 500, true, true).time, 1022, 1527, 10);
    assert_time(copy(h, FY_WORD_d2h, 2, 500, true, true).time, 1529, 2034, 10);
    assert_int_equal(fy_timing_tail(h->a, 1), 1527);
    assert_int_equal(fy_timing_tail(h->a, 2), 2034);
    assert_int_equal(fy_timing_tail(h->a, -1), 2034);
    /* Issued last, to an idle stream: uses the compute engine's gap before 515. */
    assert_time(kernel(h, 3, 100), 100, 207, 20);
    assert_time(kernel(h, 4, 302), 1529, 1838, 20); /* ready at 120, and 207 to 515 is 1 short of 7 + 302 */
}

static void an_event_orders_across_streams_and_not_the_host(void **state)
{
    host *h = *state;
    fy_time t;
    assert_time(kernel(h, 1, 1000), 20, 1027, 20);
    fy_timing_call(h->a, h->now, &t); /* record: 20-30 */
    assert_time(t, 20, 30, 10);
    h->now += t.held;
    int64_t event = fy_timing_tail(h->a, 1);
    assert_time(kernel(h, 1, 1000), 1027, 2034, 20); /* queued after the event: not waited for */
    fy_timing_stream_wait(h->a, 2, event);
    assert_time(copy(h, FY_WORD_d2h, 2, 100, true, true).time, 1027, 1132, 10);
    assert_int_equal(h->now, 60);
    fy_timing_stream_wait(h->a, 2, 500); /* already past there */
    assert_int_equal(fy_timing_tail(h->a, 2), 1132);
}

static void a_full_queue_holds_the_host_until_the_oldest_ends(void **state)
{
    host *h = *state;
    /* launched  20    40    60    80   100: four are in the queue, the first ends at 127
     * runs    20-127 -234  -341  -448  448-555 */
    for (int i = 0; i < 4; i++) assert_int_equal(kernel(h, 0, 100).held, 20);
    assert_int_equal(h->now, 80);
    assert_time(kernel(h, 0, 100), 448, 555, 47);                               /* 80 to 127 */
    assert_time(kernel(h, 0, 100), 555, 662, 107);                              /* 127 to 234 */
    assert_time(copy(h, FY_WORD_d2d, 0, 20, false, false).time, 662, 677, 107); /* copies occupy the queue, too */
    assert_int_equal(kernel(h, 1, 100).held, 20); /* another stream has a queue of its own */
    h->now = 5000;
    assert_time(kernel(h, 0, 100), 5020, 5127, 20); /* all have ended */
}

static void a_copy_between_cards_direct_and_through_the_host(void **state)
{
    host *h = *state;
    fy_copy_work w = across(h, 0, 3000, true);
    /* call 0-10; 5 + 3000/2 on both engines and in both streams */
    assert_time(w.time, 10, 1515, 10);
    assert_int_equal(w.route, FY_WORD_direct);
    assert_true(w.was_async);
    assert_int_equal(w.time.wire, 1500);
    assert_int_equal(fy_timing_tail(h->a, 0), 1515);
    assert_int_equal(fy_timing_tail(h->b, 3), 1515);
    assert_int_equal(fy_timing_tail(h->b, 0), 0);
    h->now = 2000;
    w = across(h, 0, 2500, false);
    /* call 2000-2010, then 5 + 1000 a chunk, two buffers
     * down  2010-3015  3015-4020  4020-4525 (buffer 0 is free at 4020)
     * up               3015-4020  4020-5025  5025-5530 */
    assert_time(w.time, 2010, 5530, 10);
    assert_int_equal(w.route, FY_WORD_host);
    assert_int_equal(w.time.wire, 2 * 2500);
    assert_int_equal(w.time.overhead, 10 + 6 * 5);
    h->now = 6000;
    fy_timing_stream_wait(h->b, 3, 9000); /* waits for the other card's stream */
    assert_time(across(h, 0, 1000, true).time, 9000, 9505, 10);
}

/* ---- single rules ---- */

static void memory_costs_what_the_figures_say(void **state)
{
    host *h = *state;
    fy_time t;
    fy_timing_alloc(h->a, 100, 1 << 20, FY_WORD_device, &t);
    assert_time(t, 100, 150, 50);
    fy_timing_alloc(h->a, 100, 8000, FY_WORD_pinned, &t);
    assert_time(t, 100, 1130, 30 + 1000);
    assert_time(kernel(h, 3, 500), 20, 527, 20);
    fy_timing_release(h->a, 100, 1 << 20, FY_WORD_device, &t); /* waits for all streams */
    assert_time(t, 100, 567, 467);
    assert_int_equal(t.overhead, 40);
    fy_timing_release(h->a, 600, 1600, FY_WORD_pinned, &t);
    assert_time(t, 600, 740, 40 + 100);
}

static void pinning_first_loses_against_a_plain_copy_on_every_card(void **state)
{
    (void)state;
    static const char *const keys[] = {"h200", "laptop", "old"};
    for (size_t i = 0; i < 3; i++)
        for (size_t bytes = 1 << 16; bytes <= 1 << 30; bytes <<= 2) {
            const fy_card *c = fy_card_find(keys[i]);
            fy_timing *t = fy_timing_make(c);
            fy_copy_work plain = {.dir = FY_WORD_h2d, .bytes = bytes}, pinned = plain;
            fy_time pin;
            pinned.pinned = true;
            fy_timing_copy(t, 0, &plain);
            fy_timing_alloc(t, plain.time.held, (int64_t)bytes, FY_WORD_pinned, &pin);
            fy_timing_copy(t, plain.time.held + pin.held, &pinned);
            assert_true(pinned.time.held < plain.time.held);
            assert_true(pin.held + pinned.time.held > plain.time.held);
            fy_timing_free(t);
        }
}

static void twice_the_bus_halves_the_wire_part_and_nothing_else(void **state)
{
    (void)state;
    static const fy_word dirs[] = {FY_WORD_h2d, FY_WORD_d2h};
    fy_card fast = round_figures;
    fast.bus_bandwidth *= 2;
    fy_timing *slow_card = fy_timing_make(&round_figures), *fast_card = fy_timing_make(&fast);
    for (int i = 0; i < 400; i++) {
        fy_copy_work slow = {.dir = dirs[i % 2], .pinned = i / 2 % 2, .bytes = (size_t)i * 34}, quick = slow;
        fy_timing_copy(slow_card, i * 100000, &slow);
        fy_timing_copy(fast_card, i * 100000, &quick);
        assert_int_equal(slow.time.wire, slow.bytes);
        assert_int_equal(quick.time.wire * 2, slow.time.wire);
        assert_int_equal(quick.time.staging, slow.time.staging);
        assert_int_equal(quick.time.overhead, slow.time.overhead);
    }
    fy_timing_free(slow_card);
    fy_timing_free(fast_card);
}

/* ---- against measurements: the sources stand beside the figures in lib/devices/card_models.c ---- */

static const struct measurement {
    const char *card, *source;
    fy_word dir;
    bool pinned;
    size_t bytes;
    double rate; /* bytes per second */
} measured[] = {
    {"old", "NVIDIA's blog, 2012, GTX 680", FY_WORD_h2d, false, 16 << 20, 5.368503e9},
    {"old", "NVIDIA's blog, 2012, GTX 680", FY_WORD_d2h, false, 16 << 20, 5.627219e9},
    {"old", "NVIDIA's blog, 2012, GTX 680", FY_WORD_h2d, true, 16 << 20, 6.186581e9},
    {"old", "NVIDIA's blog, 2012, GTX 680", FY_WORD_d2h, true, 16 << 20, 6.670246e9},
    {"laptop", "gearshifft/pull/82, the same rate on the wire", FY_WORD_h2d, true, 33554432, 12.1507e9},
    {"laptop", "gearshifft/pull/82, the same rate on the wire", FY_WORD_d2h, true, 33554432, 12.8906e9},
    {"laptop", "cubecl/issues/539, a laptop, 11.4 GiB/s", FY_WORD_h2d, true, 24 << 20, 12.24e9},
    {"laptop", "dask-cuda/pull/98, 5 to 6 GB/s", FY_WORD_h2d, false, 100000000, 5.5e9},
    {"laptop", "dask-cuda/pull/98, 5 to 6 GB/s", FY_WORD_d2h, false, 100000000, 5.5e9},
    {"h200", "NVIDIA's blog on nvbandwidth, perhaps of another card on the same bus", FY_WORD_h2d, true, 1 << 30,
     55.63e9},
    {"h200", "nccl/issues/1264, the H100, whose NVLink is the same", FY_WORD_p2p, true, 1 << 30, 380e9},
};

static void copies_take_what_was_measured_within_15_percent(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        const struct measurement *m = &measured[i];
        fy_timing *t = fy_timing_make(fy_card_find(m->card)), *other = fy_timing_make(fy_card_find(m->card));
        fy_copy_work w = {.dir = m->dir, .bytes = m->bytes, .pinned = m->pinned};
        if (m->dir == FY_WORD_p2p) fy_timing_copy_peer(t, other, 0, true, &w);
        else fy_timing_copy(t, 0, &w);
        double rate = (double)m->bytes * 1e9 / (double)(w.time.end - w.time.start), off = rate / m->rate - 1;
        fy_timing_free(t);
        fy_timing_free(other);
        if (off > -0.15 && off < 0.15) continue;
        print_error("%s: %.2f GB/s, but %s measured %.2f\n", m->card, rate / 1e9, m->source, m->rate / 1e9);
        fail();
    }
}

/* ---- random programs against a naive model of the same rules ---- */

/* Even amounts: the model rounds each part, the naive one does not. */
static int64_t one_step(host *h, naive *m)
{
    fy_time got, wanted;
    static const fy_word dirs[] = {FY_WORD_h2d, FY_WORD_d2h, FY_WORD_d2d};
    int stream = naive_random(4), what = naive_random(10);
    if (what < 5) {
        fy_copy_work w = {.dir = dirs[naive_random(3)], .stream = stream, .bytes = (size_t)(2 + 2 * naive_random(900))};
        w.pinned = naive_random(3);
        w.async = naive_random(3);
        wanted = naive_copy(m, h->now, &w);
        fy_timing_copy(h->a, h->now, &w);
        got = w.time;
    } else if (what < 8) {
        int64_t flops = naive_random(1500), bytes = 4 * naive_random(1500);
        wanted = naive_run(m, h->now, stream, flops, bytes);
        fy_timing_run(h->a, h->now, stream, FY_SINGLE, flops, bytes, &got);
    } else if (what < 9) {
        int other = naive_random(4);
        m->tail[stream] = max_i64(m->tail[stream], m->tail[other]);
        fy_timing_stream_wait(h->a, stream, fy_timing_tail(h->a, other));
        return 0;
    } else {
        wanted = (fy_time){.start = h->now, .end = max_i64(h->now + 10, m->tail[stream])};
        wanted.held = wanted.end - h->now;
        fy_timing_host_wait(h->a, h->now, fy_timing_tail(h->a, stream), &got);
    }
    assert_time(got, wanted.start, wanted.end, wanted.held);
    return got.held;
}

static void random_programs_take_the_times_of_a_naive_model(void **state)
{
    host *h = *state;
    naive *m = malloc(sizeof *m);
    assert_non_null(m);
    for (int program = 0; program < 60; program++) {
        naive_rng_state = (uint32_t)program * 7919 + 1;
        memset(m, 0, sizeof *m);
        teardown(state);
        setup(state);
        for (int i = 0; i < 150; i++) h->now += one_step(h, m);
        assert_int_equal(fy_timing_tail(h->a, 0), m->tail[0]);
    }
    free(m);
}

static void an_engine_forgets_what_is_past_and_nothing_else(void **state)
{
    (void)state;
    fy_engine e;
    assert_true(fy_engine_make(&e));
    for (int64_t i = 0; i < 1000; i++) fy_engine_book(&e, i * 10, 5);
    assert_int_equal(e.last - e.first, 1000);
    assert_int_equal(fy_engine_find(&e, 0, 5), 5);
    assert_int_equal(fy_engine_find(&e, 0, 6), 9995);
    fy_engine_prune(&e, 9500);
    assert_int_equal(e.last - e.first, 50);
    assert_int_equal(fy_engine_find(&e, 0, 5), 9505); /* nothing can start before 9500 */
    assert_int_equal(fy_engine_find(&e, 9507, 0), 9507);
    for (int64_t i = 950; i < 999; i++) fy_engine_book(&e, i * 10 + 5, 5); /* no gap left: one busy interval */
    assert_int_equal(e.last - e.first, 2 - 1);
    fy_engine_free(&e);
}

#define WITH_CARDS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_takes_the_rate_of_its_units),
        cmocka_unit_test(tensor_cores_compute_products_of_16_bits_alone),
        WITH_CARDS(a_blocking_pageable_copy),
        WITH_CARDS(a_pinned_non_blocking_copy_then_a_kernel),
        WITH_CARDS(two_streams_copy_while_computing),
        WITH_CARDS(an_event_orders_across_streams_and_not_the_host),
        WITH_CARDS(a_full_queue_holds_the_host_until_the_oldest_ends),
        WITH_CARDS(a_copy_between_cards_direct_and_through_the_host),
        WITH_CARDS(memory_costs_what_the_figures_say),
        cmocka_unit_test(pinning_first_loses_against_a_plain_copy_on_every_card),
        cmocka_unit_test(twice_the_bus_halves_the_wire_part_and_nothing_else),
        cmocka_unit_test(copies_take_what_was_measured_within_15_percent),
        WITH_CARDS(random_programs_take_the_times_of_a_naive_model),
        cmocka_unit_test(an_engine_forgets_what_is_past_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
