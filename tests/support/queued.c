/* queued.c: see queued.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "queued.h"

unsigned char pinned[8][BYTES];

uint32_t queued_launch_id;

bool all_bytes_are(const void *p, unsigned char byte)
{
    const unsigned char *c = p;
    for (int i = 0; i < BYTES; i++)
        if (c[i] != byte) return false;
    return true;
}

fy_copy_work copy_in(fy_dev *d, int stream, fy_word dir, void *dst, const void *src, bool is_pinned)
{
    fy_copy_work w = {.id = ++queued_launch_id, .stream = stream, .dst = dst, .src = src, .bytes = BYTES, .dir = dir};
    w.pinned = is_pinned;
    w.async = true;
    assert_true(fy_backend_sim.copy(d, &w));
    return w;
}

unsigned char first_byte(fy_dev *d, const void *p)
{
    unsigned char on_host[BYTES];
    fy_copy_work w = {.stream = 32, .dst = on_host, .src = p, .bytes = BYTES, .dir = FY_WORD_d2h};
    assert_true(fy_backend_sim.copy(d, &w));
    return on_host[0];
}

void *alloc_filled(fy_dev *d, unsigned char byte)
{
    unsigned char host[BYTES];
    void *p = alloc(d, BYTES);
    memset(host, byte, sizeof host);
    fy_copy_work w = {.stream = 32, .dst = p, .src = host, .bytes = BYTES, .dir = FY_WORD_h2d};
    assert_true(fy_backend_sim.copy(d, &w));
    return p;
}

fy_point point_in(fy_dev *d, int stream)
{
    fy_point p = {0};
    assert_true(fy_backend_sim.record(d, stream, &p));
    return p;
}

bool host_waits(fy_dev *d, fy_point p)
{
    fy_time t;
    return fy_backend_sim.wait(d, &p, NULL, 0, &t);
}

void stream_waits(fy_dev *waiter, int stream, fy_dev *d, fy_point p)
{
    fy_time t;
    assert_true(fy_backend_sim.wait(d, &p, waiter, stream, &t));
}

void sync_stream(fy_dev *d, int stream) { assert_true(host_waits(d, (fy_point){.stream = stream})); }

fy_operand floats(void *p) { return (fy_operand){p, FY_FLOAT32, {1, 0, N, {N}, {1}}}; }

fy_run_work add_work(int stream, void *a, void *b, void *out)
{
    fy_run_work w = {
        .id = ++queued_launch_id, .stream = stream, .op = FY_OP_add, .nin = 2, .dtype = FY_FLOAT32, .bytes = BYTES};
    w.in[0] = floats(a), w.in[1] = floats(b), w.out = floats(out);
    w.real[FY_ADD_alpha] = 1;
    return w;
}

fy_run_work fill_in(int stream, void *out, double value)
{
    fy_run_work w = fill_work(out, N, 1);
    w.id = ++queued_launch_id;
    w.stream = stream;
    w.real[FY_FILL_value] = value;
    return w;
}

void run_on_card(fy_dev *d, fy_run_work w) { assert_true(fy_backend_sim.run(d, &w)); }

float first_float(fy_dev *d, const void *p)
{
    float on_host[N];
    fy_copy_work w = {.stream = 32, .dst = on_host, .src = p, .bytes = BYTES, .dir = FY_WORD_d2h};
    assert_true(fy_backend_sim.copy(d, &w));
    return on_host[0];
}
