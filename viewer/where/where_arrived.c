/* where_arrived.c: a port of www/model/transfer.js: how many bytes of a copy have arrived at a time. It goes in chunks,
 * each by one hop or two, with two buffers between them; the course is stretched to the times that the log gives. */
#include "where_log.h"

enum { CHUNK = 4 << 20 };  /* of a card whose log does not say */
enum { CHUNKS = 1 << 16 }; /* of a copy at most, whatever its log says */

typedef struct hop {
    double rate, latency; /* bytes per ns, ns */
} hop;

static double part(double t, double from, double to)
{
    if (to <= from) return t >= to;
    double p = (t - from) / (to - from);
    return p < 0 ? 0 : p > 1 ? 1 : p;
}

/* What has taken the second hop at t, and when all has; t < 0: the latter alone. */
static double through(const filling *f, const hop hops[2], int64_t chunk, double factor, double t, double *end)
{
    double left[2] = {(double)f->start, (double)f->start}, enter = (double)f->start, leave = enter, arrived = 0;
    int n = 0;
    for (int64_t rest = f->bytes; rest > 0; rest -= chunk, n++) {
        double bytes = (double)(rest < chunk ? rest : chunk);
        double ready = enter > left[n % 2] ? enter : left[n % 2];
        enter = ready + hops[0].latency + bytes / hops[0].rate;
        double from = (leave > enter ? leave : enter) + hops[1].latency;
        leave = left[n % 2] = from + bytes / hops[1].rate;
        double begin = (double)f->start;
        if (t >= 0) arrived += bytes * part(t, begin + (from - begin) * factor, begin + (leave - begin) * factor);
    }
    *end = leave;
    return arrived;
}

static int64_t by_chunks(const filling *f, const hop hops[2], int64_t chunk, int64_t t)
{
    double end, again;
    if (chunk < 1) chunk = 1;
    if (chunk < f->bytes / CHUNKS) chunk = f->bytes / CHUNKS + 1;
    through(f, hops, chunk, 1, -1, &end);
    double factor = end > (double)f->start ? (double)(f->end - f->start) / (end - (double)f->start) : 1;
    return (int64_t)(through(f, hops, chunk, factor, (double)t, &again) + 0.5);
}

int64_t arrived_at(const where *w, const filling *f, int64_t t)
{
    if (t >= f->end) return f->bytes;
    if (t < f->start || f->done == NEVER) return 0;
    const card *from = &w->cards[f->from_device <= MOST_CARDS ? f->from_device : 0];
    const card *to = &w->cards[f->to_device <= MOST_CARDS ? f->to_device : 0];
    if (f->staged && f->staging > 0 && f->wire > 0) {
        const card *of = f->up ? to : from;
        hop bus = {(double)f->bytes / (double)f->wire, (double)of->latency},
            memory = {(double)f->bytes / (double)f->staging, 0};
        hop up[2] = {memory, bus}, down[2] = {bus, memory};
        return by_chunks(f, f->up ? up : down, of->chunk ? of->chunk : CHUNK, t);
    }
    if (f->through_host && f->wire > 0) {
        double wire = (double)f->wire, up = f->wire_up > 0 ? (double)f->wire_up : wire / 2;
        hop hops[2] = {{(double)f->bytes / (wire - up), (double)from->latency},
                       {(double)f->bytes / up, (double)to->latency}};
        return by_chunks(f, hops, from->chunk ? from->chunk : CHUNK, t);
    }
    int64_t begin = f->wire < f->end - f->start ? f->end - f->wire : f->start;
    return (int64_t)((double)f->bytes * part((double)t, (double)begin, (double)f->end) + 0.5);
}
