/* pool.c, pool_tree.c, pool_text.c: random programs beside a second, simple model; places that are asked for; words.
 * PyTorch's scenarios run in allocator_test.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "log.h"
#include "pool.h"

#define TEST(name) static void name(void **state)

enum { MIB = 1 << 20, MOST = 200 };

/* ---- a card of numbers, whose streams stand still until they are told ---- */

typedef struct card {
    int64_t capacity, taken;
    int64_t now[FY_POOL_PLACES]; /* how far each stream has got */
    int64_t issued;
    int asked, waited, given_for_room, given;
    bool broken;
    char holes[64]; /* places for segments of any size, each 1 GiB apart */
} card;

static fy_taking take(void *self, fy_segment *s)
{
    card *c = self;
    int i = 0;
    if (c->broken) return FY_BROKEN;
    if (s->bytes > c->capacity - c->taken) return FY_NO_ROOM;
    while (c->holes[i]) i++;
    c->holes[i] = 1;
    c->taken += s->bytes;
    s->addr = (uint64_t)(i + 1) << 30;
    return FY_TAKEN;
}

static void give(void *self, fy_segment *s, bool for_room)
{
    card *c = self;
    c->holes[(s->addr >> 30) - 1] = 0;
    c->taken -= s->bytes;
    c->given++;
    c->given_for_room += for_room;
}

static bool record(void *self, int where, fy_point *at)
{
    (void)where;
    at->when = ++((card *)self)->issued;
    return where != 7; /* of a stream that nothing is known of */
}

static bool passed(void *self, int where, fy_point *at)
{
    ((card *)self)->asked++;
    return ((card *)self)->now[where] >= at->when;
}

static void wait_for(void *self, int where, fy_point *at)
{
    card *c = self;
    c->waited++;
    if (c->now[where] < at->when) c->now[where] = at->when;
}

static fy_pool *pool_on(card *c, fy_word mem)
{
    fy_pool_source source = {c, take, give, record, passed, wait_for};
    return fy_pool_make(&source, mem);
}

/* ---- the second model: pieces in a list, looked through anew each time ---- */

typedef struct piece {
    uint64_t segment; /* its address */
    int64_t offset, bytes;
    int stream, state; /* 0 free, 1 used, 2 waits */
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

/* Is piece i of a tidy model a whole free segment? */
static bool is_whole(const model *m, int i)
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
        if (!is_whole(&was, i)) m->p[to++] = was.p[i];
    m->n = to;
}

static int64_t held(const model *m, bool in_use)
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

/* Where the pool must have put it, at b's segment if that is new; NULL: nowhere. */
static piece *model_take(model *m, int64_t asked, int stream, int64_t capacity, const fy_block *b)
{
    int64_t bytes = (asked + 511) / 512 * 512, segment = bytes <= MIB ? 2 * MIB : 20 * MIB;
    if (bytes >= 10 * MIB) segment = (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    piece *p = best(m, bytes, stream);
    if (!p && held(m, false) + segment > capacity) release(m);
    if (!p && held(m, false) + segment > capacity) return NULL;
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

static uint64_t dice = 1;
static int roll(int sides)
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (int)(dice >> 33) % sides;
}

static int64_t some_size(void)
{
    switch (roll(5)) {
    case 0: return 1 + roll(2000);
    case 1: return 1 + roll(MIB);
    case 2: return MIB - 700 + roll(1400);
    case 3: return MIB + roll(9 * MIB);
    default: return 9 * MIB + roll(16 * MIB);
    }
}

typedef struct world {
    card card;
    model model;
    fy_pool *pool;
    fy_block *mine[MOST];
    int n;
} world;

static void let_pass(model *m, int64_t until)
{
    for (int i = 0; i < m->n; i++)
        if (m->p[i].state == 2 && m->p[i].until <= until) m->p[i].state = 0;
    tidy(m);
}

static void try_take(world *w)
{
    int64_t asked = some_size();
    int stream = roll(3);
    let_pass(&w->model, w->card.now[5]);
    fy_block *b = fy_pool_take(w->pool, asked, stream, w);
    piece *p = model_take(&w->model, asked, stream, w->card.capacity, b);
    assert_int_equal(p != NULL, b != NULL);
    if (!b) return;
    assert_int_equal(b->segment->addr, p->segment);
    assert_int_equal(b->offset, p->offset);
    assert_int_equal(b->bytes, p->bytes);
    assert_int_equal(b->segment->stream, stream);
    assert_int_equal(b->asked, asked);
    tidy(&w->model);
    w->mine[w->n++] = b;
}

static void give_one(world *w)
{
    int i = roll(w->n), other = roll(3);
    fy_block *b = w->mine[i];
    piece *p = piece_of(&w->model, b);
    if (other == 0) assert_true(fy_pool_use(w->pool, b, 5)); /* the one stream that is behind */
    if (other == 1) assert_true(fy_pool_use(w->pool, b, b->segment->stream));
    assert_int_equal(fy_pool_give(w->pool, b), other == 0);
    p->state = other == 0 ? 2 : 0;
    p->until = w->card.issued;
    tidy(&w->model);
    w->mine[i] = w->mine[--w->n];
}

static void same(world *w)
{
    fy_memory_stats s = fy_pool_stats(w->pool);
    assert_int_equal(s.allocated_bytes, held(&w->model, true));
    assert_int_equal(s.reserved_bytes, held(&w->model, false));
    assert_int_equal(s.reserved_bytes, w->card.taken);
    assert_int_equal(s.allocations, w->n);
}

TEST(random_programs_get_what_the_simple_model_gives)
{
    (void)state;
    for (int seed = 1; seed <= 12; seed++) {
        world w = {.card.capacity = (int64_t)(30 + 20 * (seed % 5)) * MIB};
        dice = (uint64_t)seed;
        w.pool = pool_on(&w.card, FY_WORD_device);
        for (int i = 0; i < 1200; i++) {
            int what = roll(40);
            if (what == 0) fy_pool_empty(w.pool), release(&w.model);
            else if (what < 4) w.card.now[5] = w.card.issued - roll(3);
            else if (w.n && (w.n == MOST || what < 20)) give_one(&w);
            else try_take(&w);
            same(&w);
        }
        while (w.n) give_one(&w);
        fy_pool_empty(w.pool);
        assert_int_equal(w.card.taken, 0);
        assert_null(fy_pool_segments(w.pool));
        fy_pool_free(w.pool);
    }
}

/* ---- what the source is asked ---- */

TEST(a_stream_that_is_behind_is_asked_once_for_all_that_waits)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = pool_on(&c, FY_WORD_device);
    fy_block *b[4];
    for (int i = 0; i < 4; i++) b[i] = fy_pool_take(p, 512, 0, NULL);
    for (int i = 0; i < 4; i++) {
        assert_true(fy_pool_use(p, b[i], 1));
        assert_true(fy_pool_use(p, b[i], 1)); /* said twice is said once */
        assert_true(fy_pool_give(p, b[i]));
    }
    assert_int_equal(c.issued, 4);
    fy_pool_take(p, 512, 0, NULL);
    assert_int_equal(c.asked, 1);
    c.now[1] = 2;
    assert_int_equal(fy_pool_take(p, 1024, 0, NULL)->offset, 0); /* the first two, merged; the third was asked for */
    assert_int_equal(c.asked, 4);
    assert_int_equal(c.waited, 0);
    fy_pool_empty(p);
    assert_int_equal(c.waited, 2);
    fy_pool_free(p);
}

TEST(a_stream_that_nothing_is_known_of_is_not_waited_for)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = pool_on(&c, FY_WORD_device);
    fy_block *b = fy_pool_take(p, 512, 0, NULL);
    assert_true(fy_pool_use(p, b, 7));
    assert_false(fy_pool_give(p, b));
    fy_pool_free(p);
}

TEST(an_error_of_another_kind_gives_nothing_back)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = pool_on(&c, FY_WORD_device);
    fy_pool_give(p, fy_pool_take(p, 512, 0, NULL));
    c.broken = true;
    assert_null(fy_pool_take(p, 2 * MIB, 0, NULL));
    assert_int_equal(c.given, 0);
    assert_int_equal(fy_pool_stats(p).num_ooms, 0);
    c.broken = false;
    assert_null(fy_pool_take(p, 200 * MIB, 0, NULL));
    assert_int_equal(c.given_for_room, 1);
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
    fy_block *a = fy_pool_take(p, 600000, 0, NULL), *b = fy_pool_take(p, 1, 3, NULL);
    assert_int_equal(a->bytes, MIB);
    assert_int_equal(b->bytes, 512);
    fy_pool_use(p, a, 0); /* the stream 0 of a card is not its own */
    assert_true(fy_pool_give(p, a));
    assert_ptr_not_equal(fy_pool_take(p, 600000, 0, NULL), a);
    c.now[0] = c.issued;
    assert_ptr_equal(fy_pool_take(p, 700, 1, NULL), a); /* the smallest that fits, whatever its size */
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
    fy_block *a = fy_pool_take(p, 5 * MIB, 0, NULL), *b = fy_pool_take(p, 100, 0, NULL);
    fy_memory_stats s = fy_pool_stats(p);
    assert_int_equal(s.requested_bytes, 5 * MIB + 100);
    assert_int_equal(s.inactive_split_bytes, 15 * MIB + 2 * MIB - 512);
    assert_int_equal(s.allocations, 2);
    assert_int_equal(s.segments, 2);
    assert_int_equal(fy_pool_largest(p), 15 * MIB);
    fy_pool_give(p, a);
    assert_int_equal(fy_pool_stats(p).inactive_split_bytes, 2 * MIB - 512); /* a whole segment is no split */
    fy_pool_reset_peaks(p);
    fy_pool_empty(p);
    s = fy_pool_stats(p);
    assert_int_equal(s.max_allocated_bytes, 512);
    assert_int_equal(s.max_reserved_bytes, 22 * MIB);
    assert_int_equal(s.reserved_bytes, 2 * MIB);
    fy_pool_give(p, b);
    assert_int_equal(fy_pool_stats(p).requested_bytes, 0);
    fy_pool_free(p);
}

/* ---- words ---- */

static const char *name_of(const fy_block *b, char *buf, size_t room)
{
    snprintf(buf, room, "%s (x.c:%d)", (const char *)b->who, (int)(b->bytes / MIB));
    return buf;
}

static fy_pool *in_pieces(card *c)
{
    fy_pool *p = pool_on(c, FY_WORD_device);
    fy_pool_take(p, 4 * MIB, 0, "a");
    fy_block *hole = fy_pool_take(p, 6 * MIB, 0, "gone"), *busy = fy_pool_take(p, 2 * MIB, 0, "busy");
    fy_pool_take(p, 2 * MIB, 0, "b");
    fy_pool_give(p, hole);
    fy_pool_use(p, busy, 1);
    fy_pool_give(p, busy);
    return p;
}

TEST(pieces_and_what_lives_in_words)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = in_pieces(&c);
    char text[400];
    fy_pool_pieces_text(p, name_of, text, sizeof text);
    assert_string_equal(
        text, "segment of 20 MiB at 0x40000000: 4 MiB used by a (x.c:4), 6 MiB free, 2 MiB waiting for another "
              "stream, 2 MiB used by b (x.c:2), 6 MiB free; 12 MiB are free in all, the largest piece is 6 MiB");
    fy_pool_pieces_text(p, name_of, text, 160);
    assert_string_equal(text, "segment of 20 MiB at 0x40000000: 4 MiB used by a (x.c:4), 6 MiB free, 2 MiB waiting for "
                              "another stream ...; 12 MiB are free in all, the largest piece is 6 MiB");
    fy_pool_living_text(p, name_of, text, sizeof text);
    assert_string_equal(text, "a (x.c:4) 4 MiB, b (x.c:2) 2 MiB");
    for (int i = 0; i < 4; i++) fy_pool_take(p, 3 * MIB, 0, "c");
    fy_pool_living_text(p, name_of, text, sizeof text);
    assert_string_equal(text, "a (x.c:4) 4 MiB, c (x.c:3) 3 MiB, c (x.c:3) 3 MiB, c (x.c:3) 3 MiB and 2 more");
    fy_pool_free(p);
}

TEST(segments_are_drawn)
{
    (void)state;
    card c = {.capacity = 100 * MIB};
    fy_pool *p = in_pieces(&c);
    fy_pool_take(p, 512, 3, "tiny");
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
        cmocka_unit_test(random_programs_get_what_the_simple_model_gives),
        cmocka_unit_test(a_stream_that_is_behind_is_asked_once_for_all_that_waits),
        cmocka_unit_test(a_stream_that_nothing_is_known_of_is_not_waited_for),
        cmocka_unit_test(an_error_of_another_kind_gives_nothing_back),
        cmocka_unit_test(pinned_sizes_are_powers_of_two_and_never_cut),
        cmocka_unit_test(figures_and_peaks),
        cmocka_unit_test(pieces_and_what_lives_in_words),
        cmocka_unit_test(segments_are_drawn),
        cmocka_unit_test(sizes_are_written_as_pytorch_writes_them),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
