/* right_run.c: see right_run.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "lesson_io.h"
#include "right_run.h"

void hand_begin(handmade *h)
{
    hand(h, "'kind':'session','schema':2,'seed':%d", SEED);
    hand(h, "'kind':'alloc','storage':1,'device':'cpu','line':11");
    hand(h, "'kind':'tensor','tensor':1,'storage':1,'shape':[2,3],'dtype':'float32','device':'cpu','line':11");
    hand(h, "'kind':'given','name':'x','tensor':1,'storage':1,'device':'cpu','line':11");
}

void hand_copy(handmade *h, int from, int to, const char *dir, int bytes)
{
    bool there = !strcmp(dir, "h2d");
    hand(h,
         "'kind':'copy','src':{'storage':%d,'device':'%s'},'dst':{'storage':%d,'device':'%s'},'bytes':%d,"
         "'dir':'%s','why':'user','line':14",
         from, there ? "cpu" : "cuda:0", to, there ? "cuda:0" : "cpu", bytes, dir);
}

void hand_op(handmade *h, const char *name, const char *device, int in, int out)
{
    hand(h,
         "'kind':'op','name':'%s','device':'%s','in':[{'tensor':%d,'storage':%d}],'out':[{'tensor':%d,'"
         "storage':%d}],"
         "'line':15",
         name, device, in, in, out, out);
}

void hand_turns(handmade *h, int storage)
{
    for (int i = 2; i < 15; i++)
        hand_op(h, i % 3 == 0 ? "mul" : i % 3 == 1 ? "add" : "relu", "cuda:0", storage, storage);
}

static void right_value(char *text, size_t room, int index)
{
    double x[COUNT];
    fy_given_values(SEED, "x", FY_FLOAT32, COUNT, x);
    for (int turn = 0; turn < 5; turn++) x[index] = x[index] > -2 ? x[index] / 2 + 1 : 0;
    snprintf(text, room, "%.9g", x[index]);
}

void hand_answer(handmade *h, const char *name, int tensor, const char *device, const char *wrong_value)
{
    char data[512] = "", value[64];
    hand(h, "'kind':'tensor','tensor':%d,'storage':%d,'shape':[2,3],'dtype':'float32','device':'%s'", tensor, tensor,
         device);
    hand(h, "'kind':'answer','name':'%s','tensor':%d,'storage':%d,'device':'%s','line':19", name, tensor, tensor,
         device);
    for (int i = 0; i < COUNT; i++) {
        right_value(value, sizeof value, i);
        const char *v = wrong_value && i == 4 ? wrong_value : value;
        snprintf(data + strlen(data), sizeof data - strlen(data), "%s%s", i ? "," : "", v);
    }
    hand(h, "'kind':'values','tensor':%d,'first':0,'data':[%s],'count':%d", tensor, data, COUNT);
}

void right_run(handmade *h)
{
    hand_begin(h);
    hand_copy(h, 1, 2, "h2d", 24);
    hand_op(h, "mul", "cuda:0", 2, 3);
    hand_op(h, "add", "cuda:0", 3, 4);
    hand_turns(h, 4);
    hand_copy(h, 4, 5, "d2h", 24);
    hand_answer(h, "h", 5, "cpu", NULL);
    hand(h, "'kind':'end','status':0");
}

verdict judge_lines(const handmade *h)
{
    verdict v;
    char err[256] = "";
    if (!grade_lines(LESSON, h->text, h->size, SEED, GIVEN, &v, err, sizeof err)) fail_msg("not judged: %s", err);
    for (int i = 0; i < v.checks; i++) {
        assert_true(v.check[i].name[0] && v.check[i].message[0] && v.check[i].expected[0]);
        assert_null(strstr(v.check[i].message, "(null)"));
    }
    return v;
}

void assert_fails(handmade *h, const char *name, const char *words)
{
    verdict v = judge_lines(h);
    const struct verdict_check *c = verdict_failure(&v);
    assert_false(v.pass);
    assert_non_null(c);
    assert_string_equal(c->name, name);
    if (!strstr(c->message, words)) fail_msg("'%s' does not say '%s'", c->message, words);
    assert_string_equal(verdict_message(&v), c->message);
    hand_end(h);
}
