/* pool_card.c: see pool_card.h. */
#include "pool_card.h"

static fy_segment_result alloc_segment(void *self, fy_segment *s)
{
    card *c = self;
    int i = 0;
    if (c->broken) return FY_SEGMENT_ERROR;
    if (s->bytes > c->capacity - c->taken) return FY_SEGMENT_OOM;
    while (c->holes[i]) i++;
    c->holes[i] = 1;
    c->taken += s->bytes;
    s->addr = (uint64_t)(i + 1) << 30;
    return FY_SEGMENT_OK;
}

static void free_segment(void *self, fy_segment *s, bool for_room)
{
    card *c = self;
    c->holes[(s->addr >> 30) - 1] = 0;
    c->taken -= s->bytes;
    c->freed_segments++;
    c->freed_for_room += for_room;
}

static bool record(void *self, int where, fy_point *at)
{
    (void)where;
    at->when = ++((card *)self)->issued;
    return where != 7; /* stream 7 cannot be recorded */
}

static bool passed(void *self, int where, fy_point *at)
{
    ((card *)self)->queries++;
    return ((card *)self)->now[where] >= at->when;
}

static void wait_for(void *self, int where, fy_point *at)
{
    card *c = self;
    c->waits++;
    if (c->now[where] < at->when) c->now[where] = at->when;
}

fy_pool *pool_on(card *c, fy_word mem)
{
    fy_pool_source source = {c, alloc_segment, free_segment, record, passed, wait_for};
    return fy_pool_make(&source, mem);
}
