/* The simulated card executes work lazily: only when something waits for it, in stream order. */
#include "clock.h"
#include "device.h"
#include "event.h"
#include "queued.h"
#include "run_work.h"

#include <malloc.h>

/* ---- the host and the card ---- */

static void reading_a_copy_to_the_host_early_gives_poison(void **state)
{
    fy_dev *d = *state;
    void *p = alloc_filled(d, 7);
    memset(pinned[0], 1, BYTES);
    COPY_D2H(d, 0, pinned[0], p);
    assert_true(IS_POISON(pinned[0]));
    fy_clock_advance(1000000); /* though its modelled end is past */
    assert_true(IS_POISON(pinned[0]));
    sync_stream(d, 0);
    assert_true(all_bytes_are(pinned[0], 7));
}

static void a_pinned_source_that_is_rewritten_early_arrives_rewritten(void **state)
{
    fy_dev *d = *state;
    void *p = alloc_filled(d, 0), *q = alloc_filled(d, 0);
    unsigned char pageable[BYTES];
    memset(pinned[0], 5, BYTES);
    memset(pageable, 5, BYTES);
    COPY_H2D(d, 0, p, pinned[0]);
    copy_in(d, 0, FY_WORD_h2d, q, pageable, false);
    memset(pinned[0], 6, BYTES);
    memset(pageable, 6, BYTES);
    sync_stream(d, 0);
    assert_int_equal(first_byte(d, p), 6);
    assert_int_equal(first_byte(d, q), 5); /* it was staged */
}

static void blocking_copies_come_after_the_work_of_their_stream(void **state)
{
    fy_dev *d = *state;
    float *p = alloc(d, BYTES), on_host[N], five = 5;
    run_on_card(d, fill_in(3, p, 2.5));
    fy_copy_work w = {.stream = 3, .dst = on_host, .src = p, .bytes = BYTES, .dir = FY_WORD_d2h};
    assert_true(fy_backend_sim.copy(d, &w));
    assert_true(on_host[0] == 2.5f && on_host[N - 1] == 2.5f);
    run_on_card(d, fill_in(3, p, 3));
    fy_copy_work up_ = {.stream = 3, .dst = p, .src = &five, .bytes = 4, .dir = FY_WORD_h2d};
    assert_true(fy_backend_sim.copy(d, &up_));
    assert_true(first_float(d, p) == 5);
}

static void a_buffer_that_leaves_and_returns_serves_both_copies(void **state)
{
    fy_dev *d = *state;
    void *to = alloc_filled(d, 0), *from = alloc_filled(d, 8);
    memset(pinned[0], 3, BYTES);
    COPY_H2D(d, 0, to, pinned[0]);
    COPY_D2H(d, 0, pinned[0], from);
    assert_true(IS_POISON(pinned[0]));
    sync_stream(d, 0);
    assert_int_equal(first_byte(d, to), 3);
    assert_true(all_bytes_are(pinned[0], 8));
}

static void and_so_does_one_that_is_used_again_and_again(void **state)
{
    fy_dev *d = *state;
    void *first = alloc_filled(d, 1), *second = alloc_filled(d, 2), *between = alloc_filled(d, 0),
         *last = alloc_filled(d, 0);
    COPY_D2H(d, 0, pinned[0], first);
    fy_point then = point_in(d, 0);
    COPY_H2D(d, 0, between, pinned[0]);
    COPY_D2H(d, 0, pinned[0], second);
    COPY_H2D(d, 0, last, pinned[0]);
    assert_true(host_waits(d, then));
    assert_true(IS_POISON(pinned[0])); /* the second copy to the host is queued */
    sync_stream(d, 0);
    assert_true(all_bytes_are(pinned[0], 2));
    assert_int_equal(first_byte(d, between), 1);
    assert_int_equal(first_byte(d, last), 2);
}

static void a_part_of_a_buffer_is_poisoned_alone(void **state)
{
    fy_dev *d = *state;
    void *p = alloc_filled(d, 4);
    memset(pinned[0], 1, BYTES);
    fy_copy_work w = {.dst = pinned[0] + 16, .src = p, .bytes = 8, .dir = FY_WORD_d2h, .pinned = true, .async = true};
    assert_true(fy_backend_sim.copy(d, &w));
    assert_int_equal(pinned[0][15], 1);
    assert_int_equal(pinned[0][16], 0xff);
    assert_int_equal(pinned[0][23], 0xff);
    assert_int_equal(pinned[0][24], 1);
    sync_stream(d, 0);
    assert_int_equal(pinned[0][16], 4);
    assert_int_equal(pinned[0][24], 1);
}

/* ---- streams ---- */

static void waiting_for_one_stream_leaves_the_others_undone(void **state)
{
    fy_dev *d = *state;
    void *p = alloc_filled(d, 7);
    COPY_D2H(d, 1, pinned[1], p);
    COPY_D2H(d, 2, pinned[2], p);
    fy_point early = point_in(d, 2);
    COPY_D2H(d, 2, pinned[3], p);
    assert_true(host_waits(d, early));
    assert_true(all_bytes_are(pinned[2], 7));
    assert_true(IS_POISON(pinned[1]) && IS_POISON(pinned[3]));
    wait_for_all(d);
    assert_true(all_bytes_are(pinned[1], 7) && all_bytes_are(pinned[3], 7));
}

static void a_waiting_stream_has_the_other_done_to_that_point(void **state)
{
    fy_dev *d = *state;
    void *p = alloc_filled(d, 1), *q = alloc_filled(d, 2), *r = alloc_filled(d, 3);
    COPY_D2D(d, 1, q, p); /* q is 1 */
    fy_point done = point_in(d, 1);
    COPY_D2H(d, 1, pinned[1], r); /* after the point */
    stream_waits(d, 2, d, done);
    COPY_D2D(d, 2, r, q); /* r is 1 */
    fy_copy_work got = COPY_D2H(d, 2, pinned[2], r);
    sync_stream(d, 2);
    assert_true(all_bytes_are(pinned[2], 1));
    assert_true(IS_POISON(pinned[1]));
    assert_true(got.time.start >= done.when);
}

static void a_chain_of_waits_goes_through_several_streams_and_back(void **state)
{
    fy_dev *d = *state;
    void *p = alloc_filled(d, 0);
    float *f = p;
    run_on_card(d, fill_in(1, f, 1));
    for (int i = 0; i < 100; i++) { /* 1 > 2 > 3 > 1 ..., each adds f to itself or subtracts it */
        int from = i % 3 + 1, to = (i + 1) % 3 + 1;
        stream_waits(d, to, d, point_in(d, from));
        run_on_card(d, i % 2 ? fill_in(to, f, i) : add_work(to, f, f, f));
    }
    sync_stream(d, 99 % 3 + 2 > 3 ? 1 : 99 % 3 + 2);
    assert_true(first_float(d, f) == 99);
}

static void waiting_for_the_card_runs_the_later_racer_first(void **state)
{
    fy_dev *d = *state;
    void *x = alloc_filled(d, 1), *y = alloc_filled(d, 2), *seen = alloc_filled(d, 0);
    COPY_D2D(d, 1, x, y);    /* writes x */
    COPY_D2D(d, 2, seen, x); /* reads it without a wait */
    wait_for_all(d);
    assert_int_equal(first_byte(d, seen), 1); /* the old content */
    x = alloc_filled(d, 1);
    COPY_D2D(d, 2, seen, x);
    COPY_D2D(d, 1, x, y); /* overwrites it without a wait */
    wait_for_all(d);
    assert_int_equal(first_byte(d, seen), 2); /* the new content, too early */
}

static void a_query_does_what_it_says_is_done(void **state)
{
    fy_dev *d = *state;
    void *p = alloc_filled(d, 7);
    int64_t when = 0;
    COPY_D2H(d, 4, pinned[0], p);
    fy_point point = point_in(d, 4);
    assert_false(fy_backend_sim.done(d, &point, &when));
    assert_string_equal(fy_fault.text, "");
    assert_true(IS_POISON(pinned[0]));
    fy_clock_at_least(point.when);
    assert_true(IS_POISON(pinned[0]));
    assert_true(fy_backend_sim.done(d, &point, &when));
    assert_true(all_bytes_are(pinned[0], 7));
    assert_int_equal(when, point.when);
}

static void fresh_and_freed_blocks_are_filled_in_stream_order(void **state)
{
    fy_dev *d = *state;
    void *p = alloc_filled(d, 7);
    COPY_D2H(d, 1, pinned[0], p);
    int64_t t = fy_clock_now();
    fy_copy_work w = {.stream = 1, .dst = p, .bytes = BYTES, .fill_byte = 0xf5, .async = true};
    assert_true(fy_backend_sim.copy(d, &w));
    assert_int_equal(fy_clock_now(), t);
    COPY_D2H(d, 1, pinned[1], p);
    assert_int_equal(first_byte(d, p), 7);
    sync_stream(d, 1);
    assert_true(all_bytes_are(pinned[0], 7) && all_bytes_are(pinned[1], 0xf5));
    w.fill_byte = 0xff;
    w.async = false;
    assert_true(fy_backend_sim.copy(d, &w)); /* and at once with FERRY_LAUNCH_BLOCKING */
    assert_int_equal(first_byte(d, p), 0xff);
}

/* ---- cards ---- */

static void copy_across(fy_dev *from, int stream, int to_stream, void *dst, const void *src)
{
    fy_copy_work w = {.stream = stream, .to_stream = to_stream, .dst = dst, .src = src, .bytes = BYTES};
    w.dir = FY_WORD_p2p;
    assert_true(fy_backend_sim.copy(from, &w));
}

static void work_of_two_cards_waits_across_them(void **state)
{
    fy_dev *a = *state, *b = open_card_number(2, &round_card, 1 << 20);
    assert_non_null(b);
    void *p = alloc_filled(a, 1), *q = alloc_filled(b, 2), *r = alloc_filled(b, 3);
    COPY_D2H(b, 6, pinned[0], q); /* before: 2 */
    COPY_D2D(b, 6, r, q);         /* r is 2 */
    copy_across(a, 5, 6, q, p);   /* q becomes 1, after that */
    COPY_D2H(b, 6, pinned[1], q); /* after: 1 */
    COPY_D2H(b, 5, pinned[2], q); /* not ordered with it: the number of the first card's stream means nothing */
    stream_waits(a, 7, b, point_in(b, 6)); /* and back to the first card */
    copy_across(b, 8, 8, p, r);            /* not ordered with anything */
    COPY_D2H(a, 7, pinned[3], p);
    sync_stream(a, 7);
    assert_true(all_bytes_are(pinned[0], 2) && all_bytes_are(pinned[1], 1) && all_bytes_are(pinned[3], 1));
    assert_true(IS_POISON(pinned[2]));
    wait_for_all(b);
    assert_true(all_bytes_are(pinned[2], 1));
    assert_int_equal(first_byte(a, p), 2);
    fy_backend_sim.close(b);
}

static void a_card_that_is_closed_is_waited_for_by_nobody(void **state)
{
    fy_dev *a = *state, *b = open_card_number(2, &round_card, 1 << 20);
    assert_non_null(b);
    void *p = alloc_filled(a, 1), *q = alloc_filled(b, 2);
    COPY_D2H(b, 1, pinned[0], q);
    stream_waits(a, 1, b, point_in(b, 1));
    copy_across(a, 1, 1, q, p);
    COPY_D2H(a, 1, pinned[1], p);
    fy_backend_sim.close(b);
    sync_stream(a, 1);
    assert_true(all_bytes_are(pinned[1], 1));
    assert_true(IS_POISON(pinned[0]));
}

/* ---- bounds ---- */

static void beyond_4096_tasks_the_oldest_are_done(void **state)
{
    fy_dev *d = *state;
    void *p = alloc_filled(d, 7), *q = alloc_filled(d, 8);
    COPY_D2H(d, 1, pinned[0], p);
    COPY_D2H(d, 2, pinned[1], p);
    for (int i = 2; i < 4096; i++) COPY_D2D(d, i % 3 + 1, q, p);
    assert_true(IS_POISON(pinned[0]));
    COPY_D2D(d, 3, q, p);
    assert_true(all_bytes_are(pinned[0], 7));
    assert_true(IS_POISON(pinned[1]));
    COPY_D2D(d, 3, q, p);
    assert_true(all_bytes_are(pinned[1], 7));
}

static void memory_that_is_given_back_is_used_no_more(void **state)
{
    fy_dev *d = *state;
    fy_time t;
    void *p = alloc_filled(d, 7), *q = alloc_filled(d, 0);
    unsigned char *lock = fy_backend_sim.alloc(d, BYTES, FY_WORD_pinned, &t);
    memset(lock, 5, BYTES);
    COPY_H2D(d, 1, q, lock);
    COPY_D2H(d, 2, pinned[0], p);
    fy_backend_sim.release(d, lock, BYTES, FY_WORD_pinned, &t);
    assert_int_equal(first_byte(d, q), 5);
    assert_true(IS_POISON(pinned[0]));
    release(d, p, BYTES); /* waits for the card */
    assert_true(all_bytes_are(pinned[0], 7));
}

static size_t heap_bytes(void) { return mallinfo2().uordblks; }

static void queueing_takes_no_memory_that_was_not_taken_before(void **state)
{
    fy_dev *d = *state;
    void *a = alloc_filled(d, 0), *b = alloc_filled(d, 0), *out = alloc_filled(d, 0);
    size_t before = 0;
    for (int round = 0; round < 3; round++) {
        if (round == 1) before = heap_bytes();
        for (int i = 0; i < 5000; i++) run_on_card(d, add_work(i % 2, a, b, out));
        for (int i = 0; i < 50; i++) copy_in(d, 1, FY_WORD_h2d, a, pinned[0], false);
        wait_for_all(d);
    }
    assert_int_equal(heap_bytes(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CARD(reading_a_copy_to_the_host_early_gives_poison),
        WITH_CARD(a_pinned_source_that_is_rewritten_early_arrives_rewritten),
        WITH_CARD(blocking_copies_come_after_the_work_of_their_stream),
        WITH_CARD(a_buffer_that_leaves_and_returns_serves_both_copies),
        WITH_CARD(and_so_does_one_that_is_used_again_and_again),
        WITH_CARD(a_part_of_a_buffer_is_poisoned_alone),
        WITH_CARD(waiting_for_one_stream_leaves_the_others_undone),
        WITH_CARD(a_waiting_stream_has_the_other_done_to_that_point),
        WITH_CARD(a_chain_of_waits_goes_through_several_streams_and_back),
        WITH_CARD(waiting_for_the_card_runs_the_later_racer_first),
        WITH_CARD(a_query_does_what_it_says_is_done),
        WITH_CARD(fresh_and_freed_blocks_are_filled_in_stream_order),
        WITH_CARD(work_of_two_cards_waits_across_them),
        WITH_CARD(a_card_that_is_closed_is_waited_for_by_nobody),
        WITH_CARD(beyond_4096_tasks_the_oldest_are_done),
        WITH_CARD(memory_that_is_given_back_is_used_no_more),
        WITH_CARD(queueing_takes_no_memory_that_was_not_taken_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
