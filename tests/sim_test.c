/* The simulated card by itself: its memory, and its timetable worked out by hand.
 *
 * The card of these tests has round figures: the bus carries 1 byte a ns, staging copies 2 bytes a ns
 * in chunks of 1000 bytes, VRAM moves 4 bytes a ns; a call costs 10, a launch 20, a transfer 5 and a
 * kernel 7 ns; 1 flop takes 1 ns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "device.h"
#include "op.h"

static fy_card round_card = {
    .name = "Round", .key = "round", .capacity = 1 << 20, .flops_f32 = 1e9, .memory_bandwidth = 4e9,
    .bus_bandwidth = 1e9, .staging_bandwidth = 2e9, .staging_chunk = 1000, .bus_latency = 5, .call_overhead = 10,
    .launch_overhead = 20, .kernel_latency = 7,
};

static fy_dev *open_card(const fy_card *card, int64_t capacity)
{
    static fy_dev d;
    char why[100] = "";
    d = (fy_dev){.backend = &fy_backend_sim, .number = 1, .name = "cuda:0", .card = card, .capacity = capacity};
    if (!fy_backend_sim.open(&d, why, sizeof why)) return NULL;
    fy_backend_sim.info(&d);
    return &d;
}

static int setup(void **state)
{
    *state = open_card(&round_card, 1 << 20);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    fy_backend_sim.close(*state);
    return 0;
}

static void *alloc(fy_dev *d, size_t bytes)
{
    fy_time t;
    return fy_backend_sim.alloc(d, bytes, &t);
}

static fy_copy_work copy_way(fy_dev *d, fy_word dir, void *dst, const void *src, size_t bytes, bool pinned, bool async)
{
    fy_copy_work w = {.dst = dst, .src = src, .bytes = bytes, .dir = dir, .pinned = pinned, .async = async};
    assert_true(fy_backend_sim.copy(d, &w));
    return w;
}

static fy_copy_work up(fy_dev *d, void *dst, const void *src, size_t bytes)
{
    return copy_way(d, FY_WORD_h2d, dst, src, bytes, false, false);
}

static fy_copy_work down(fy_dev *d, void *dst, const void *src, size_t bytes)
{
    return copy_way(d, FY_WORD_d2h, dst, src, bytes, false, false);
}

static void wait_for_all(fy_dev *d)
{
    fy_time t;
    assert_true(fy_backend_sim.wait(d, -1, &t));
}

static fy_run_work fill_work(void *out, int64_t n, int64_t flops)
{
    fy_run_work w = {.op = FY_OP_fill, .real = {2.5}, .flops = flops, .bytes = n * 4};
    w.out = (fy_operand){out, FY_FLOAT32, {.ndim = 1, .numel = n, .shape = {n}, .strides = {1}}};
    return w;
}

/* ---- times ---- */

static void a_small_copy_takes_the_time_worked_out_by_hand(void **state)
{
    fy_dev *d = *state;
    char host[800] = {0}, *p = alloc(d, sizeof host);
    int64_t t = fy_clock_now();
    fy_copy_work w = up(d, p, host, 800);
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

static void staging_of_a_chunk_overlaps_the_transfer_of_the_one_before(void **state)
{
    fy_dev *d = *state;
    char host[2500] = {0}, *p = alloc(d, sizeof host);
    int64_t t = fy_clock_now() + 10;
    fy_copy_work w = up(d, p, host, 2500);
    /* memcpy   0-500  500-1000   1505-1755 (its buffer is free when transfer 0 has ended)
     * transfer 500-1505  1505-2510  2510-3015 */
    assert_int_equal(w.time.staging, 1250);
    assert_int_equal(w.time.wire, 2500);
    assert_int_equal(w.time.overhead, 10 + 3 * 5);
    assert_int_equal(w.time.end, t + 3015);
    t = fy_clock_now() + 10;
    w = down(d, host, p, 2500);
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
    fy_copy_work slow = up(d, p, host, sizeof host);
    fast.bus_bandwidth *= 2;
    d->card = &fast;
    fy_copy_work quick = up(d, p, host, sizeof host);
    assert_int_equal(slow.time.wire, 300000);
    assert_int_equal(quick.time.wire * 2, slow.time.wire);
    assert_int_equal(quick.time.staging, slow.time.staging);
    assert_int_equal(quick.time.overhead, slow.time.overhead);
}

static void a_pinned_copy_goes_straight_and_holds_the_host_only_if_asked(void **state)
{
    fy_dev *d = *state;
    char host[800] = {0}, *p = alloc(d, sizeof host);
    int64_t t = fy_clock_now();
    fy_copy_work w = copy_way(d, FY_WORD_h2d, p, host, 800, true, true);
    assert_int_equal(w.route, FY_WORD_direct);
    assert_true(w.was_async);
    assert_int_equal(w.time.held, 10);
    assert_int_equal(w.time.end, t + 10 + 5 + 800);
    assert_int_equal(w.time.staging, 0);
    assert_int_equal(fy_clock_now(), t + 10);
    w = copy_way(d, FY_WORD_h2d, p, host, 800, true, false); /* behind the first */
    assert_false(w.was_async);
    assert_int_equal(w.time.start, t + 815);
    assert_int_equal(fy_clock_now(), t + 815 + 805);
}

static void pageable_memory_is_copied_while_the_host_waits_even_if_asked_not_to(void **state)
{
    fy_dev *d = *state;
    char host[800] = {0}, *p = alloc(d, sizeof host);
    fy_copy_work w = copy_way(d, FY_WORD_h2d, p, host, 800, false, true);
    assert_false(w.was_async);
    assert_int_equal(fy_clock_now(), w.time.end);
}

static void a_launch_returns_at_once_and_a_copy_home_waits_for_it(void **state)
{
    fy_dev *d = *state;
    float home = 0, *p = alloc(d, 4);
    int64_t t = fy_clock_now();
    fy_run_work w = fill_work(p, 1, 5000);
    assert_true(fy_backend_sim.run(d, &w));
    assert_int_equal(fy_clock_now(), t + 20);
    assert_int_equal(w.time.held, 20);
    assert_int_equal(w.time.start, t + 20);
    assert_int_equal(w.time.end, t + 20 + 7 + 5000);
    fy_copy_work c = down(d, &home, p, 4);
    assert_int_equal(c.time.start, w.time.end);
    assert_int_equal(c.time.end, w.time.end + 5 + 4 + 2);
    assert_true(home == 2.5f);
}

static void a_kernel_takes_its_flops_or_its_bytes_whichever_is_longer(void **state)
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

static void within_vram_bytes_are_read_and_written_and_the_host_goes_on(void **state)
{
    fy_dev *d = *state;
    char *p = alloc(d, 4000), *q = alloc(d, 4000), home[4000], host[4000];
    memset(host, 42, sizeof host);
    up(d, p, host, 4000);
    int64_t t = fy_clock_now();
    fy_copy_work w = copy_way(d, FY_WORD_d2d, q, p, 4000, false, false);
    assert_int_equal(w.time.end, t + 10 + 5 + 2000);
    assert_int_equal(fy_clock_now(), t + 10);
    down(d, home, q, 4000);
    assert_memory_equal(home, host, 4000);
}

static void points_pass_in_order_and_waiting_brings_the_clock_there(void **state)
{
    fy_dev *d = *state;
    float *p = alloc(d, 4);
    fy_time t;
    fy_run_work first = fill_work(p, 1, 1000), second = fill_work(p, 1, 1000);
    assert_true(fy_backend_sim.run(d, &first));
    int64_t point = fy_backend_sim.record(d, 0);
    assert_true(fy_backend_sim.run(d, &second));
    int64_t later = fy_backend_sim.record(d, 0);
    assert_false(fy_backend_sim.done(d, point));
    assert_true(fy_backend_sim.wait(d, point, &t));
    assert_int_equal(fy_clock_now(), first.time.end);
    assert_true(fy_backend_sim.done(d, point));
    assert_false(fy_backend_sim.done(d, later));
    wait_for_all(d);
    assert_int_equal(fy_clock_now(), second.time.end);
    assert_true(fy_backend_sim.done(d, later));
}

static void asking_again_and_again_gets_an_answer(void **state)
{
    fy_dev *d = *state;
    fy_run_work w = fill_work(alloc(d, 4), 1, 1000);
    assert_true(fy_backend_sim.run(d, &w));
    int64_t point = fy_backend_sim.record(d, 0);
    int asked = 1;
    while (!fy_backend_sim.done(d, point)) asked++;
    assert_int_equal(asked, 101); /* 1007 ns, 10 a question */
}

/* ---- memory ---- */

static void full_is_null_and_the_rest_stays_usable(void **state)
{
    fy_dev *d = *state;
    char *all = alloc(d, 1 << 20), home[4];
    assert_non_null(all);
    assert_null(alloc(d, 1));
    fy_backend_sim.release(d, all, 1 << 20);
    char *p = alloc(d, 1), *q = alloc(d, 513), *r = alloc(d, 1);
    assert_int_equal(q - p, 512);
    assert_int_equal(r - q, 1024);
    up(d, r, "abc", 4);
    assert_null(alloc(d, SIZE_MAX / 2));
    down(d, home, r, 4);
    assert_string_equal(home, "abc");
}

static void fresh_and_freed_memory_hold_different_junk(void **state)
{
    fy_dev *d = *state;
    unsigned char home[600], *p = alloc(d, 600);
    down(d, home, p, 600);
    for (int i = 0; i < 600; i++) assert_int_equal(home[i], 0xff);
    float f;
    memcpy(&f, home, 4);
    assert_true(f != f); /* unwritten VRAM reads as NaN */
    fy_backend_sim.release(d, p, 600);
    down(d, home, p, 600);
    for (int i = 0; i < 600; i++) assert_int_equal(home[i], 0xf5);
}

/* Of shared memory, which simulated VRAM is, and a sanitizer's own is not. */
static int64_t resident_mib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*s %*s %ld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages * sysconf(_SC_PAGESIZE) >> 20;
}

static void a_20_gib_tensor_on_a_large_card_eats_no_ram(void **state)
{
    (void)state;
    fy_dev *d = open_card(&round_card, (int64_t)24 << 30);
    if (!d) skip(); /* address space is limited here */
    int64_t before = resident_mib();
    char *p = alloc(d, (size_t)20 << 30), last[4], *end = p + ((size_t)20 << 30) - 4;
    assert_non_null(p);
    assert_null(alloc(d, (size_t)5 << 30));
    assert_true(resident_mib() - before < 100);
    up(d, end, "end", 4);
    down(d, last, end, 4);
    assert_string_equal(last, "end");
    fy_backend_sim.release(d, p, (size_t)20 << 30);
    assert_true(resident_mib() - before < 100);
    fy_backend_sim.close(d);
}

static void wrong_ends_of_a_copy_are_refused_by_name(void **state)
{
    fy_dev *d = *state;
    char host[16] = {0}, *p = alloc(d, 16);
    fy_copy_work a = {.dst = host, .src = host, .bytes = 16, .dir = FY_WORD_h2d};
    assert_false(fy_backend_sim.copy(d, &a));
    assert_string_equal(d->fault, "invalid argument: the destination of this copy is not in VRAM");
    fy_copy_work b = {.dst = p, .src = p, .bytes = 16, .dir = FY_WORD_h2d};
    assert_false(fy_backend_sim.copy(d, &b));
    assert_string_equal(d->fault, "invalid argument: the source of this copy is not host memory");
    fy_copy_work c = {.dst = host, .src = p, .bytes = (size_t)2 << 20, .dir = FY_WORD_d2h};
    assert_false(fy_backend_sim.copy(d, &c));
    assert_string_equal(d->fault, "invalid argument: the source of this copy is not in VRAM");
    fy_copy_work nothing = {.dst = NULL, .src = host, .bytes = 0, .dir = FY_WORD_h2d};
    assert_true(fy_backend_sim.copy(d, &nothing));
}

static void a_host_pointer_given_to_a_kernel_is_refused_by_name(void **state)
{
    fy_dev *d = *state;
    float host[4] = {1, 2, 3, 4};
    fy_run_work w = fill_work(host, 4, 0);
    assert_false(fy_backend_sim.run(d, &w));
    assert_non_null(strstr(d->fault, "kernel fill_f32 was given a host pointer as output 0"));
    assert_true(host[0] == 1);
    w = fill_work(alloc(d, 16), 1 << 20, 0);
    assert_false(fy_backend_sim.run(d, &w));
    assert_non_null(strstr(d->fault, "more than VRAM holds"));
}

static void only_vram_is_guarded(void **state)
{
    fy_dev *d = *state;
    char host, *p = alloc(d, 16);
    assert_true(fy_sim_owns(p));
    assert_true(fy_sim_owns(p + 15));
    assert_false(fy_sim_owns(&host));
    assert_false(fy_sim_owns(NULL));
}

static void a_forked_child_has_no_card(void **state)
{
    fy_dev *d = *state;
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(!alloc(d, 4) && strstr(d->fault, "Cannot re-initialize CUDA in forked subprocess") ? 7 : 1);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_non_null(alloc(d, 4));
}

/* ---- the whole ---- */

/* Every time and every place of a small program, relative to its start, in one number. */
static int64_t digest_of_a_program(fy_dev *d)
{
    static float host[1000];
    char *first = alloc(d, 4);
    int64_t t = fy_clock_now(), digest = 0;
    for (int i = 1; i <= 20; i++) {
        float *p = alloc(d, sizeof host);
        up(d, p, host, sizeof host);
        fy_run_work w = fill_work(p, 1000 - i, i * 37);
        assert_true(fy_backend_sim.run(d, &w));
        fy_copy_work c = down(d, host, p, sizeof host);
        if (i % 3) fy_backend_sim.release(d, p, sizeof host);
        digest = digest * 31 % 1000003 + (w.time.end - t) * 7 + (c.time.end - t) + ((char *)p - first);
    }
    wait_for_all(d);
    return digest * 31 + fy_clock_now() - t;
}

static void the_same_calls_take_the_same_times_and_places(void **state)
{
    int64_t once = digest_of_a_program(*state);
    teardown(state);
    assert_int_equal(setup(state), 0);
    assert_int_equal(digest_of_a_program(*state), once);
}

#define WITH_CARD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CARD(a_small_copy_takes_the_time_worked_out_by_hand),
        WITH_CARD(staging_of_a_chunk_overlaps_the_transfer_of_the_one_before),
        WITH_CARD(doubling_the_bus_halves_the_wire_part_exactly),
        WITH_CARD(a_pinned_copy_goes_straight_and_holds_the_host_only_if_asked),
        WITH_CARD(pageable_memory_is_copied_while_the_host_waits_even_if_asked_not_to),
        WITH_CARD(a_launch_returns_at_once_and_a_copy_home_waits_for_it),
        WITH_CARD(a_kernel_takes_its_flops_or_its_bytes_whichever_is_longer),
        WITH_CARD(within_vram_bytes_are_read_and_written_and_the_host_goes_on),
        WITH_CARD(points_pass_in_order_and_waiting_brings_the_clock_there),
        WITH_CARD(asking_again_and_again_gets_an_answer),
        WITH_CARD(full_is_null_and_the_rest_stays_usable),
        WITH_CARD(fresh_and_freed_memory_hold_different_junk),
        cmocka_unit_test(a_20_gib_tensor_on_a_large_card_eats_no_ram),
        WITH_CARD(wrong_ends_of_a_copy_are_refused_by_name),
        WITH_CARD(a_host_pointer_given_to_a_kernel_is_refused_by_name),
        WITH_CARD(only_vram_is_guarded),
        WITH_CARD(a_forked_child_has_no_card),
        WITH_CARD(the_same_calls_take_the_same_times_and_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
