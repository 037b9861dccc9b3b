/* engine_schedule.c: the bookings of one engine, as a sorted list of busy intervals. Only intervals that end after the
 * host's time are kept, and adjacent ones are merged, so the list stays short. */
#include "engine_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "out_of_memory.h"

enum { ROOM = 16 };

bool fy_engine_make(fy_engine *e)
{
    *e = (fy_engine){.busy = malloc(ROOM * sizeof *e->busy), .room = ROOM};
    return e->busy;
}

void fy_engine_free(fy_engine *e)
{
    free(e->busy);
    *e = (fy_engine){0};
}

/* Binary search: index of the first interval that ends after t. */
static int ends_after(const fy_engine *e, int64_t t)
{
    int low = e->first, high = e->last;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (e->busy[middle].end > t) high = middle;
        else low = middle + 1;
    }
    return low;
}

int64_t fy_engine_find(const fy_engine *e, int64_t ready, int64_t length)
{
    if (length <= 0) return ready;
    if (ready < e->past) ready = e->past;
    for (int i = ends_after(e, ready); i < e->last && e->busy[i].start - ready < length; i++) ready = e->busy[i].end;
    return ready;
}

/* Makes room for one more interval. */
static void reserve(fy_engine *e)
{
    if (e->last < e->room) return;
    if (e->first >= e->room / 2) {
        memmove(e->busy, e->busy + e->first, (size_t)(e->last - e->first) * sizeof *e->busy);
        e->last -= e->first;
        e->first = 0;
        return;
    }
    fy_busy *more = realloc(e->busy, (size_t)e->room * 2 * sizeof *more);
    if (!more) fy_out_of_memory("the timing model of a simulated card");
    e->busy = more;
    e->room *= 2;
}

void fy_engine_book(fy_engine *e, int64_t start, int64_t length)
{
    if (length <= 0) return;
    int64_t end = start + length;
    int i = ends_after(e, start);
    bool before = i > e->first && e->busy[i - 1].end == start, after = i < e->last && e->busy[i].start == end;
    if (before && after) {
        e->busy[i - 1].end = e->busy[i].end;
        memmove(e->busy + i, e->busy + i + 1, (size_t)(e->last - i - 1) * sizeof *e->busy);
        e->last--;
    } else if (before) {
        e->busy[i - 1].end = end;
    } else if (after) {
        e->busy[i].start = start;
    } else {
        reserve(e);
        i = ends_after(e, start);
        memmove(e->busy + i + 1, e->busy + i, (size_t)(e->last - i) * sizeof *e->busy);
        e->busy[i] = (fy_busy){start, end};
        e->last++;
    }
}

void fy_engine_prune(fy_engine *e, int64_t now)
{
    if (now <= e->past) return;
    e->past = now;
    e->first = ends_after(e, now);
    if (e->first == e->last) e->first = e->last = 0;
}
