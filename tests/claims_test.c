/* Statements on trial, on handwritten logs: each of the shared checks fails and passes, and a run that shows the
 * opposite of what Ferry does convinces the check of the opposite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graded.h"
#include "handmade.h"

enum { SEED = 7 };

/* ---- logs: tensors 1 (the input, in CPU RAM) and 2 (in VRAM, copied from it) ------------------------------- */

static void begin(handmade *h, const char *given)
{
    hand(h, "'kind':'session','schema':2,'seed':%d", SEED);
    hand(h, "'kind':'alloc','storage':1,'device':'cpu','mem':'pageable','line':9");
    hand(h, "'kind':'tensor','tensor':1,'storage':1,'shape':[2,3],'dtype':'float32','device':'cpu','line':9");
    hand(h, "'kind':'given','name':'%s','tensor':1,'storage':1,'device':'cpu','line':9", given);
}

static void claim(handmade *h, const char *text) { hand(h, "'kind':'mark','text':'%s','line':11", text); }

static void make(handmade *h, int id, const char *device, const char *mem)
{
    hand(h, "'kind':'alloc','storage':%d,'device':'%s','mem':'%s','line':12", id, device, mem);
    hand(h, "'kind':'tensor','tensor':%d,'storage':%d,'shape':[2,3],'dtype':'float32','device':'%s','line':12", id, id,
         device);
}

static void copy(handmade *h, int from, int to, const char *dir, const char *why, int bytes)
{
    bool there = !strcmp(dir, "h2d");
    hand(h,
         "'kind':'copy','src':{'tensor':%d,'storage':%d,'device':'%s'},'dst':{'tensor':%d,'storage':%d,'device':'%s'},"
         "'bytes':%d,'dir':'%s','why':'%s','line':13",
         from, from, there ? "cpu" : "cuda:0", to, to, there ? "cuda:0" : "cpu", bytes, dir, why);
}

static void op(handmade *h, const char *name, const char *device, int in, int out, int version)
{
    hand(h,
         "'kind':'op','name':'%s','device':'%s','in':[{'tensor':%d,'storage':%d}],"
         "'out':[{'tensor':%d,'storage':%d,'version':%d}],'line':14",
         name, device, in, in, out, out, version);
}

static void to_card(handmade *h)
{
    make(h, 2, "cuda:0", "device");
    copy(h, 1, 2, "h2d", "user", 24);
}

static void print(handmade *h, int tensor)
{
    hand(h, "'kind':'host_read','tensor':%d,'storage':%d,'via':'print','line':15", tensor, tensor);
}

static void end(handmade *h) { hand(h, "'kind':'end','status':0"); }

/* ---- verdicts ------------------------------------------------------------------------------------------------ */

static verdict judge(const char *lesson, handmade *h)
{
    verdict v;
    char err[256] = "";
    if (!grade_lines(lesson, h->text, h->size, SEED, "x:float32:2x3 w:float32:6 d:float64:2x3", &v, err, sizeof err))
        fail_msg("not judged: %s", err);
    for (int i = 0; i < v.checks; i++) {
        assert_true(v.check[i].name[0] && v.check[i].message[0] && v.check[i].expected[0] && v.check[i].got[0]);
        assert_null(strstr(v.check[i].message, "(null)"));
    }
    hand_end(h);
    *h = (handmade){0};
    return v;
}

static void assert_fails(handmade *h, const char *name, const char *words)
{
    verdict v = judge("m3-printing", h);
    const struct verdict_check *c = verdict_failure(&v);
    assert_non_null(c);
    assert_string_equal(c->name, name);
    assert_true(c->seq >= 0);
    if (!strstr(c->message, words)) fail_msg("'%s' does not say '%s'", c->message, words);
}

/* A run that proves that printing copies. */
static void printed(handmade *h, const char *say)
{
    begin(h, "x");
    claim(h, say);
    to_card(h);
    copy(h, 2, 3, "d2h", "print", 24);
    print(h, 2);
}

static void a_claim_that_the_run_shows_passes_every_check(void **state)
{
    (void)state;
    static const char *const names[] = {"claimed",          "shown",   "claim-holds", "uses-the-input",
                                        "small-experiment", "finished"};
    handmade h = {0};
    printed(&h, "true");
    claim(&h, "demo: marks that are no verdict do not count");
    end(&h);
    verdict v = judge("m3-printing", &h);
    if (!v.pass) fail_msg("%s: %s", verdict_failure(&v)->name, verdict_message(&v));
    assert_int_equal(v.checks, 6);
    for (int i = 0; i < 6; i++) assert_string_equal(v.check[i].name, names[i]);
}

static void a_verdict_is_one_word_once(void **state)
{
    (void)state;
    handmade h = {0};
    printed(&h, "True");
    end(&h);
    assert_fails(&h, "claimed", "line 11 says \"True\"");
    begin(&h, "x");
    end(&h);
    assert_fails(&h, "claimed", "no verdict");
    printed(&h, "true");
    hand(&h, "'kind':'mark','text':'false','line':16");
    end(&h);
    assert_fails(&h, "claimed", "line 11 is \"true\", and at line 16 there is another, \"false\"");
    begin(&h, "x");
    hand(&h, "'kind':'mark','now':5,'line':10"); /* fy_now */
    hand(&h, "'kind':'error','code':'shape','message':'too long','line':10");
    end(&h);
    assert_fails(&h, "claimed", "stopped at line 10, before any verdict: too long");
}

static void a_verdict_needs_proof(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h, "x");
    claim(&h, "true");
    to_card(&h);
    end(&h);
    assert_fails(&h, "shown", "nothing in this run decides");
    begin(&h, "x");
    claim(&h, "true");
    print(&h, 1);
    end(&h);
    assert_fails(&h, "shown", "at line 15 is in CPU RAM");
    begin(&h, "x");
    claim(&h, "false");
    hand(&h, "'kind':'error','code':'shape','message':'too long','line':12");
    end(&h);
    assert_fails(&h, "shown", "failed at line 12: too long");
}

static void the_run_decides_not_the_claim(void **state)
{
    (void)state;
    handmade h = {0};
    printed(&h, "false");
    end(&h);
    assert_fails(&h, "claim-holds", "You say false at line 11");
}

static void the_experiment_is_small_and_of_the_input(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h, "x");
    claim(&h, "true");
    make(&h, 2, "cuda:0", "device");
    copy(&h, 2, 3, "d2h", "print", 24);
    end(&h);
    assert_fails(&h, "uses-the-input", "line 13 uses another tensor");
    printed(&h, "true");
    for (int i = 0; i < 9; i++) hand(&h, "'kind':'op','name':'fill','device':'cpu','out':[],'line':16");
    for (int i = 0; i < 2; i++) op(&h, "relu", "cuda:0", 2, 4, 1);
    end(&h);
    assert_true(judge("m3-printing", &h).pass);
    printed(&h, "true");
    for (int i = 0; i < 3; i++) op(&h, "relu", "cuda:0", 2, 4, 1);
    end(&h);
    assert_fails(&h, "small-experiment", "operations: 5, and the limit is 4");
}

static void a_right_verdict_of_a_run_that_failed_is_none(void **state)
{
    (void)state;
    handmade h = {0};
    printed(&h, "true");
    hand(&h, "'kind':'error','code':'shape','message':'too long','line':17");
    end(&h);
    assert_fails(&h, "finished", "at line 17: too long");
    printed(&h, "true");
    assert_fails(&h, "finished", "before the end of main");
}

/* ---- runs that no Ferry makes: were it otherwise, the checks would say so ------------------------------------ */

typedef void write_run(handmade *h);

static void in_place_at_home(handmade *h)
{
    to_card(h);
    op(h, "add", "cpu", 2, 2, 2);
}

static void printed_for_nothing(handmade *h)
{
    to_card(h);
    print(h, 2);
}

static void values_differ(handmade *h)
{
    for (int i = 0; i < 2; i++) {
        make(h, 2 + i, "cuda:0", "device");
        copy(h, 1, 2 + i, "h2d", "user", i ? 48 : 24);
        hand(h, "'kind':'answer','name':'%s','tensor':%d,'storage':%d,'device':'cuda:0','line':18", i ? "b" : "a",
             2 + i, 2 + i);
        hand(h, "'kind':'values','tensor':%d,'first':0,'data':[1,2,%d],'count':3", 2 + i, 3 + i);
    }
}

static void gradient_stays_there(handmade *h)
{
    to_card(h);
    make(h, 3, "cuda:0", "device");
    hand(h, "'kind':'grad','leaf':1,'tensor':3,'storage':3,'line':16");
}

static void bytes_are_gone(handmade *h)
{
    to_card(h);
    hand(h, "'kind':'free','storage':1,'bytes':24,'line':13");
}

static void view_at_home(handmade *h)
{
    to_card(h);
    hand(h, "'kind':'tensor','tensor':4,'storage':1,'shape':[1,3],'device':'cpu','view_of':2,'line':14");
}

static void randn_is_sent(handmade *h)
{
    make(h, 2, "cuda:0", "device");
    copy(h, 1, 2, "h2d", "op", 24);
    hand(h, "'kind':'op','name':'randn','device':'cuda:0','out':[{'tensor':2,'storage':2,'version':1}],'line':14");
}

static void locked_is_there(handmade *h)
{
    make(h, 2, "cpu", "pinned");
    op(h, "relu", "cuda:0", 2, 3, 1);
}

/* A card that needs no time, beside a slow CPU. */
static void slow_at_home(handmade *h)
{
    to_card(h);
    make(h, 4, "cpu", "pageable");
    make(h, 5, "cuda:0", "device");
    hand(h, "'kind':'op','id':7,'name':'relu','device':'cpu','in':[{'tensor':1,'storage':1}],"
            "'out':[{'tensor':4,'storage':4,'version':1}],'flops':6,'bytes':48,'held':9000,'line':14");
    hand(h, "'kind':'op','id':8,'name':'relu','device':'cuda:0','in':[{'tensor':2,'storage':2}],"
            "'out':[{'tensor':5,'storage':5,'version':1}],'flops':6,'bytes':48,'held':1,'line':15");
    hand(h, "'kind':'complete','id':8,'start':9001,'end':9002,'engine':'compute','line':15");
}

static const struct {
    const char *lesson, *given, *shows, *opposite;
    write_run *write;
} odd[] = {
    {"m1-in-place", "x", "true", "false", in_place_at_home},
    {"m3-printing", "x", "false", "true", printed_for_nothing},
    {"m5-dtype-first", "d", "true", "false", values_differ},
    {"m6-gradient", "w", "false", "true", gradient_stays_there},
    {"m7-leaving", "x", "true", "false", bytes_are_gone},
    {"m8-view", "x", "true", "false", view_at_home},
    {"m9-randn", "x", "false", "true", randn_is_sent},
    {"m10-pinned", "x", "true", "false", locked_is_there},
    {"m11-small", "x", "false", "true", slow_at_home},
};

static void a_check_believes_the_run_whatever_ferry_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (int right = 0; right < 2; right++) {
            handmade h = {0};
            begin(&h, odd[i].given);
            claim(&h, right ? odd[i].shows : odd[i].opposite);
            odd[i].write(&h);
            end(&h);
            verdict v = judge(odd[i].lesson, &h);
            if (v.checks < 3 || strcmp(v.check[2].name, "claim-holds") != 0 || v.check[2].pass != right)
                fail_msg("%s: %s", odd[i].lesson, verdict_message(&v));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_that_the_run_shows_passes_every_check),
        cmocka_unit_test(a_verdict_is_one_word_once),
        cmocka_unit_test(a_verdict_needs_proof),
        cmocka_unit_test(the_run_decides_not_the_claim),
        cmocka_unit_test(the_experiment_is_small_and_of_the_input),
        cmocka_unit_test(a_right_verdict_of_a_run_that_failed_is_none),
        cmocka_unit_test(a_check_believes_the_run_whatever_ferry_does),
    };
    return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
