/* Times in the golden logs of lessons/experiments: PyTorch's pinning experiment, and copies overlapping with
 * computation. Expected times are calculated by hand from the cards' parameters (lib/devices/card_models.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

static char *lines;
static trace run;

static int open_log(const char *path)
{
    char err[256];
    FILE *from = fopen(path, "r");
    if (!from || !(lines = calloc(1, 1 << 20))) return -1;
    size_t size = fread(lines, 1, (1 << 20) - 1, from);
    fclose(from);
    return trace_of_lines(&run, lines, size, err, sizeof err) ? 0 : -1;
}

static int close_log(void **state)
{
    (void)state;
    trace_free(&run);
    free(lines);
    return 0;
}

static int open_pinning(void **state) { return (void)state, open_log("tests/golden/pinning.jsonl"); }
static int open_round_trip(void **state) { return (void)state, open_log("tests/golden/demo-03-round-trip.jsonl"); }
static int open_overlap(void **state) { return (void)state, open_log("tests/golden/overlap.jsonl"); }

static bool is_mark(int i) { return run.events[i].kind == FY_KIND_mark; }
static int64_t now_of(int i) { return run.events[i].is.mark.now; }

/* Index of the n-th clock reading after the mark `text`, or of the mark itself (-1). */
static int mark_of(const char *text, int n)
{
    int i = 0;
    while (i < run.count && !(is_mark(i) && fy_event_is(&run.events[i], run.events[i].is.mark.text, text))) i++;
    while (n >= 0 && ++i < run.count) n -= is_mark(i);
    assert_true(i < run.count);
    return i;
}

/* ns between two clock readings after a mark. */
static int64_t between(const char *text, int from, int to)
{
    return now_of(mark_of(text, to)) - now_of(mark_of(text, from));
}

/* ---- pinning ---- */

static int64_t held(const char *way) { return between(way, 0, 1); }
static int64_t arrived(const char *way) { return between(way, 0, 2); }

/* Four tensors of 16 MiB are copied to an h200. Each call costs 3000 ns; a transfer 2000 to start and 16 MiB / 50 GB/s
 * = 335544; the last wait 3000. */
static void page_locked_memory_goes_straight_over_the_bus(void **state)
{
    (void)state;
    assert_int_equal(held("demo: pinned"), 4 * (3000 + 2000 + 335544));
    assert_int_equal(arrived("demo: pinned"), 4 * (3000 + 2000 + 335544) + 3000);
    assert_int_equal(held("demo: pinned, non_blocking"), 4 * 3000);
    /* the second call overlaps the first copy: only the first call's cost is visible */
    assert_int_equal(arrived("demo: pinned, non_blocking"), 3000 + 4 * (2000 + 335544));
}

/* Pageable: the host copies four chunks of 4 MiB to the staging buffer, 4 MiB / 10 GB/s = 419430 each (.4 over); each
 * is transferred while the next one is staged. The last transfer takes 2000 + 4 MiB / 50 GB/s = 83886. */
static void pageable_memory_goes_through_the_staging_buffer(void **state)
{
    (void)state;
    int64_t one = 3000 + 1677722 + 2000 + 83886;
    int64_t took = held("demo: pageable");
    assert_true(took >= 4 * one - 4 && took <= 4 * one + 4);      /* each part is rounded */
    assert_int_equal(held("demo: pageable, non_blocking"), took); /* non_blocking has no effect */
}

/* Pinning first: page-locking 16 MiB takes 50000 + 16 MiB / 2.8 GB/s = 6041863, and filling the buffer is another
 * copy. */
static void pinning_first_costs_more_than_it_saves(void **state)
{
    (void)state;
    int64_t locking = 50000 + 5991863, filling = 500 + 2 * 838861, straight = 3000 + 2000 + 335544;
    int64_t took = held("demo: pin, then copy"), want = 4 * (locking + filling + straight);
    assert_true(llabs(took - want) < want / 100);
}

static void the_ways_rank_as_pytorchs_tutorial_says(void **state)
{
    (void)state;
    static const char *const ways[] = {"demo: pinned, non_blocking",         "demo: pinned",
                                       "demo: pageable, non_blocking",       "demo: pageable",
                                       "demo: pin, then copy, non_blocking", "demo: pin, then copy"};
    for (int i = 0; i + 1 < 6; i++) {
        bool same = i == 2;
        assert_true(same ? arrived(ways[i]) <= arrived(ways[i + 1]) : arrived(ways[i]) < arrived(ways[i + 1]));
    }
    assert_true(held("demo: pinned, non_blocking") * 100 < held("demo: pinned"));
}

/* ---- the third lesson's example ---- */

/* A copy of 1024 times the bytes takes less than 1024 times as long: the latency is the same. Transfers in both
 * directions: 128 bytes at 50 GB/s are 3 ns, 128 KiB 2621. */
static void a_parcel_travels_longer_than_a_letter_but_not_thousandfold(void **state)
{
    (void)state;
    int marks[3], n = 0;
    for (int i = 0; i < run.count; i++)
        if (is_mark(i) && n < 3) marks[n++] = i;
    assert_int_equal(n, 3);
    int64_t start = now_of(marks[0]), between_them = now_of(marks[1]);
    int64_t letter = between_them - start, parcel = now_of(marks[2]) - between_them;
    assert_true(parcel > 2 * letter && parcel < 10 * letter);
}

/* ---- overlap ---- */

/* The complete event of the n-th operation of a variant on an engine. */
static const fy_ev_complete *done(const char *way, fy_word engine, int n)
{
    for (int i = mark_of(way, -1); i < run.count; i++)
        if (run.events[i].kind == FY_KIND_complete && run.events[i].is.complete.engine == engine && n-- == 0)
            return &run.events[i].is.complete;
    fail_msg("%s: not so many on engine %d", way, (int)engine);
    return NULL;
}

enum { BATCHES = 4, WORKS = 10 }; /* operations per batch */

/* A batch of 1M floats on an h200. A copy: 2000 to start it, and 4 MiB / 50 GB/s = 83886. An operation: 3000 to start,
 * and its bytes at 4.8 TB/s: fy_mul_ reads two tensors and writes one, 12 MiB = 2621; fy_add_ reads one and writes one,
 * 8 MiB = 1747 or so. A call costs the host 3000 for a copy and 4000 for an operation, so the host runs ahead of the
 * card. */
enum { COPY = 2000 + 83886, WORK = WORKS / 2 * (3000 + 2621 + 3000 + 1748), CALL = 3000 };

static void in_one_stream_copies_and_work_take_turns(void **state)
{
    (void)state;
    const char *way = "demo: one stream";
    for (int i = 0; i < BATCHES; i++) {
        const fy_ev_complete *copy = done(way, FY_WORD_h2d, i), *first = done(way, FY_WORD_compute, WORKS * i);
        assert_int_equal(copy->end - copy->start, COPY);
        assert_true(first->start >= copy->end);
        if (i) assert_true(copy->start >= done(way, FY_WORD_compute, WORKS * i - 1)->end);
    }
    int64_t took = between(way, 0, 1), want = CALL + BATCHES * (COPY + WORK);
    assert_true(llabs(took - want) < BATCHES * WORKS); /* each part is rounded */
}

static void in_two_streams_the_next_batch_travels_during_work(void **state)
{
    (void)state;
    const char *way = "demo: two streams";
    for (int i = 0; i < BATCHES; i++) {
        const fy_ev_complete *copy = done(way, FY_WORD_h2d, i), *first = done(way, FY_WORD_compute, WORKS * i);
        assert_true(first->start >= copy->end); /* waits for its own batch */
        if (i == 0) continue;
        const fy_ev_complete *before = done(way, FY_WORD_compute, WORKS * (i - 1)),
                             *last = done(way, FY_WORD_compute, WORKS * i - 1);
        assert_true(copy->start < last->end && copy->end > before->start); /* overlaps the previous batch */
    }
    /* the bus is always busy, and the last batch's work ends after it */
    int64_t took = between(way, 0, 1), want = CALL + BATCHES * COPY + WORK;
    assert_true(llabs(took - want) < BATCHES * WORKS);
    assert_true(took < between("demo: one stream", 0, 1));
}

static void nothing_in_it_is_a_data_race(void **state)
{
    (void)state;
    for (int i = 0; i < run.count; i++) assert_int_not_equal(run.events[i].kind, FY_KIND_data_race);
}

int main(void)
{
    const struct CMUnitTest pinning[] = {
        cmocka_unit_test(page_locked_memory_goes_straight_over_the_bus),
        cmocka_unit_test(pageable_memory_goes_through_the_staging_buffer),
        cmocka_unit_test(pinning_first_costs_more_than_it_saves),
        cmocka_unit_test(the_ways_rank_as_pytorchs_tutorial_says),
    };
    const struct CMUnitTest round_trip[] = {
        cmocka_unit_test(a_parcel_travels_longer_than_a_letter_but_not_thousandfold),
    };
    const struct CMUnitTest overlap[] = {
        cmocka_unit_test(in_one_stream_copies_and_work_take_turns),
        cmocka_unit_test(in_two_streams_the_next_batch_travels_during_work),
        cmocka_unit_test(nothing_in_it_is_a_data_race),
    };
    int failed = cmocka_run_group_tests_name("golden_times", pinning, open_pinning, close_log);
    failed += cmocka_run_group_tests_name("golden_times", round_trip, open_round_trip, close_log);
    return failed + cmocka_run_group_tests_name("golden_times", overlap, open_overlap, close_log);
}
