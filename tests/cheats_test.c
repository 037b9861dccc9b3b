/* Programs that get the numbers without the card's work, and honest ones that look odd: the first fail, the
 * others pass. Logs written by hand; the
 * lessons' wrong_*.c do the same for real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "right_run.h"

/* A right run; `way` says how somebody got at storage `storage` before (at 0) or after the work (at 1). */
static void touched_run(handmade *h, int at, const char *kind, const char *via, int storage)
{
    begin(h);
    copy(h, 1, 2, "h2d", 24);
    if (!at) hand(h, "'kind':'%s','tensor':1,'storage':%d,'via':'%s','line':16", kind, storage, via);
    op(h, "mul", "cuda:0", 2, 3);
    op(h, "add", "cuda:0", 3, 4);
    turns(h, 4);
    copy(h, 4, 5, "d2h", 24);
    if (at) hand(h, "'kind':'%s','tensor':1,'storage':%d,'via':'%s','line':16", kind, storage, via);
    answer(h, "h", 5, "cpu", NULL);
    hand(h, "'kind':'end','status':0");
}

static void a_pointer_into_the_answers_bytes_fails_at_its_line(void **state)
{
    (void)state;
    handmade h = {0};
    touched_run(&h, 1, "host_read", "data", 5);
    verdict v = judge(&h);
    assert_int_equal(verdict_failure(&v)->line, 16);
    assert_fails(&h, "computed-by-ferry", "fy_data at line 16");
    touched_run(&h, 1, "host_write", "data", 5);
    assert_fails(&h, "computed-by-ferry", "fy_data at line 16");
    touched_run(&h, 0, "host_read", "data", 3);
    assert_fails(&h, "computed-by-ferry", "fy_data at line 16");
}

static void looks_and_pointers_elsewhere_pass(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *via;
        int storage;
    } fine[] = {
        {"host_read", "print", 5}, {"host_read", "item", 5}, {"host_read", "data", 77}, {"host_write", "given", 1}};
    for (size_t i = 0; i < 2 * sizeof fine / sizeof *fine; i++) {
        handmade h = {0};
        touched_run(&h, i % 2, fine[i / 2].kind, fine[i / 2].via, fine[i / 2].storage);
        verdict v = judge(&h);
        if (!v.pass) fail_msg("%s: %s", verdict_failure(&v)->name, verdict_message(&v));
        hand_end(&h);
    }
}

static void a_pointer_taken_after_the_answer_passes(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    hand(&h, "'kind':'host_read','tensor':5,'storage':5,'via':'data','line':20");
    verdict v = judge(&h);
    if (!v.pass) fail_msg("%s: %s", verdict_failure(&v)->name, verdict_message(&v));
    hand_end(&h);
}

static void a_trip_without_work_fails(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h);
    copy(&h, 1, 2, "h2d", 24);
    copy(&h, 2, 5, "d2h", 24);
    answer(&h, "h", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "computed-by-ferry", "No fy_relu on the card is on the way to h");
}

static void too_little_work_fails_and_work_beside_the_way_does_not_count(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h);
    copy(&h, 1, 2, "h2d", 24);
    op(&h, "relu", "cuda:0", 2, 4);
    for (int i = 0; i < 20; i++) op(&h, "relu", "cuda:0", 2, 30 + i);
    copy(&h, 4, 5, "d2h", 24);
    answer(&h, "h", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "computed-by-ferry", "on the way to h: 1. The work of this lesson makes 15");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pointer_into_the_answers_bytes_fails_at_its_line),
        cmocka_unit_test(looks_and_pointers_elsewhere_pass),
        cmocka_unit_test(a_pointer_taken_after_the_answer_passes),
        cmocka_unit_test(a_trip_without_work_fails),
        cmocka_unit_test(too_little_work_fails_and_work_beside_the_way_does_not_count),
    };
    return cmocka_run_group_tests_name("cheats", tests, NULL, NULL);
}
