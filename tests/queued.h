/* queued.h: work for the simulated card that is queued and not waited for, for tests of its back end. */
#ifndef QUEUED_H
#define QUEUED_H

#include "device.h"
#include "event.h"
#include "op.h"
#include "round_card.h"
#include "run_work.h"

enum { BYTES = 64, N = BYTES / 4 };

/* "Page-locked", and not on the stack: work that is never waited for may hold it. */
static unsigned char pinned[8][BYTES];
static uint32_t ids; /* works' numbers */

static inline bool all(const void *p, unsigned char byte)
{
    const unsigned char *c = p;
    for (int i = 0; i < BYTES; i++)
        if (c[i] != byte) return false;
    return true;
}
#define IS_POISON(p) all(p, 0xff)

static inline fy_copy_work copy_in(fy_dev *d, int stream, fy_word dir, void *dst, const void *src, bool is_pinned)
{
    fy_copy_work w = {.id = ++ids, .stream = stream, .dst = dst, .src = src, .bytes = BYTES, .dir = dir};
    w.pinned = is_pinned;
    w.async = true;
    assert_true(fy_backend_sim.copy(d, &w));
    return w;
}
#define HOME(d, stream, dst, src) copy_in(d, stream, FY_WORD_d2h, dst, src, true)
#define AWAY(d, stream, dst, src) copy_in(d, stream, FY_WORD_h2d, dst, src, true)
#define WITHIN(d, stream, dst, src) copy_in(d, stream, FY_WORD_d2d, dst, src, false)

/* Without queueing anything: the card's byte, waited for in stream 32, where nothing else is. */
static inline unsigned char first_byte(fy_dev *d, const void *p)
{
    unsigned char home[BYTES];
    fy_copy_work w = {.stream = 32, .dst = home, .src = p, .bytes = BYTES, .dir = FY_WORD_d2h};
    assert_true(fy_backend_sim.copy(d, &w));
    return home[0];
}

/* VRAM that holds this byte, with nothing queued. */
static inline void *holding(fy_dev *d, unsigned char byte)
{
    unsigned char host[BYTES];
    void *p = alloc(d, BYTES);
    memset(host, byte, sizeof host);
    fy_copy_work w = {.stream = 32, .dst = p, .src = host, .bytes = BYTES, .dir = FY_WORD_h2d};
    assert_true(fy_backend_sim.copy(d, &w));
    return p;
}

static inline fy_point point_in(fy_dev *d, int stream)
{
    fy_point p = {0};
    assert_true(fy_backend_sim.record(d, stream, &p));
    return p;
}

static inline bool host_waits(fy_dev *d, fy_point p)
{
    fy_time t;
    return fy_backend_sim.wait(d, &p, NULL, 0, &t);
}

static inline void stream_waits(fy_dev *waiter, int stream, fy_dev *d, fy_point p)
{
    fy_time t;
    assert_true(fy_backend_sim.wait(d, &p, waiter, stream, &t));
}

static inline void sync_stream(fy_dev *d, int stream) { assert_true(host_waits(d, (fy_point){.stream = stream})); }

static inline fy_operand floats(void *p) { return (fy_operand){p, FY_FLOAT32, {1, 0, N, {N}, {1}}}; }

/* out = a + b, N floats. */
static inline fy_run_work add_work(int stream, void *a, void *b, void *out)
{
    fy_run_work w = {.id = ++ids, .stream = stream, .op = FY_OP_add, .nin = 2, .dtype = FY_FLOAT32, .bytes = BYTES};
    w.in[0] = floats(a), w.in[1] = floats(b), w.out = floats(out);
    w.real[FY_ADD_alpha] = 1;
    return w;
}

static inline fy_run_work fill_in(int stream, void *out, double value)
{
    fy_run_work w = fill_work(out, N, 1);
    w.id = ++ids;
    w.stream = stream;
    w.real[FY_FILL_value] = value;
    return w;
}

static inline void run(fy_dev *d, fy_run_work w) { assert_true(fy_backend_sim.run(d, &w)); }

static inline float first_float(fy_dev *d, const void *p)
{
    float home[N];
    fy_copy_work w = {.stream = 32, .dst = home, .src = p, .bytes = BYTES, .dir = FY_WORD_d2h};
    assert_true(fy_backend_sim.copy(d, &w));
    return home[0];
}

#endif
