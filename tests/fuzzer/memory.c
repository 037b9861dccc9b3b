/* memory.c: see memory.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "dtype.h"
#include "event.h"
#include "fits.h"
#include "launch_record.h"
#include "ledger.h"
#include "memory.h"
#include "run.h"
#include "run_work.h"
#include "settings.h"

enum { FRESH_VRAM = 0xff }; /* sim.c fills new memory with this byte */

static storage_pair pairs[MAX_SLOTS];
int pair_count;
unsigned char *read_buffer[2];
static size_t read_room;

const double epsilons[] = {[FY_FLOAT32] = 1.0 / (1 << 23),
                           [FY_FLOAT64] = 1.0 / ((int64_t)1 << 52),
                           [FY_FLOAT16] = 1.0 / (1 << 10),
                           [FY_BFLOAT16] = 1.0 / (1 << 7),
                           [FY_BOOL] = 0};

const double max_finite[] = {[FY_FLOAT32] = 3.4028234e38,
                             [FY_FLOAT64] = 1.7976931348623157e308,
                             [FY_FLOAT16] = 65504,
                             [FY_BFLOAT16] = 3.38e38,
                             [FY_BOOL] = 0};

/* Non-blocking copies to pinned memory are complete only after a wait. */
static void finish_work(void)
{
    fy_time t;
    for (int i = 1; i < fy_dev_count(); i++)
        if (!fy_dev_at(i)->backend->wait(fy_dev_at(i), NULL, NULL, 0, &t))
            fail_check("the card did not finish its work: %s", fy_fault.text);
}

static void read_storage(const fy_storage *s, unsigned char *to)
{
    if (s->mem == FY_WORD_pinned) finish_work();
    if (s->dev->number == 0) memcpy(to, s->data, s->bytes);
    else if (!s->dev->backend->copy(s->dev,
                                    &(fy_copy_work){.dst = to, .src = s->data, .bytes = s->bytes, .dir = FY_WORD_d2h}))
        fail_check("the card cannot be read: %s", fy_fault.text);
}

static void write_storage(fy_storage *s, const unsigned char *from)
{
    if (s->dev->number == 0) memcpy(s->data, from, s->asked);
    else if (!s->dev->backend->copy(
                 s->dev, &(fy_copy_work){.dst = s->data, .src = from, .bytes = s->asked, .dir = FY_WORD_h2d}))
        fail_check("the card cannot be written: %s", fy_fault.text);
}

static void make_room(const storage_pair *c)
{
    size_t bytes = c->s[0]->bytes > c->s[1]->bytes ? c->s[0]->bytes : c->s[1]->bytes;
    if (bytes <= read_room) return;
    read_room = bytes;
    for (int i = 0; i < 2; i++)
        if (!(read_buffer[i] = realloc(read_buffer[i], bytes))) abort();
}

/* Nothing is written beyond the requested bytes. Their previous content is known only for new blocks. */
static void check_end(const fy_storage *s, const unsigned char *bytes)
{
    if (!fy_launch_blocking()) return;
    for (size_t i = s->asked; s->dev->number > 0 && i < s->bytes; i++)
        if (bytes[i] != FRESH_VRAM) fail_check("byte %zu of a storage of %zu on the card was written", i, s->asked);
}

void read_pair(const storage_pair *c)
{
    make_room(c);
    for (int i = 0; i < 2; i++)
        if (c->s[i]->bytes) {
            read_storage(c->s[i], read_buffer[i]);
            check_end(c->s[i], read_buffer[i]);
        }
}

bool is_close(double x, double y, fy_dtype d, const tolerance *allowed)
{
    double most = fmax(fabs(x), fabs(y)), least = fmin(fabs(x), fabs(y));
    if (x == y || (isnan(x) && isnan(y))) return true;
    if (isinf(most) &&
        (allowed->relative > 0 || allowed->absolute > 0)) /* one result was rounded to infinity, the other was not */
        return least >= 0.9 * max_finite[d] && (x > 0) == (y > 0);
    return fabs(x - y) <= allowed->absolute + allowed->relative * most;
}

static void compare_values(const storage_pair *c, fy_dtype d, const tolerance *allowed)
{
    size_t size = fy_dtype_size(d), n = c->s[0]->asked / size;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *a = read_buffer[0] + i * size, *b = read_buffer[1] + i * size;
        if (memcmp(a, b, size) == 0) continue;
        double x = fy_real_at(d, a, 0), y = fy_real_at(d, b, 0);
        bool signless = x == 0 && y == 0 && allowed->relative == 0 && allowed->absolute == 0;
        if (!fy_dtype_is_real(d) || signless || !is_close(x, y, d, allowed))
            fail_check("element %zu of the %s result is %.17g on the CPU and %.17g on the card", i, fy_dtype_name(d), x,
                       y);
    }
}

/* ---- cells ---- */

static storage_pair *find_pair(const fy_tensor *a)
{
    for (int i = 0; i < pair_count; i++)
        if (pairs[i].s[0] == a->storage) return &pairs[i];
    return NULL;
}

storage_pair *find_or_add_pair(const fy_tensor *a, const fy_tensor *b, bool *fresh)
{
    storage_pair *c = find_pair(a);
    *fresh = !c;
    for (int i = 0; i < pair_count; i++)
        if (pairs[i].s[1] == b->storage && c != &pairs[i])
            fail_check("the result shares another tensor's memory on the card and not on the CPU");
    if (c && c->s[1] != b->storage)
        fail_check("the result shares another tensor's memory on the CPU and not on the card");
    if (c) return c;
    if (a->storage->asked != b->storage->asked)
        fail_check("the result's storage has %zu bytes on the CPU and %zu on the card", a->storage->asked,
                   b->storage->asked);
    c = &pairs[pair_count++];
    *c = (storage_pair){{a->storage, b->storage}, calloc(1, a->storage->asked + 1)};
    if (!c->previous) abort();
    return c;
}

/* Writes x's elements in `from`, a copy of its storage, into a copy of `around`. */
static unsigned char *merged(const storage_pair *c, const fy_tensor *x, const void *from, const void *around)
{
    size_t size = fy_dtype_size(x->dtype), n = c->s[0]->asked;
    unsigned char *both = malloc(n + 1);
    if (!both) abort();
    if (n) memcpy(both, around, n);
    for (int64_t i = 0; i < fy_numel(x); i++) {
        size_t at = (size_t)place_of(x, i) * size;
        memcpy(both + at, (const unsigned char *)from + at, size);
    }
    return both;
}

void fill_holes(storage_pair *c, const fy_tensor *x)
{
    size_t n = c->s[0]->asked;
    unsigned char *alike = merged(c, x, read_buffer[1], read_buffer[0]);
    if (n) write_storage(c->s[1], alike);
    if (n) memcpy(read_buffer[1], alike, n);
    free(alike);
}

void check_around(const storage_pair *c, const fy_tensor *x)
{
    for (int i = 0; i < 2; i++) {
        unsigned char *wanted = merged(c, x, read_buffer[i], c->previous);
        bool same = memcmp(wanted, read_buffer[i], c->s[i]->asked) == 0;
        free(wanted);
        if (!same) fail_check("it writes beside its tensor %s", i ? "on the card" : "on the CPU");
    }
}

void compare_and_align(storage_pair *c, fy_dtype d, const tolerance *allowed)
{
    read_pair(c);
    if (!allowed->skip) compare_values(c, d, allowed);
    if (c->s[0]->asked && memcmp(read_buffer[0], read_buffer[1], c->s[0]->asked) != 0)
        write_storage(c->s[1], read_buffer[0]);
    if (c->s[0]->asked) memcpy(c->previous, read_buffer[0], c->s[0]->asked);
}

static void check_unchanged(const storage_pair *c)
{
    read_pair(c);
    for (int i = 0; i < 2; i++)
        if (c->s[i]->asked && memcmp(read_buffer[i], c->previous, c->s[i]->asked) != 0)
            fail_check("a tensor that the step does not write was changed %s", i ? "on the card" : "on the CPU");
}

static bool is_used(const storage_pair *c)
{
    for (int i = 0; i < MAX_SLOTS; i++)
        if (worlds[0].slot[i] && worlds[0].slot[i]->storage == c->s[0]) return true;
    return false;
}

void drop_unused_pairs(void)
{
    int kept = 0;
    for (int i = 0; i < pair_count; i++) {
        if (is_used(&pairs[i])) pairs[kept++] = pairs[i];
        else free(pairs[i].previous);
    }
    pair_count = kept;
}

void check_unwritten(const fy_storage *written, const fy_storage *also)
{
    for (int i = 0; i < pair_count; i++)
        if (pairs[i].s[0] != written && pairs[i].s[0] != also) check_unchanged(&pairs[i]);
}
