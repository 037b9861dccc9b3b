/* memory.c: see memory.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "dtype.h"
#include "event.h"
#include "launch_record.h"
#include "ledger.h"
#include "memory.h"
#include "run.h"
#include "run_work.h"
#include "settings.h"

enum { FRESH_VRAM = 0xff }; /* what sim.c fills new memory with */

static cell cells[MOST_SLOTS];
int cell_count;
unsigned char *read_into[2];
static size_t read_room;

const double epsilons[] = {[FY_FLOAT32] = 1.0 / (1 << 23),
                           [FY_FLOAT64] = 1.0 / ((int64_t)1 << 52),
                           [FY_FLOAT16] = 1.0 / (1 << 10),
                           [FY_BFLOAT16] = 1.0 / (1 << 7),
                           [FY_BOOL] = 0};

const double largest[] = {[FY_FLOAT32] = 3.4028234e38,
                          [FY_FLOAT64] = 1.7976931348623157e308,
                          [FY_FLOAT16] = 65504,
                          [FY_BFLOAT16] = 3.38e38,
                          [FY_BOOL] = 0};

/* What crosses without waiting comes home when somebody waits. */
static void finish_work(void)
{
    fy_time t;
    for (int i = 1; i < fy_dev_count(); i++)
        if (!fy_dev_at(i)->backend->wait(fy_dev_at(i), NULL, NULL, 0, &t))
            broken("the card did not finish its work: %s", fy_fault.text);
}

static void read_storage(const fy_storage *s, unsigned char *to)
{
    if (s->mem == FY_WORD_pinned) finish_work();
    if (s->dev->number == 0) memcpy(to, s->data, s->bytes);
    else if (!s->dev->backend->copy(s->dev,
                                    &(fy_copy_work){.dst = to, .src = s->data, .bytes = s->bytes, .dir = FY_WORD_d2h}))
        broken("the card cannot be read: %s", fy_fault.text);
}

static void write_storage(fy_storage *s, const unsigned char *from)
{
    if (s->dev->number == 0) memcpy(s->data, from, s->asked);
    else if (!s->dev->backend->copy(
                 s->dev, &(fy_copy_work){.dst = s->data, .src = from, .bytes = s->asked, .dir = FY_WORD_h2d}))
        broken("the card cannot be written: %s", fy_fault.text);
}

static void make_room(const cell *c)
{
    size_t bytes = c->s[0]->bytes > c->s[1]->bytes ? c->s[0]->bytes : c->s[1]->bytes;
    if (bytes <= read_room) return;
    read_room = bytes;
    for (int i = 0; i < 2; i++)
        if (!(read_into[i] = realloc(read_into[i], bytes))) abort();
}

/* Past the end of what was asked for nothing is written. What was there before is known where blocks are fresh. */
static void check_end(const fy_storage *s, const unsigned char *bytes)
{
    if (!fy_launch_blocking()) return;
    for (size_t i = s->asked; s->dev->number > 0 && i < s->bytes; i++)
        if (bytes[i] != FRESH_VRAM) broken("byte %zu of a storage of %zu on the card was written", i, s->asked);
}

void read_cell(const cell *c)
{
    make_room(c);
    for (int i = 0; i < 2; i++)
        if (c->s[i]->bytes) {
            read_storage(c->s[i], read_into[i]);
            check_end(c->s[i], read_into[i]);
        }
}

static bool is_close(double x, double y, fy_dtype d, const slack *free)
{
    double most = fmax(fabs(x), fabs(y)), least = fmin(fabs(x), fabs(y));
    if (x == y || (isnan(x) && isnan(y))) return true;
    if (isinf(most) && (free->relative > 0 || free->absolute > 0)) /* rounded beyond the largest, or not */
        return least >= 0.9 * largest[d] && (x > 0) == (y > 0);
    return fabs(x - y) <= free->absolute + free->relative * most;
}

static void compare_values(const cell *c, fy_dtype d, const slack *free)
{
    size_t size = fy_dtype_size(d), n = c->s[0]->asked / size;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *a = read_into[0] + i * size, *b = read_into[1] + i * size;
        if (memcmp(a, b, size) == 0) continue;
        double x = fy_real_at(d, a, 0), y = fy_real_at(d, b, 0);
        bool signless = x == 0 && y == 0 && free->relative == 0 && free->absolute == 0;
        if (!fy_dtype_is_real(d) || signless || !is_close(x, y, d, free))
            broken("element %zu of the %s result is %.17g on the CPU and %.17g on the card", i, fy_dtype_name(d), x, y);
    }
}

/* ---- cells ---- */

static cell *cell_of(const fy_tensor *a)
{
    for (int i = 0; i < cell_count; i++)
        if (cells[i].s[0] == a->storage) return &cells[i];
    return NULL;
}

cell *pair_cells(const fy_tensor *a, const fy_tensor *b, bool *fresh)
{
    cell *c = cell_of(a);
    *fresh = !c;
    for (int i = 0; i < cell_count; i++)
        if (cells[i].s[1] == b->storage && c != &cells[i])
            broken("the result shares another tensor's memory on the card and not on the CPU");
    if (c && c->s[1] != b->storage) broken("the result shares another tensor's memory on the CPU and not on the card");
    if (c) return c;
    if (a->storage->asked != b->storage->asked)
        broken("the result's storage has %zu bytes on the CPU and %zu on the card", a->storage->asked,
               b->storage->asked);
    c = &cells[cell_count++];
    *c = (cell){{a->storage, b->storage}, calloc(1, a->storage->asked + 1)};
    if (!c->was) abort();
    return c;
}

static void remember(cell *c)
{
    if (c->s[0]->asked) memcpy(c->was, read_into[0], c->s[0]->asked);
}

void fill_holes(cell *c, const fy_tensor *x)
{
    size_t size = fy_dtype_size(x->dtype), n = c->s[0]->asked;
    unsigned char *alike = malloc(n + 1);
    if (!alike) abort();
    if (n) memcpy(alike, read_into[0], n);
    for (int64_t i = 0; i < fy_numel(x); i++) {
        int64_t at = x->offset, left = i;
        for (int d = x->ndim - 1; d >= 0; left /= x->shape[d--]) at += left % x->shape[d] * x->strides[d];
        memcpy(alike + (size_t)at * size, read_into[1] + (size_t)at * size, size);
    }
    if (n) write_storage(c->s[1], alike);
    if (n) memcpy(read_into[1], alike, n);
    free(alike);
}

void settle(cell *c, fy_dtype d, const slack *free)
{
    read_cell(c);
    if (!free->skip) compare_values(c, d, free);
    if (c->s[0]->asked && memcmp(read_into[0], read_into[1], c->s[0]->asked) != 0) write_storage(c->s[1], read_into[0]);
    remember(c);
}

static void check_unchanged(const cell *c)
{
    read_cell(c);
    for (int i = 0; i < 2; i++)
        if (c->s[i]->asked && memcmp(read_into[i], c->was, c->s[i]->asked) != 0)
            broken("a tensor that the step does not write was changed %s", i ? "on the card" : "on the CPU");
}

static bool is_used(const cell *c)
{
    for (int i = 0; i < MOST_SLOTS; i++)
        if (worlds[0].slot[i] && worlds[0].slot[i]->storage == c->s[0]) return true;
    return false;
}

void sweep_cells(void)
{
    int kept = 0;
    for (int i = 0; i < cell_count; i++) {
        if (is_used(&cells[i])) cells[kept++] = cells[i];
        else free(cells[i].was);
    }
    cell_count = kept;
}

void check_others(const fy_storage *written, const fy_storage *also)
{
    for (int i = 0; i < cell_count; i++)
        if (cells[i].s[0] != written && cells[i].s[0] != also) check_unchanged(&cells[i]);
}
