/* action.c: events of a log, read as what a program did. A copy or an op is told in several lines, which belong
 * together here. */
#include "action.h"
#include "device.h"
#include "event.h"

#include <stdlib.h>
#include <string.h>

int action_device(const char *name)
{
    if (strncmp(name, "cuda:", 5)) return 0;
    int n = atoi(name + 5) + 1;
    return n > 0 && n < REPLAY_CARDS ? n : 0;
}

/* The complete of a copy or an op stands a line or two behind it. */
static void read_complete(const trace *t, int i, action *a)
{
    int64_t id = event_int(t->events[i], "id");
    for (int j = i + 1; j < t->count && j < i + 8; j++) {
        const cJSON *e = t->events[j];
        if (strcmp(event_kind(e), "complete") || event_int(e, "id") != id) continue;
        a->start = event_int(e, "start");
        a->end = event_int(e, "end");
        if (a->deed == RUN && a->held == 0 && a->start == a->end && event_int(e, "overhead") == 0) a->deed = NOTHING;
        return;
    }
}

/* A copy home that was waited for is two: the wait for the card's earlier work has an event of its own. */
static int64_t waited_before(const trace *t, int i)
{
    for (int j = i + 1; j < t->count && j < i + 8; j++) {
        const cJSON *e = t->events[j];
        if (!strcmp(event_kind(e), "sync") && event_int(e, "cause") == event_seq(t->events[i]))
            return event_int(e, "held");
    }
    return 0;
}

static bool is(const cJSON *e, const char *field, const char *word) { return !strcmp(event_text(e, field), word); }
static bool is_on(const cJSON *e, const char *field) { return cJSON_IsTrue(cJSON_GetObjectItem(e, field)); }

static void read_copy(const trace *t, int i, action *a)
{
    const cJSON *e = t->events[i];
    int from = action_device(event_text(e, "src.device")), to = action_device(event_text(e, "dst.device"));
    a->deed = !from && !to ? HOST : from && to && from != to ? ACROSS : COPY;
    a->card = from ? from : to;
    a->other = to;
    a->peer = is(e, "route", "direct");
    a->held += waited_before(t, i);
    a->copy = (fy_copy_work){.stream = a->stream,
                             .bytes = (size_t)a->bytes,
                             .dir = !from        ? FY_WORD_h2d
                                    : !to        ? FY_WORD_d2h
                                    : from == to ? FY_WORD_d2d
                                                 : FY_WORD_p2p,
                             .pinned = is(e, "src.mem", "pinned") || is(e, "dst.mem", "pinned"),
                             .async = is_on(e, "async")};
}

/* A segment_free does not say of which kind it was: its segment does. */
static fy_word segment_mem(const trace *t, int i)
{
    const cJSON *gone = t->events[i];
    for (int j = i; j >= 0; j--) {
        const cJSON *e = t->events[j];
        if (!strcmp(event_kind(e), "segment") && is(e, "addr", event_text(gone, "addr")))
            return is(e, "mem", "pinned") ? FY_WORD_pinned : FY_WORD_device;
    }
    return FY_WORD_device;
}

static deed deed_of(const cJSON *e)
{
    static const struct {
        const char *kind;
        deed deed;
    } deeds[] = {{"copy", COPY},           {"op", RUN},    {"segment", TAKE}, {"segment_free", GIVE},
                 {"event_record", RECORD}, {"sync", WAIT}, {"query", ASK},    {"event_wait", STREAM_WAITS}};
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        if (!strcmp(event_kind(e), deeds[i].kind)) return deeds[i].deed;
    return NOTHING;
}

action action_read(const trace *t, int i)
{
    const cJSON *e = t->events[i];
    const char *device = event_text(e, "device");
    action a = {.deed = deed_of(e), .card = action_device(device), .start = -1, .end = -1};
    a.stream = (int)event_int(e, "stream");
    a.bytes = event_int(e, "bytes");
    a.flops = event_int(e, "flops");
    a.event = event_int(e, "event");
    a.held = event_int(e, "held");
    if (a.deed == COPY) read_copy(t, i, &a);
    if (a.deed == RUN && !a.card) a.deed = HOST;
    if (a.deed == COPY || a.deed == RUN || a.deed == ACROSS) read_complete(t, i, &a);
    if (a.deed == TAKE || a.deed == GIVE) {
        a.mem = segment_mem(t, i);
        if (!a.card) a.card = 1; /* page-locked memory is the host's; a card locks it */
    }
    if (a.deed == WAIT && is(e, "scope", "copy")) a.deed = NOTHING;      /* part of the copy */
    if ((a.deed == WAIT || a.deed == ASK) && !*device) a.deed = NOTHING; /* an event that was never recorded */
    return a;
}
