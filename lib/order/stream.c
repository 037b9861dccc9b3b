/* stream.c: the streams of each card, and each thread's current stream.
 *
 * Handles point into a fixed table, so streams are never freed. The pool of 32 is handed out round-robin: the 33rd
 * fy_cuda_stream() returns the first stream again, as in PyTorch. */
#include "stream.h"

#include <pthread.h>
#include <stdatomic.h>

#include "device.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "run_work.h"
#include "session_hooks.h"
#include "site.h"

enum { MOST_DEVICES = 9 }; /* as many as device.c opens */

static fy_stream streams[MOST_DEVICES][FY_STREAMS];
static _Atomic uint32_t taken[MOST_DEVICES]; /* round-robin counter of the pool */
static _Atomic(const char *) names[MOST_DEVICES][FY_STREAMS];
static _Thread_local uint8_t current[MOST_DEVICES]; /* stream numbers */
fy_stream fy_stream_left_out;                       /* sentinel: the argument was omitted */

/* ---- handles -------------------------------------------------------------------------------------- */

static void fill(void)
{
    for (int d = 1; d < fy_dev_count() && d < MOST_DEVICES; d++)
        for (int i = 0; i < FY_STREAMS; i++) streams[d][i] = (fy_stream){fy_dev_at(d), i};
}

fy_stream *fy_stream_of(fy_dev *card, int number)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill);
    return &streams[card->number][number];
}

int fy_stream_current(const fy_dev *card) { return current[card->number]; }

static bool is_stream(const fy_stream *s)
{
    uintptr_t from = (uintptr_t)streams, p = (uintptr_t)s;
    return p >= from && p < from + sizeof streams && (p - from) % sizeof *s == 0 && s->card;
}

fy_stream *fy_stream_given(fy_site *at, int i, fy_stream *s)
{
    char name[200];
    if (is_stream(s)) return s;
    if (s == &fy_stream_left_out) {
        fy_dev *card = fy_dev_card(at, -1);
        return card ? fy_stream_of(card, fy_stream_current(card)) : NULL;
    }
    if (!s) return fy_fail_null(at, i, "stream");
    fy_argument(at, i, name, sizeof name);
    return fy_fail(at, "stream", "create one with fy_cuda_stream()", "'%s' is not a stream", name);
}

int fy_stream_id(const fy_stream *s) { return is_stream(s) ? s->number : -1; }
const char *fy_stream_device(const fy_stream *s) { return is_stream(s) ? s->card->name : NULL; }

/* ---- lookup --------------------------------------------------------------------------------------- */

static fy_dev *card_of(fy_site *at, const fy_stream_opts *o)
{
    fy_session_start();
    fy_dev *d = o->device ? fy_dev_parse(at, o->device) : fy_dev_card(at, -1);
    if (!d || d->number > 0) return d;
    return fy_fail(at, "device", "only cards have streams: use \"cuda\" or \"cuda:0\", or leave .device out",
                   "Expected a cuda device, but got: %s", o->device);
}

const char *fy_stream_name(const fy_dev *card, int number)
{
    return atomic_load_explicit(&names[card->number][number], memory_order_relaxed);
}

fy_stream *fy_cuda_stream_at(fy_site *at, fy_stream_opts o)
{
    FY_CALL(at);
    fy_dev *card = card_of(at, &o);
    if (!card) return NULL;
    uint32_t turn = atomic_fetch_add(&taken[card->number], 1);
    int number = 1 + (int)(turn % (FY_STREAMS - 1));
    atomic_store_explicit(&names[card->number][number], at ? fy_site_variable(at) : NULL, memory_order_relaxed);
    return fy_stream_of(card, number);
}

fy_stream *fy_cuda_default_stream_at(fy_site *at, fy_stream_opts o)
{
    FY_CALL(at);
    fy_dev *card = card_of(at, &o);
    return card ? fy_stream_of(card, 0) : NULL;
}

fy_stream *fy_cuda_current_stream_at(fy_site *at, fy_stream_opts o)
{
    FY_CALL(at);
    fy_dev *card = card_of(at, &o);
    return card ? fy_stream_of(card, fy_stream_current(card)) : NULL;
}

/* ---- the current stream ----------------------------------------------------------------------------- */

void fy_stream_set_of_card(fy_site *at, const fy_stream *s)
{
    if (current[s->card->number] == s->number) return;
    current[s->card->number] = (uint8_t)s->number;
    FY_EMIT(at, set_stream, .device = (uint8_t)s->card->number, .stream = s->number);
}

void fy_stream_set_current(fy_site *at, const fy_stream *s)
{
    fy_dev_set_current(at, s->card->number - 1);
    fy_stream_set_of_card(at, s);
}

void fy_cuda_set_stream_at(fy_site *at, fy_stream *s)
{
    FY_CALL(at);
    fy_session_start();
    s = fy_stream_given(at, 0, s);
    if (s) fy_stream_set_current(at, s);
}

fy_with_stream fy_with_stream_at(fy_site *at, fy_stream *s)
{
    fy_depths depths = FY_REGION_OF_BLOCK(at, FY_WORD_stream, FY_ABSENT, FY_ABSENT);
    fy_session_start();
    fy_with_stream with = {.at = at, .device = fy_cuda_current_device(), .turns = 1, .depths = depths};
    s = fy_stream_given(at, 0, s);
    if (!s) return with;
    with.before = fy_stream_of(s->card, fy_stream_current(s->card));
    fy_stream_set_current(at, s);
    return with;
}

void fy_with_stream_end(fy_with_stream *with)
{
    fy_region_resume(&with->depths);
    if (with->before) {
        fy_stream_set_of_card(with->at, with->before);
        fy_dev_set_current(with->at, with->device);
    }
    fy_region_close(&with->depths);
}
