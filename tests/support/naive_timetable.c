/* naive_timetable.c: see naive_timetable.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "naive_timetable.h"

uint32_t naive_rng_state;

int naive_random(int sides)
{
    naive_rng_state = naive_rng_state * 1664525 + 1013904223;
    return (int)(naive_rng_state >> 16) % sides;
}

int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t naive_book(naive *m, int engine, int64_t ready, int64_t length)
{
    for (int64_t free = 0, t = ready;; t++) {
        assert_true(t < MAX_NS);
        free = m->busy[engine][t] ? 0 : free + 1;
        if (free < length) continue;
        memset(m->busy[engine] + t - length + 1, 1, (size_t)length);
        return t - length + 1;
    }
}

/* The time at which a launch returns. A full queue blocks the host until its oldest entry has ended. */
static int64_t naive_issue(naive *m, int64_t now, int stream, int64_t overhead)
{
    for (int64_t t = now + overhead;; t++) {
        int pending = 0;
        for (int i = 0; i < m->n[stream]; i++) pending += m->ends[stream][i] > t;
        if (pending < 4) return t;
    }
}

static void naive_end(naive *m, int stream, int64_t end)
{
    m->tail[stream] = max_i64(m->tail[stream], end);
    m->ends[stream][m->n[stream]++] = end;
}

static void naive_staged(naive *m, int64_t begin, bool up, int64_t bytes, fy_time *t)
{
    int64_t in = begin, out = begin, buffer[2] = {begin, begin};
    t->start = -1;
    for (int64_t i = 0; bytes > 0; i++, bytes -= 1000) {
        int64_t n = bytes < 1000 ? bytes : 1000, cpu = (n + 1) / 2, bus = n + 5;
        int64_t first = max_i64(in, buffer[i % 2]);
        if (!up) first = naive_book(m, 1, first, bus);
        in = first + (up ? cpu : bus);
        int64_t second = max_i64(out, in);
        if (up) second = naive_book(m, 0, second, bus);
        buffer[i % 2] = out = second + (up ? bus : cpu);
        if (t->start < 0) t->start = first;
    }
    t->end = out;
}

fy_time naive_copy(naive *m, int64_t now, const fy_copy_work *w)
{
    fy_time t = {0};
    int s = w->stream, engine = w->dir == FY_WORD_h2d ? 0 : w->dir == FY_WORD_d2h ? 1 : 2;
    int64_t bytes = (int64_t)w->bytes, issued = naive_issue(m, now, s, 10), ready = max_i64(issued, m->tail[s]);
    bool waits = engine < 2 && !(w->pinned && w->async);
    if (engine < 2 && !w->pinned) {
        naive_staged(m, ready, engine == 0, bytes, &t);
    } else {
        int64_t length = 5 + (engine == 2 ? (bytes + 1) / 2 : bytes);
        t.start = naive_book(m, engine, ready, length);
        t.end = t.start + length;
    }
    naive_end(m, s, t.end);
    t.held = (waits ? max_i64(issued, t.end) : issued) - now;
    return t;
}

fy_time naive_run(naive *m, int64_t now, int s, int64_t flops, int64_t bytes)
{
    fy_time t = {0};
    int64_t issued = naive_issue(m, now, s, 20), work = max_i64(flops, (bytes + 3) / 4);
    t.start = naive_book(m, 2, max_i64(issued, m->tail[s]), 7 + work);
    t.end = t.start + 7 + work;
    naive_end(m, s, t.end);
    t.held = issued - now;
    return t;
}
