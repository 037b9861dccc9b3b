/* The caching allocator on random programs gives the results of a simple model: a list of pieces that is searched
 * linearly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "caching_allocator.h"
#include "event.h"
#include "pool_card.h"

#define TEST(name) static void name(void **state)

enum { MOST = 200 };

/* ---- the reference model ---- */

typedef struct piece {
    uint64_t segment; /* its address */
    int64_t offset, bytes;
    int stream, state; /* 0 free, 1 used, 2 waits for a stream */
    bool small, two;   /* two streams use it */
    int64_t until;
} piece;

typedef struct model {
    piece p[4 * MOST];
    int n;
} model;

static int by_place(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void tidy(model *m)
{
    int to = 0;
    qsort(m->p, (size_t)m->n, sizeof *m->p, by_place);
    for (int i = 0; i < m->n; i++) {
        piece *last = to ? &m->p[to - 1] : NULL;
        if (last && last->segment == m->p[i].segment && !last->state && !m->p[i].state) last->bytes += m->p[i].bytes;
        else m->p[to++] = m->p[i];
    }
    m->n = to;
}

/* After tidy(): is piece i a completely free segment? */
static bool is_free_segment(const model *m, int i)
{
    return !m->p[i].state && !m->p[i].offset && (i + 1 == m->n || m->p[i + 1].segment != m->p[i].segment);
}

static void release(model *m)
{
    int to = 0;
    for (int i = 0; i < m->n; i++) m->p[i].state &= 1;
    tidy(m);
    model was = *m;
    for (int i = 0; i < was.n; i++)
        if (!is_free_segment(&was, i)) m->p[to++] = was.p[i];
    m->n = to;
}

static int64_t used_bytes(const model *m, bool in_use)
{
    int64_t sum = 0;
    for (int i = 0; i < m->n; i++)
        if (!in_use || m->p[i].state == 1) sum += m->p[i].bytes;
    return sum;
}

static piece *best(model *m, int64_t bytes, int stream)
{
    piece *best = NULL;
    for (int i = 0; i < m->n; i++) {
        piece *p = &m->p[i];
        if (p->state || p->stream != stream || p->small != (bytes <= MIB) || p->bytes < bytes) continue;
        if (!best || p->bytes < best->bytes) best = p;
    }
    return best;
}

/* The piece that the pool must have chosen, at b's segment if that is new; NULL: out of memory. */
static piece *model_alloc(model *m, int64_t asked, int stream, int64_t capacity, const fy_block *b)
{
    int64_t bytes = (asked + 511) / 512 * 512, segment = bytes <= MIB ? 2 * MIB : 20 * MIB;
    if (bytes >= 10 * MIB) segment = (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    piece *p = best(m, bytes, stream);
    if (!p && used_bytes(m, false) + segment > capacity) release(m);
    if (!p && used_bytes(m, false) + segment > capacity) return NULL;
    if (!p) {
        p = &m->p[m->n++];
        *p = (piece){.segment = b ? b->segment->addr : 0, .bytes = segment, .stream = stream, .small = bytes <= MIB};
    }
    int64_t rest = p->bytes - bytes;
    if (p->small ? rest >= 512 : rest > MIB) {
        m->p[m->n] = *p;
        m->p[m->n].offset += bytes;
        m->p[m->n++].bytes = rest;
        p->bytes = bytes;
    }
    p->state = 1;
    return p;
}

static piece *piece_of(model *m, const fy_block *b)
{
    for (int i = 0; i < m->n; i++)
        if (m->p[i].segment == b->segment->addr && m->p[i].offset == b->offset) return &m->p[i];
    fail_msg("the model has no piece at %#llx + %lld", (unsigned long long)b->segment->addr, (long long)b->offset);
    return NULL;
}

/* ---- random programs ---- */

static uint64_t rng_state = 1;
static int rng_below(int sides)
{
    rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
    return (int)(rng_state >> 33) % sides;
}

static int64_t random_size(void)
{
    switch (rng_below(5)) {
    case 0: return 1 + rng_below(2000);
    case 1: return 1 + rng_below(MIB);
    case 2: return MIB - 700 + rng_below(1400);
    case 3: return MIB + rng_below(9 * MIB);
    default: return 9 * MIB + rng_below(16 * MIB);
    }
}

typedef struct world {
    card card;
    model model;
    fy_pool *pool;
    fy_block *blocks[MOST];
    int n;
} world;

static void advance_stream(model *m, int64_t until)
{
    for (int i = 0; i < m->n; i++)
        if (m->p[i].state == 2 && m->p[i].until <= until) m->p[i].state = 0;
    tidy(m);
}

static void try_alloc(world *w)
{
    int64_t asked = random_size();
    int stream = rng_below(3);
    advance_stream(&w->model, w->card.now[5]);
    fy_block *b = fy_pool_alloc(w->pool, asked, stream, w);
    piece *p = model_alloc(&w->model, asked, stream, w->card.capacity, b);
    assert_int_equal(p != NULL, b != NULL);
    if (!b) return;
    assert_int_equal(b->segment->addr, p->segment);
    assert_int_equal(b->offset, p->offset);
    assert_int_equal(b->bytes, p->bytes);
    assert_int_equal(b->segment->stream, stream);
    assert_int_equal(b->asked, asked);
    tidy(&w->model);
    w->blocks[w->n++] = b;
}

static void free_one(world *w)
{
    int i = rng_below(w->n), other = rng_below(3);
    fy_block *b = w->blocks[i];
    piece *p = piece_of(&w->model, b);
    if (other == 0) assert_true(fy_pool_use(w->pool, b, 5)); /* the only stream with pending work */
    if (other == 1) assert_true(fy_pool_use(w->pool, b, b->segment->stream));
    assert_int_equal(fy_pool_release(w->pool, b), other == 0);
    p->state = other == 0 ? 2 : 0;
    p->until = w->card.issued;
    tidy(&w->model);
    w->blocks[i] = w->blocks[--w->n];
}

static void compare_stats(world *w)
{
    fy_memory_stats s = fy_pool_stats(w->pool);
    assert_int_equal(s.allocated_bytes, used_bytes(&w->model, true));
    assert_int_equal(s.reserved_bytes, used_bytes(&w->model, false));
    assert_int_equal(s.reserved_bytes, w->card.taken);
    assert_int_equal(s.allocations, w->n);
}

TEST(random_programs_get_what_the_simple_model_gives)
{
    (void)state;
    for (int seed = 1; seed <= 12; seed++) {
        world w = {.card.capacity = (int64_t)(30 + 20 * (seed % 5)) * MIB};
        rng_state = (uint64_t)seed;
        w.pool = pool_on(&w.card, FY_WORD_device);
        for (int i = 0; i < 1200; i++) {
            int what = rng_below(40);
            if (what == 0) fy_pool_empty(w.pool), release(&w.model);
            else if (what < 4) w.card.now[5] = w.card.issued - rng_below(3);
            else if (w.n && (w.n == MOST || what < 20)) free_one(&w);
            else try_alloc(&w);
            compare_stats(&w);
        }
        while (w.n) free_one(&w);
        fy_pool_empty(w.pool);
        assert_int_equal(w.card.taken, 0);
        assert_null(fy_pool_segments(w.pool));
        fy_pool_free(w.pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_get_what_the_simple_model_gives)};
    return cmocka_run_group_tests_name("pool_random", tests, NULL, NULL);
}
