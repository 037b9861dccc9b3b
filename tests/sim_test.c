/* The simulated card's times, calculated by hand. */
#include "card_params.h"
#include "clock.h"
#include "device.h"
#include "event.h"
#include "round_card.h"
#include "run_work.h"

static void a_small_copy_takes_the_time_worked_out_by_hand(void **state)
{
    fy_dev *d = *state;
    char host[800] = {0}, *p = alloc(d, sizeof host);
    int64_t t = fy_clock_now();
    fy_copy_work w = copy_h2d(d, p, host, 800);
    /* call 10, staging 800/2 = 400, then latency 5 and 800 on the bus */
    assert_int_equal(w.route, FY_WORD_staged);
    assert_int_equal(w.time.start, t + 10);
    assert_int_equal(w.time.staging, 400);
    assert_int_equal(w.time.wire, 800);
    assert_int_equal(w.time.overhead, 10 + 5);
    assert_int_equal(w.time.end, t + 10 + 400 + 5 + 800);
    assert_int_equal(w.time.held, 10 + 400 + 5 + 800);
    assert_int_equal(fy_clock_now(), w.time.end);
}

static void staging_a_chunk_overlaps_the_previous_chunks_transfer(void **state)
{
    fy_dev *d = *state;
    char host[2500] = {0}, *p = alloc(d, sizeof host);
    int64_t t = fy_clock_now() + 10;
    fy_copy_work w = copy_h2d(d, p, host, 2500);
    /* memcpy   0-500  500-1000   1505-1755 (its buffer is free when transfer 0 has ended)
     * transfer 500-1505  1505-2510  2510-3015 */
    assert_int_equal(w.time.staging, 1250);
    assert_int_equal(w.time.wire, 2500);
    assert_int_equal(w.time.overhead, 10 + 3 * 5);
    assert_int_equal(w.time.end, t + 3015);
    t = fy_clock_now() + 10;
    w = copy_d2h(d, host, p, 2500);
    /* transfer 0-1005  1005-2010  2010-2515;  memcpy 1005-1505  2010-2510  2515-2765 */
    assert_int_equal(w.time.end, t + 2765);
    assert_int_equal(w.time.staging, 1250);
    assert_int_equal(w.time.wire, 2500);
}

static void doubling_the_bus_halves_the_wire_part_exactly(void **state)
{
    static char host[300000];
    fy_card fast = round_card;
    fy_dev *d = *state;
    char *p = alloc(d, sizeof host);
    fy_copy_work slow = copy_h2d(d, p, host, sizeof host);
    fast.bus_bandwidth *= 2;
    close_round_card(state);
    *state = d = open_card(&fast, 1 << 20);
    p = alloc(d, sizeof host);
    fy_copy_work quick = copy_h2d(d, p, host, sizeof host);
    assert_int_equal(slow.time.wire, 300000);
    assert_int_equal(quick.time.wire * 2, slow.time.wire);
    assert_int_equal(quick.time.staging, slow.time.staging);
    assert_int_equal(quick.time.overhead, slow.time.overhead);
}

static void a_pinned_copy_skips_staging_and_blocks_only_if_asked(void **state)
{
    fy_dev *d = *state;
    char host[800] = {0}, *p = alloc(d, sizeof host);
    int64_t t = fy_clock_now();
    fy_copy_work w = copy_dir(d, FY_WORD_h2d, p, host, 800, true, true);
    assert_int_equal(w.route, FY_WORD_direct);
    assert_true(w.was_async);
    assert_int_equal(w.time.held, 10);
    assert_int_equal(w.time.end, t + 10 + 5 + 800);
    assert_int_equal(w.time.staging, 0);
    assert_int_equal(fy_clock_now(), t + 10);
    w = copy_dir(d, FY_WORD_h2d, p, host, 800, true, false); /* behind the first */
    assert_false(w.was_async);
    assert_int_equal(w.time.start, t + 815);
    assert_int_equal(fy_clock_now(), t + 815 + 805);
}

static void a_pageable_copy_blocks_the_host_even_if_non_blocking(void **state)
{
    fy_dev *d = *state;
    char host[800] = {0}, *p = alloc(d, sizeof host);
    fy_copy_work w = copy_dir(d, FY_WORD_h2d, p, host, 800, false, true);
    assert_false(w.was_async);
    assert_int_equal(fy_clock_now(), w.time.end);
}

static void launches_return_at_once_and_copies_to_host_wait(void **state)
{
    fy_dev *d = *state;
    float on_host = 0, *p = alloc(d, 4);
    int64_t t = fy_clock_now();
    fy_run_work w = fill_work(p, 1, 5000);
    assert_true(fy_backend_sim.run(d, &w));
    assert_int_equal(fy_clock_now(), t + 20);
    assert_int_equal(w.time.held, 20);
    assert_int_equal(w.time.start, t + 20);
    assert_int_equal(w.time.end, t + 20 + 7 + 5000);
    fy_copy_work c = copy_d2h(d, &on_host, p, 4);
    assert_int_equal(c.time.start, w.time.end);
    assert_int_equal(c.time.end, w.time.end + 5 + 4 + 2);
    assert_true(on_host == 2.5f);
}

static void a_kernel_takes_the_longer_of_flops_and_bytes(void **state)
{
    fy_dev *d = *state;
    float *p = alloc(d, 4000);
    fy_run_work bytes = fill_work(p, 1000, 1), flops = fill_work(p, 1000, 1001);
    assert_true(fy_backend_sim.run(d, &bytes));
    assert_int_equal(bytes.time.end - bytes.time.start, 7 + 1000);
    assert_true(fy_backend_sim.run(d, &flops));
    assert_int_equal(flops.time.end - flops.time.start, 7 + 1001);
    assert_int_equal(flops.time.start, bytes.time.end); /* one stream, in order */
}

static void a_copy_within_vram_reads_and_writes_without_blocking(void **state)
{
    fy_dev *d = *state;
    char *p = alloc(d, 4000), *q = alloc(d, 4000), on_host[4000], host[4000];
    memset(host, 42, sizeof host);
    copy_h2d(d, p, host, 4000);
    int64_t t = fy_clock_now();
    fy_copy_work w = copy_dir(d, FY_WORD_d2d, q, p, 4000, false, false);
    assert_int_equal(w.time.end, t + 10 + 5 + 2000);
    assert_int_equal(fy_clock_now(), t + 10);
    copy_d2h(d, on_host, q, 4000);
    assert_memory_equal(on_host, host, 4000);
}

static void points_pass_in_order_and_waiting_brings_the_clock_there(void **state)
{
    fy_dev *d = *state;
    float *p = alloc(d, 4);
    fy_time t;
    fy_run_work first = fill_work(p, 1, 1000), second = fill_work(p, 1, 1000);
    assert_true(fy_backend_sim.run(d, &first));
    fy_point point = {0}, later = {0};
    int64_t when;
    assert_true(fy_backend_sim.record(d, 0, &point));
    assert_true(fy_backend_sim.run(d, &second));
    assert_true(fy_backend_sim.record(d, 0, &later));
    assert_false(fy_backend_sim.done(d, &point, &when));
    assert_true(fy_backend_sim.wait(d, &point, NULL, 0, &t));
    assert_int_equal(fy_clock_now(), first.time.end);
    assert_true(fy_backend_sim.done(d, &point, &when));
    assert_false(fy_backend_sim.done(d, &later, &when));
    wait_for_all(d);
    assert_int_equal(fy_clock_now(), second.time.end);
    assert_true(fy_backend_sim.done(d, &later, &when));
}

static void asking_again_and_again_gets_an_answer(void **state)
{
    fy_dev *d = *state;
    fy_run_work w = fill_work(alloc(d, 4), 1, 1000);
    assert_true(fy_backend_sim.run(d, &w));
    fy_point point = {0};
    int64_t when;
    assert_true(fy_backend_sim.record(d, 0, &point));
    int asked = 1;
    while (!fy_backend_sim.done(d, &point, &when)) asked++;
    assert_int_equal(asked, 100); /* 1007 ns, 10 per query and 10 for the record */
}

/* ---- everything ---- */

/* A hash of all times and addresses of a small program, relative to its start. */
static int64_t digest_of_a_program(fy_dev *d)
{
    static float host[1000];
    char *first = alloc(d, 4);
    int64_t t = fy_clock_now(), digest = 0;
    for (int i = 1; i <= 20; i++) {
        float *p = alloc(d, sizeof host);
        copy_h2d(d, p, host, sizeof host);
        fy_run_work w = fill_work(p, 1000 - i, i * 37);
        assert_true(fy_backend_sim.run(d, &w));
        fy_copy_work c = copy_d2h(d, host, p, sizeof host);
        if (i % 3) release(d, p, sizeof host);
        digest = digest * 31 % 1000003 + (w.time.end - t) * 7 + (c.time.end - t) + ((char *)p - first);
    }
    wait_for_all(d);
    return digest * 31 + fy_clock_now() - t;
}

static void the_same_calls_take_the_same_times_and_places(void **state)
{
    int64_t once = digest_of_a_program(*state);
    close_round_card(state);
    assert_int_equal(open_round_card(state), 0);
    assert_int_equal(digest_of_a_program(*state), once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CARD(a_small_copy_takes_the_time_worked_out_by_hand),
        WITH_CARD(staging_a_chunk_overlaps_the_previous_chunks_transfer),
        WITH_CARD(doubling_the_bus_halves_the_wire_part_exactly),
        WITH_CARD(a_pinned_copy_skips_staging_and_blocks_only_if_asked),
        WITH_CARD(a_pageable_copy_blocks_the_host_even_if_non_blocking),
        WITH_CARD(launches_return_at_once_and_copies_to_host_wait),
        WITH_CARD(a_kernel_takes_the_longer_of_flops_and_bytes),
        WITH_CARD(a_copy_within_vram_reads_and_writes_without_blocking),
        WITH_CARD(points_pass_in_order_and_waiting_brings_the_clock_there),
        WITH_CARD(asking_again_and_again_gets_an_answer),
        WITH_CARD(the_same_calls_take_the_same_times_and_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
