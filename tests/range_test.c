/* range.c: first fit, merging, tenants. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "address_space.h"
#include "device.h"

enum { BASE = 0x10000 };

static void pieces_come_from_the_lowest_hole_that_is_large_enough(void **state)
{
    (void)state;
    struct fy_address_space *r = fy_address_space_make(BASE, 10 * 512, 512);
    uint64_t a = fy_address_space_alloc(r, 1, NULL), b = fy_address_space_alloc(r, 513, NULL),
             c = fy_address_space_alloc(r, 512, NULL);
    assert_int_equal(a, BASE);
    assert_int_equal(b, BASE + 512);
    assert_int_equal(c, BASE + 512 + 1024);
    fy_address_space_release(r, a);
    assert_int_equal(fy_address_space_alloc(r, 1024, NULL), BASE + 4 * 512); /* the hole in front is too small */
    assert_int_equal(fy_address_space_alloc(r, 100, NULL), BASE);
    fy_address_space_free(r);
}

static void nothing_is_0_and_full_is_0(void **state)
{
    (void)state;
    struct fy_address_space *r = fy_address_space_make(BASE, 1024, 512);
    assert_int_equal(fy_address_space_alloc(r, 1025, NULL), 0);
    assert_int_equal(fy_address_space_alloc(r, UINT64_MAX, NULL), 0);
    assert_int_equal(fy_address_space_alloc(r, UINT64_MAX - 600, NULL), 0);
    assert_int_equal(fy_address_space_alloc(r, 0, NULL), BASE); /* still a distinct address */
    assert_int_equal(fy_address_space_alloc(r, 512, NULL), BASE + 512);
    assert_int_equal(fy_address_space_alloc(r, 1, NULL), 0);
    fy_address_space_free(r);
}

static void neighbours_merge_in_any_order_of_freeing(void **state)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct fy_address_space *r = fy_address_space_make(BASE, 3 * 512, 512);
        uint64_t p[3];
        for (int k = 0; k < 3; k++) p[k] = fy_address_space_alloc(r, 512, NULL);
        assert_int_equal(fy_address_space_largest(r), 0);
        for (int k = 0; k < 3; k++) fy_address_space_release(r, p[orders[i][k]]);
        assert_int_equal(fy_address_space_largest(r), 3 * 512);
        assert_int_equal(fy_address_space_alloc(r, 3 * 512, NULL), BASE);
        fy_address_space_free(r);
    }
}

static void an_address_remembers_how_many_tenants_it_had(void **state)
{
    (void)state;
    struct fy_address_space *r = fy_address_space_make(BASE, 4096, 512);
    for (uint32_t before = 0; before < 5; before++) {
        uint32_t tenant = 99;
        uint64_t p = fy_address_space_alloc(r, 512, &tenant);
        assert_int_equal(p, BASE);
        assert_int_equal(tenant, before);
        fy_address_space_release(r, p);
    }
    fy_address_space_free(r);
}

static void giving_back_twice_or_what_was_never_taken_changes_nothing(void **state)
{
    (void)state;
    struct fy_address_space *r = fy_address_space_make(BASE, 2048, 512);
    uint64_t p = fy_address_space_alloc(r, 512, NULL);
    fy_address_space_release(r, p);
    fy_address_space_release(r, p);
    fy_address_space_release(r, 0);
    fy_address_space_release(r, BASE + 1024);
    assert_int_equal(fy_address_space_largest(r), 2048);
    fy_address_space_free(r);
}

/* Compared with a map of used granules: no overlaps, and first fit. */
static void a_long_mixed_run_agrees_with_a_plain_map(void **state)
{
    enum { GRANULES = 128, PIECES = 40 };
    static uint8_t taken[GRANULES];
    static struct {
        uint64_t at, n;
    } piece[PIECES];
    struct fy_address_space *r = fy_address_space_make(BASE, GRANULES * 64, 64);
    uint32_t random = 1;
    (void)state;
    for (int step = 0; step < 4000; step++) {
        random = random * 1664525 + 1013904223;
        unsigned k = random >> 8 & 31;
        if (piece[k].n) {
            for (uint64_t i = 0; i < piece[k].n; i++) taken[piece[k].at + i] = 0;
            fy_address_space_release(r, BASE + piece[k].at * 64);
            piece[k].n = 0;
            continue;
        }
        uint64_t n = 1 + (random >> 16 & 15), first = 0, run = 0;
        for (; first + run < GRANULES && run < n;)
            if (taken[first + run]) first += run + 1, run = 0;
            else run++;
        uint64_t got = fy_address_space_alloc(r, n * 64, NULL);
        assert_int_equal(got, run < n ? 0 : BASE + first * 64);
        if (!got) continue;
        piece[k].at = first, piece[k].n = n;
        for (uint64_t i = 0; i < n; i++) taken[first + i] = 1;
    }
    fy_address_space_free(r);
}

static void *churn(void *p)
{
    for (int i = 0; i < 500; i++) {
        fy_tensor *a = fy_ones((4)), *b = fy_ones((200));
        FY_SCOPE
        {
            if (fy_item(fy_sum(a)) != 4 || fy_item(fy_sum(b)) != 200) __atomic_add_fetch((int *)p, 1, __ATOMIC_RELAXED);
        }
        fy_free(a);
        fy_free(b);
    }
    return NULL;
}

static void threads_may_take_memory_at_once(void **state)
{
    (void)state;
    int wrong = 0;
    FY_SCOPE { fy_ones((4)); } /* what only the first call does is done */
    struct fy_address_space *r = fy_dev_at(0)->addresses;
    int64_t live = fy_dev_at(0)->live_bytes;
    uint64_t largest = fy_address_space_largest(r);
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, churn, &wrong);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    assert_int_equal(wrong, 0);
    assert_int_equal(fy_dev_at(0)->live_bytes, live);
    assert_int_equal(fy_address_space_largest(r), largest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_from_the_lowest_hole_that_is_large_enough),
        cmocka_unit_test(nothing_is_0_and_full_is_0),
        cmocka_unit_test(neighbours_merge_in_any_order_of_freeing),
        cmocka_unit_test(an_address_remembers_how_many_tenants_it_had),
        cmocka_unit_test(giving_back_twice_or_what_was_never_taken_changes_nothing),
        cmocka_unit_test(a_long_mixed_run_agrees_with_a_plain_map),
        cmocka_unit_test(threads_may_take_memory_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
