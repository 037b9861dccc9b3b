/* The caching allocator: queries of streams, statistics, messages. Random programs are in pool_random_test.c, PyTorch's
 * scenarios in allocator_test.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "caching_allocator.h"
#include "event.h"
#include "log.h"
#include "pool_card.h"
#include "text.h"

#define TEST(name) static void name(void **state)

/* ---- calls of the source ---- */

TEST(a_lagging_stream_is_queried_once_for_all_waiting_blocks)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = pool_on(&c, FY_WORD_device);
    fy_block *b[4];
    for (int i = 0; i < 4; i++) b[i] = fy_pool_alloc(p, 512, 0, NULL);
    for (int i = 0; i < 4; i++) {
        assert_true(fy_pool_use(p, b[i], 1));
        assert_true(fy_pool_use(p, b[i], 1)); /* recorded twice counts once */
        assert_true(fy_pool_release(p, b[i]));
    }
    assert_int_equal(c.issued, 4);
    fy_pool_alloc(p, 512, 0, NULL);
    assert_int_equal(c.queries, 1);
    c.now[1] = 2;
    assert_int_equal(fy_pool_alloc(p, 1024, 0, NULL)->offset, 0); /* the first two, merged; the third was queried */
    assert_int_equal(c.queries, 4);
    assert_int_equal(c.waits, 0);
    fy_pool_empty(p);
    assert_int_equal(c.waits, 2);
    fy_pool_free(p);
}

TEST(an_unknown_stream_is_not_waited_for)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = pool_on(&c, FY_WORD_device);
    fy_block *b = fy_pool_alloc(p, 512, 0, NULL);
    assert_true(fy_pool_use(p, b, 7));
    assert_false(fy_pool_release(p, b));
    fy_pool_free(p);
}

TEST(an_error_of_another_kind_gives_nothing_back)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = pool_on(&c, FY_WORD_device);
    fy_pool_release(p, fy_pool_alloc(p, 512, 0, NULL));
    c.broken = true;
    assert_null(fy_pool_alloc(p, 2 * MIB, 0, NULL));
    assert_int_equal(c.freed_segments, 0);
    assert_int_equal(fy_pool_stats(p).num_ooms, 0);
    c.broken = false;
    assert_null(fy_pool_alloc(p, 200 * MIB, 0, NULL));
    assert_int_equal(c.freed_for_room, 1);
    fy_memory_stats s = fy_pool_stats(p);
    assert_int_equal(s.num_alloc_retries, 1);
    assert_int_equal(s.num_ooms, 1);
    fy_pool_free(p);
}

TEST(pinned_sizes_are_powers_of_two_and_never_cut)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = pool_on(&c, FY_WORD_pinned);
    fy_block *a = fy_pool_alloc(p, 600000, 0, NULL), *b = fy_pool_alloc(p, 1, 3, NULL);
    assert_int_equal(a->bytes, MIB);
    assert_int_equal(b->bytes, 512);
    fy_pool_use(p, a, 0); /* stream 0 of the card is not its own */
    assert_true(fy_pool_release(p, a));
    assert_ptr_not_equal(fy_pool_alloc(p, 600000, 0, NULL), a);
    c.now[0] = c.issued;
    assert_ptr_equal(fy_pool_alloc(p, 700, 1, NULL), a); /* best fit, independent of the segment's size */
    assert_int_equal(a->bytes, MIB);
    assert_int_equal(a->asked, 700);
    assert_int_equal(c.taken, 2 * MIB + 512);
    fy_pool_free(p);
}

TEST(figures_and_peaks)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = pool_on(&c, FY_WORD_device);
    fy_block *a = fy_pool_alloc(p, 5 * MIB, 0, NULL), *b = fy_pool_alloc(p, 100, 0, NULL);
    fy_memory_stats s = fy_pool_stats(p);
    assert_int_equal(s.requested_bytes, 5 * MIB + 100);
    assert_int_equal(s.inactive_split_bytes, 15 * MIB + 2 * MIB - 512);
    assert_int_equal(s.allocations, 2);
    assert_int_equal(s.segments, 2);
    assert_int_equal(fy_pool_largest(p), 15 * MIB);
    fy_pool_release(p, a);
    assert_int_equal(fy_pool_stats(p).inactive_split_bytes, 2 * MIB - 512); /* using a whole segment is not a split */
    fy_pool_reset_peaks(p);
    fy_pool_empty(p);
    s = fy_pool_stats(p);
    assert_int_equal(s.max_allocated_bytes, 512);
    assert_int_equal(s.max_reserved_bytes, 22 * MIB);
    assert_int_equal(s.reserved_bytes, 2 * MIB);
    fy_pool_release(p, b);
    assert_int_equal(fy_pool_stats(p).requested_bytes, 0);
    fy_pool_free(p);
}

/* ---- messages ---- */

static const char *name_of(const fy_block *b, char *buf, size_t room)
{
    snprintf(buf, room, "%s (x.c:%d)", (const char *)b->owner, (int)(b->bytes / MIB));
    return buf;
}

static fy_pool *in_pieces(card *c)
{
    fy_pool *p = pool_on(c, FY_WORD_device);
    fy_pool_alloc(p, 4 * MIB, 0, "a");
    fy_block *hole = fy_pool_alloc(p, 6 * MIB, 0, "gone"), *busy = fy_pool_alloc(p, 2 * MIB, 0, "busy");
    fy_pool_alloc(p, 2 * MIB, 0, "b");
    fy_pool_release(p, hole);
    fy_pool_use(p, busy, 1);
    fy_pool_release(p, busy);
    return p;
}

TEST(pieces_and_what_lives_in_words)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = in_pieces(&c);
    char text[400];
    fy_pool_fragmentation_text(p, name_of, text, sizeof text);
    assert_string_equal(
        text, "segment of 20 MiB at 0x40000000: 4 MiB used by a (x.c:4), 6 MiB free, 2 MiB waiting for another "
              "stream, 2 MiB used by b (x.c:2), 6 MiB free; 12 MiB of it are free, the largest block is 6 MiB");
    fy_pool_fragmentation_text(p, name_of, text, 159);
    assert_string_equal(text, "segment of 20 MiB at 0x40000000: 4 MiB used by a (x.c:4), 6 MiB free, 2 MiB waiting for "
                              "another stream ...; 12 MiB of it are free, the largest block is 6 MiB");
    fy_pool_usage_text(p, name_of, text, sizeof text);
    assert_string_equal(text, "a (x.c:4) 4 MiB, b (x.c:2) 2 MiB");
    for (int i = 0; i < 4; i++) fy_pool_alloc(p, 3 * MIB, 0, "c");
    fy_pool_usage_text(p, name_of, text, sizeof text);
    assert_string_equal(text, "4 tensors c (x.c:3), 12 MiB together, a (x.c:4) 4 MiB, b (x.c:2) 2 MiB");
    fy_pool_free(p);
}

TEST(segments_are_drawn)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = in_pieces(&c);
    fy_pool_alloc(p, 512, 3, "tiny");
    fy_text text = {0};
    fy_pool_draw(p, name_of, &text);
    assert_string_equal(text.data, "  0x40000000  20 MiB, large blocks, stream 0\n"
                                   "  [aaaaaaaaaaaaa...................~~~~~~bbbbbbb...................]\n"
                                   "   a  4 MiB a (x.c:4)\n"
                                   "   .  6 MiB free\n"
                                   "   ~  2 MiB waiting for another stream\n"
                                   "   b  2 MiB b (x.c:2)\n"
                                   "   .  6 MiB free\n"
                                   "  0x80000000  2 MiB, small blocks, stream 3\n"
                                   "  [a...............................................................]\n"
                                   "   a  512 bytes tiny (x.c:0)\n"
                                   "   .  2.00 MiB free\n");
    free(text.data);
    fy_pool_free(p);
}

TEST(sizes_are_written_as_pytorch_writes_them)
{
    (void)state;
    static const struct {
        int64_t bytes;
        const char *text;
    } cases[] = {{0, "0 bytes"},
                 {512, "512 bytes"},
                 {1024, "1024 bytes"},
                 {1025, "1.00 KiB"},
                 {1 << 20, "1024.00 KiB"},
                 {(1 << 20) + 1, "1.00 MiB"},
                 {1 << 30, "1024.00 MiB"},
                 {(int64_t)3 << 29, "1.50 GiB"},
                 {(int64_t)1 << 60, "1073741824.00 GiB"}};
    char text[40];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(fy_size_text(cases[i].bytes, text, sizeof text), cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lagging_stream_is_queried_once_for_all_waiting_blocks),
        cmocka_unit_test(an_unknown_stream_is_not_waited_for),
        cmocka_unit_test(an_error_of_another_kind_gives_nothing_back),
        cmocka_unit_test(pinned_sizes_are_powers_of_two_and_never_cut),
        cmocka_unit_test(figures_and_peaks),
        cmocka_unit_test(pieces_and_what_lives_in_words),
        cmocka_unit_test(segments_are_drawn),
        cmocka_unit_test(sizes_are_written_as_pytorch_writes_them),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
