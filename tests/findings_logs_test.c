/* findings_logs_test.c: findings in handwritten logs, for conditions that programs cannot produce at will: data races,
 * out of memory, cards without peer access, streams. Each rule has three logs with findings and three near misses. */
#include "findings_log.h"

/* Expects the rule's finding at `line` this many times; line 0: none. Ends the log. */
static void expect(handmade *h, const char *rule, int line, int times)
{
    log_end(h);
    findings f = findings_of_log(h);
    const finding *x = one_of(&f, rule);
    if (!line && x) fail_msg("%s at line %d: %s", rule, x->line, x->what);
    if (line && !x) fail_msg("no %s", rule);
    if (line && (x->line != line || x->times != times)) fail_msg("%s at line %d, %d times", rule, x->line, x->times);
    findings_free(&f);
    hand_end(h);
}

/* ---- data races ---- */

static void data_races_are_reported_with_their_fix(void **state)
{
    (void)state;
    handmade h;
    for (int i = 0; i < 4; i++) {
        const char *types[] = {"read_early", "write_early", "race", "reuse"};
        log_begin(&h);
        log_alloc(&h, 3, 1, "cuda:0", "device", 64);
        log_op(&h, 4, "cuda:0", 1, 1, 1);
        log_data_race(&h, 5, types[i], h.seq - 1, h.seq - 1);
        if (i == 3) log_data_race(&h, 5, types[i], h.seq - 2, h.seq - 1);
        expect(&h, "data-race", 5, i == 3 ? 2 : 1);
    }
    log_begin(&h);
    log_alloc(&h, 3, 1, "cuda:0", "device", 64);
    log_op(&h, 4, "cuda:0", 1, 1, 1);
    log_data_race(&h, 5, "race", h.seq - 1, h.seq);
    log_end(&h);
    findings f = findings_of_log(&h);
    const finding *x = one_of(&f, "data-race");
    assert_int_equal(x->rule->weight, FINDING_WRONG);
    assert_string_equal(x->fix, "wait for it");
    assert_string_equal(x->source, "five");
    assert_non_null(strstr(x->what, "line 4"));
    assert_int_equal(x->bytes, 64);
    findings_free(&f);
    hand_end(&h);
}

static void ordered_work_is_no_data_race(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) { /* only data_race events count, not similar accesses */
        handmade h;
        log_begin(&h);
        log_alloc(&h, 3, 1, "cuda:0", "device", 64);
        log_op(&h, 4, "cuda:0", 1, 1, 1);
        if (i) hand(&h, "'kind':'event_wait'," AT "'event':1,'device':'cuda:0','stream':2", 4);
        log_op(&h, 5, "cuda:0", i == 2 ? 1 : 2, 1, 1);
        expect(&h, "data-race", 0, 0);
    }
}

/* ---- out of memory ---- */

static void free_memory_in_pieces(void **state)
{
    (void)state;
    static const struct {
        int asked, allocated, reserved, room, largest;
        bool found;
    } cases[] = {
        {100, 50, 150, 100, 99, true},  {100, 500, 700, 10, 10, true}, {4096, 0, 0, 1 << 20, 0, false},
        {100, 500, 550, 99, 99, false}, {100, 0, 0, 200, 100, false},  {0, 0, 0, 100, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        handmade h;
        log_begin(&h);
        log_oom(&h, 7, cases[i].asked, cases[i].allocated, cases[i].reserved, cases[i].room, cases[i].largest);
        expect(&h, "fragmentation", cases[i].found ? 7 : 0, 1);
    }
}

static void what_never_fits_is_no_fragmentation(void **state)
{
    (void)state;
    handmade h;
    log_begin(&h);
    log_oom(&h, 5, 1200000, 0, 0, 8 << 20, 0); /* 1 to 10 MiB: a segment of 20 */
    findings f = findings_of_log(&h);
    assert_null(one_of(&f, "fragmentation"));
    const finding *x = one_of(&f, "out-of-memory");
    assert_non_null(x);
    assert_non_null(strstr(x->what, "can never fit: it takes a segment of 20 MiB, and the card has 8 MiB"));
    findings_free(&f);
    hand_end(&h);
}

static void a_copy_to_the_host_frees_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        handmade h;
        log_begin(&h);
        log_alloc(&h, 3, 1, "cuda:0", "device", 4096);
        log_alloc(&h, 4, 2, "cpu", "pageable", 4096);
        log_op(&h, 3, "cuda:0", 0, 1, 1);
        log_copy(&h, 4, 1, "cuda:0", 2, "cpu", 4096, "d2h", i == 3 ? "'why':'print'" : PAGEABLE_D2H);
        if (i == 4) log_drop(&h, 5, 1);
        if (i == 5) log_op(&h, 5, "cuda:0", 0, 1, 1); /* needed on the card */
        if (i == 1) log_host_read(&h, 5, 2);
        log_oom(&h, 6, 4096, 4096, 4096, 0, 0);
        if (i == 2) log_oom(&h, 6, 4096, 4096, 4096, 0, 0);
        expect(&h, "device-copy-not-freed", i < 3 ? 4 : 0, 1);
    }
}

/* ---- ends of programs ---- */

static void expect_stop(handmade *h, int line, const char *what, const char *fix)
{
    findings f = findings_of_log(h);
    const finding *x = one_of(&f, "stopped");
    if (!line && x) fail_msg("stopped at line %d: %s", x->line, x->what);
    if (line) {
        assert_non_null(x);
        assert_int_equal(x->rule->weight, FINDING_WRONG);
        if (x->line != line) fail_msg("line %d, not %d: %s", x->line, line, x->what);
        if (!strstr(x->what, what)) fail_msg("'%s' wanted in: %s", what, x->what);
        if (!strstr(x->fix, fix)) fail_msg("'%s' wanted in: %s", fix, x->fix);
    }
    findings_free(&f);
    hand_end(h);
}

static void a_small_run(handmade *h)
{
    log_begin(h);
    log_alloc(h, 3, 1, "cpu", "pageable", 64);
    log_op(h, 4, "cpu", 0, 1, 1);
}

static void a_call_that_failed_ended_it(void **state)
{
    (void)state;
    handmade h;
    a_small_run(&h);
    log_error(&h, 5, "device_mismatch");
    hand(&h, "'kind':'end','status':1,'live':[1]");
    expect_stop(&h, 5, "the program stopped here: it did not fit", "mend it");
    a_small_run(&h);
    hand(&h, "'kind':'error','code':'crash','message':'segmentation fault','hint':'look for a NULL pointer'");
    expect_stop(&h, 4, "the program crashed after this line: segmentation fault", "a NULL pointer");
    a_small_run(&h);
    log_error(&h, 5, "shape");
    log_op(&h, 6, "cpu", 0, 1, 1);
    log_end(&h);
    expect_stop(&h, 5, "this call failed, and the program continued: it did not fit", "mend it");
}

static void a_log_without_an_end_is_reported(void **state)
{
    (void)state;
    handmade h;
    a_small_run(&h);
    expect_stop(&h, 4, "the log ends after this line without an end event", "gdb");
    a_small_run(&h);
    log_error(&h, 3, "shape");
    log_op(&h, 6, "cpu", 0, 1, 1);
    findings f = findings_of_log(&h);
    assert_int_equal(f.count, 2); /* an error that the program survived, and later events */
    findings_free(&f);
    hand_end(&h);
}

static void a_run_that_ended_did_not_stop(void **state)
{
    (void)state;
    handmade h;
    a_small_run(&h);
    log_end(&h);
    expect_stop(&h, 0, "", "");
    a_small_run(&h);
    hand(&h, "'kind':'log_full','limit':3");
    expect_stop(&h, 0, "", "");
    a_small_run(&h);
    log_oom(&h, 5, 4096, 4096, 4096, 0, 0); /* reported by another rule */
    log_error(&h, 5, "oom");
    hand(&h, "'kind':'end','status':1,'live':[1]");
    expect_stop(&h, 0, "", "");
}

/* ---- cards and streams ---- */

static void cards_that_cannot_reach_each_other(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        handmade h;
        log_begin(&h);
        log_alloc(&h, 3, 1, "cuda:0", "device", 64);
        log_alloc(&h, 4, 2, i == 5 ? "cpu" : "cuda:1", "device", 64);
        log_op(&h, 3, "cuda:0", 0, 1, 1);
        const char *route =
            i < 3 ? "'async':false,'route':'host','why':'user'" : "'async':false,'route':'direct','why':'user'";
        for (int n = 0; n < 1 + i % 3; n++)
            log_copy(&h, 4, 1, "cuda:0", 2, i == 5 ? "cpu" : "cuda:1", 64, i == 5 ? "d2h" : "p2p", route);
        expect(&h, "bounced", i < 3 ? 4 : 0, 1 + i % 3);
    }
}

static void streams_that_could_have_overlapped(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        handmade h;
        log_begin(&h);
        log_alloc(&h, 3, 1, "cuda:0", "device", 64);
        log_alloc(&h, 3, 2, "cpu", "pageable", 64);
        log_alloc(&h, 3, 3, "cuda:0", "device", 64);
        log_op(&h, 3, "cuda:0", i == 1 ? 2 : 1, 1, 1);
        log_complete(&h, 0, 20000, "compute");
        if (i == 3) hand(&h, "'kind':'event_wait'," AT "'event':1,'device':'cuda:0','stream':2", 4);
        log_copy(&h, 5, 2, "cpu", i == 4 ? 1 : 3, "cuda:0", 64, "h2d", i == 1 ? PINNED : STAGED);
        log_complete(&h, i == 5 ? 1000 : 20000, i == 2 ? 2000000 : 40000, "h2d");
        expect(&h, "missed-overlap", i < 3 ? 5 : 0, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_races_are_reported_with_their_fix),
        cmocka_unit_test(ordered_work_is_no_data_race),
        cmocka_unit_test(free_memory_in_pieces),
        cmocka_unit_test(what_never_fits_is_no_fragmentation),
        cmocka_unit_test(a_copy_to_the_host_frees_nothing),
        cmocka_unit_test(a_call_that_failed_ended_it),
        cmocka_unit_test(a_log_without_an_end_is_reported),
        cmocka_unit_test(a_run_that_ended_did_not_stop),
        cmocka_unit_test(cards_that_cannot_reach_each_other),
        cmocka_unit_test(streams_that_could_have_overlapped),
    };
    return cmocka_run_group_tests_name("findings_logs", tests, NULL, NULL);
}
