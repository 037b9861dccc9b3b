/* caching_allocator.c: segments and blocks, by the rules of PyTorch 1.13's caching allocator (caching_allocator.h). */
#include "caching_allocator.h"

#include <stdlib.h>

#include "device.h"
#include "event.h"

static const int64_t SMALL_MOST = 1 << 20;    /* bytes; larger blocks come from the large pool */
static const int64_t SMALL_SEGMENT = 2 << 20; /* segment sizes */
static const int64_t LARGE_SEGMENT = 20 << 20, LARGE_MOST = 10 << 20, LARGE_ROUND = 2 << 20;

struct fy_user {
    int where;
    fy_point point;
    fy_user *next;
};

struct fy_pool {
    fy_pool_source source;
    bool pinned, broken, no_host_memory; /* no_host_memory: for block and segment descriptors */
    fy_block *free_small, *free_large;   /* trees */
    fy_block *waiting, **waiting_end;    /* in order of freeing */
    fy_block *spare;                     /* free list of nodes */
    fy_segment *segments;
    int last_number;
    fy_memory_stats now;
};

fy_pool *fy_pool_make(const fy_pool_source *source, fy_word mem)
{
    fy_pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->source = *source;
    p->pinned = mem == FY_WORD_pinned;
    p->waiting_end = &p->waiting;
    return p;
}

/* ---- sizes ---- */

static int64_t rounded(const fy_pool *p, int64_t bytes)
{
    int64_t power = FY_POOL_GRAIN;
    if (!p->pinned) return (bytes + FY_POOL_GRAIN - 1) / FY_POOL_GRAIN * FY_POOL_GRAIN;
    while (power < bytes) power *= 2;
    return power;
}

static int64_t segment_size(int64_t bytes)
{
    if (bytes <= SMALL_MOST) return SMALL_SEGMENT;
    if (bytes < LARGE_MOST) return LARGE_SEGMENT;
    return (bytes + LARGE_ROUND - 1) / LARGE_ROUND * LARGE_ROUND;
}

int64_t fy_pool_segment_for(int64_t bytes)
{
    return segment_size((bytes + FY_POOL_GRAIN - 1) / FY_POOL_GRAIN * FY_POOL_GRAIN);
}

static fy_block **tree_of(fy_pool *p, const fy_segment *s) { return s->small ? &p->free_small : &p->free_large; }

static void count_allocated(fy_pool *p, int64_t bytes, int64_t asked)
{
    fy_memory_stats *s = &p->now;
    s->allocated_bytes += bytes;
    s->requested_bytes += asked;
    s->allocations += bytes > 0 ? 1 : -1;
    if (s->allocated_bytes > s->max_allocated_bytes) s->max_allocated_bytes = s->allocated_bytes;
}

static void count_reserved(fy_pool *p, int64_t bytes)
{
    fy_memory_stats *s = &p->now;
    s->reserved_bytes += bytes;
    s->segments += bytes > 0 ? 1 : -1;
    if (s->reserved_bytes > s->max_reserved_bytes) s->max_reserved_bytes = s->reserved_bytes;
}

/* ---- nodes ---- */

static fy_block *new_node(fy_pool *p)
{
    fy_block *b = p->spare;
    if (b) p->spare = b->next;
    else b = malloc(sizeof *b);
    if (b) *b = (fy_block){0};
    else p->broken = p->no_host_memory = true;
    return b;
}

static void free_node(fy_pool *p, fy_block *b)
{
    b->next = p->spare;
    p->spare = b;
}

/* ---- segments ---- */

/* A block that spans a new segment, in no tree; NULL: out of memory, or broken. */
static fy_block *new_segment(fy_pool *p, int64_t bytes, int stream)
{
    fy_segment *s = malloc(sizeof *s);
    fy_block *b = new_node(p);
    fy_segment_result how = FY_SEGMENT_ERROR;
    if (!s) p->broken = p->no_host_memory = true;
    if (s && b) {
        *s = (fy_segment){.small = bytes <= SMALL_MOST && !p->pinned, .stream = stream, .first = b};
        s->bytes = p->pinned ? bytes : segment_size(bytes);
        b->segment = s;
        b->bytes = s->bytes;
        how = p->source.take(p->source.self, s);
        p->broken = how == FY_SEGMENT_ERROR;
    }
    if (how != FY_SEGMENT_OK) {
        free(s);
        if (b) free_node(p, b);
        return NULL;
    }

    fy_segment **at = &p->segments; /* sorted by address */
    while (*at && (*at)->addr < s->addr) at = &(*at)->next;
    s->next = *at;
    *at = s;
    s->number = ++p->last_number;
    count_reserved(p, s->bytes);
    return b;
}

static void free_segments(fy_pool *p, bool for_room)
{
    for (fy_segment **at = &p->segments; *at;) {
        fy_segment *s = *at;
        if (s->first->state != FY_BLOCK_FREE || s->first->next) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        fy_blocks_remove(tree_of(p, s), s->first);
        free_node(p, s->first);
        count_reserved(p, -s->bytes);
        p->source.give(p->source.self, s, for_room);
        free(s);
    }
}

/* ---- freed blocks ---- */

/* Merges b's right neighbour into b. */
static void absorb(fy_pool *p, fy_block *b)
{
    fy_block *next = b->next;
    b->bytes += next->bytes;
    b->next = next->next;
    if (b->next) b->next->prev = b;
    free_node(p, next);
}

static bool is_free(const fy_block *b) { return b && b->state == FY_BLOCK_FREE; }

static void free_block(fy_pool *p, fy_block *b)
{
    fy_block **tree = tree_of(p, b->segment);
    b->state = FY_BLOCK_FREE;
    if (is_free(b->next)) {
        fy_blocks_remove(tree, b->next);
        absorb(p, b);
    }
    if (is_free(b->prev)) {
        b = b->prev;
        fy_blocks_remove(tree, b);
        absorb(p, b);
    }
    fy_blocks_add(tree, b);
}

/* ---- other streams ---- */

bool fy_pool_use(fy_pool *p, fy_block *b, int where)
{
    fy_user **at = &b->users;
    if (!p->pinned && where == b->segment->stream) return true;
    for (; *at; at = &(*at)->next)
        if ((*at)->where == where) return true;
    *at = malloc(sizeof **at);
    if (*at) **at = (fy_user){.where = where};
    return *at != NULL;
}

static fy_user *drop_user(fy_user *u)
{
    fy_user *next = u->next;
    free(u);
    return next;
}

/* Streams run in order: one that has not reached an earlier point (a bit of `behind`) is not queried for later ones. */
static void drop_reached(fy_pool *p, fy_block *b, uint64_t *behind)
{
    for (fy_user **u = &b->users; *u;) {
        int where = (*u)->where;
        uint64_t bit = (uint64_t)1 << where % 64;
        if (!(behind[where / 64] & bit) && p->source.passed(p->source.self, where, &(*u)->point)) {
            *u = drop_user(*u);
            continue;
        }
        behind[where / 64] |= bit;
        u = &(*u)->next;
    }
}

/* Frees the blocks whose streams have reached their points; wait: waits for all. */
static void free_waiting(fy_pool *p, bool wait)
{
    uint64_t behind[FY_POOL_PLACES / 64] = {0};
    fy_block **at = &p->waiting;
    while (*at) {
        fy_block *b = *at;
        while (wait && b->users) {
            p->source.wait(p->source.self, b->users->where, &b->users->point);
            b->users = drop_user(b->users);
        }
        drop_reached(p, b, behind);
        if (b->users) {
            at = &b->right;
            continue;
        }
        *at = b->right;
        b->right = NULL;
        free_block(p, b);
    }
    p->waiting_end = at;
}

/* ---- take and give ---- */

/* Splits b after `bytes`; the rest becomes free, unless it is too small to split off. */
static void split(fy_pool *p, fy_block *b, int64_t bytes, fy_block *rest)
{
    int64_t remaining = b->bytes - bytes;
    if (p->pinned || (b->segment->small ? remaining < FY_POOL_GRAIN : remaining <= SMALL_MOST)) {
        free_node(p, rest);
        return;
    }
    *rest =
        (fy_block){.segment = b->segment, .offset = b->offset + bytes, .bytes = remaining, .prev = b, .next = b->next};
    if (rest->next) rest->next->prev = rest;
    b->next = rest;
    b->bytes = bytes;
    fy_blocks_add(tree_of(p, b->segment), rest);
}

fy_block *fy_pool_alloc(fy_pool *p, int64_t asked, int stream, void *owner)
{
    if (asked >= FY_POOL_EXABYTE) return NULL; /* as in PyTorch, before anything is freed */
    if (p->waiting) free_waiting(p, false);
    if (p->pinned) stream = 0;
    p->broken = p->no_host_memory = false;
    int64_t bytes = rounded(p, asked);
    fy_block **tree = bytes <= SMALL_MOST && !p->pinned ? &p->free_small : &p->free_large;
    fy_block *rest = new_node(p), *b = rest ? fy_blocks_fit(*tree, stream, bytes) : NULL;
    if (b) fy_blocks_remove(tree, b);
    if (!b && !p->broken) b = new_segment(p, bytes, stream);
    if (!b && !p->broken) {
        free_waiting(p, true);
        free_segments(p, true);
        p->now.num_alloc_retries++;
        b = new_segment(p, bytes, stream);
        if (!b) p->now.num_ooms++;
    }
    if (!b) {
        if (rest) free_node(p, rest);
        return NULL;
    }

    split(p, b, bytes, rest);
    b->state = FY_BLOCK_USED;
    b->asked = asked;
    b->owner = owner;
    count_allocated(p, b->bytes, asked);
    return b;
}

bool fy_pool_release(fy_pool *p, fy_block *b)
{
    count_allocated(p, -b->bytes, -b->asked);
    for (fy_user **u = &b->users; *u;)
        if (p->source.record(p->source.self, (*u)->where, &(*u)->point)) u = &(*u)->next;
        else *u = drop_user(*u);
    if (!b->users) return free_block(p, b), false;
    b->state = FY_BLOCK_WAITING;
    b->right = NULL;
    *p->waiting_end = b;
    p->waiting_end = &b->right;
    return true;
}

void fy_pool_empty(fy_pool *p)
{
    free_waiting(p, true);
    free_segments(p, false);
}

/* ---- statistics ---- */

bool fy_pool_out_of_host_memory(const fy_pool *p) { return p->no_host_memory; }
int64_t fy_pool_allocated(const fy_pool *p) { return p->now.allocated_bytes; }
int64_t fy_pool_reserved(const fy_pool *p) { return p->now.reserved_bytes; }
const fy_segment *fy_pool_segments(const fy_pool *p) { return p->segments; }

void fy_pool_reset_peaks(fy_pool *p)
{
    p->now.max_allocated_bytes = p->now.allocated_bytes;
    p->now.max_reserved_bytes = p->now.reserved_bytes;
}

int64_t fy_pool_largest(const fy_pool *p)
{
    int64_t most = 0;
    for (const fy_segment *s = p->segments; s; s = s->next)
        for (const fy_block *b = s->first; b; b = b->next)
            if (is_free(b) && b->bytes > most) most = b->bytes;
    return most;
}

fy_memory_stats fy_pool_stats(const fy_pool *p)
{
    fy_memory_stats stats = p->now;
    for (const fy_segment *s = p->segments; s; s = s->next)
        for (const fy_block *b = s->first; b; b = b->next)
            if (is_free(b) && b->bytes < s->bytes) stats.inactive_split_bytes += b->bytes;
    return stats;
}

void fy_pool_free(fy_pool *p)
{
    while (p->segments) {
        fy_segment *s = p->segments;
        p->segments = s->next;
        while (s->first) {
            fy_block *b = s->first;
            s->first = b->next;
            while (b->users) b->users = drop_user(b->users);
            free(b);
        }
        free(s);
    }
    while (p->spare) {
        fy_block *b = p->spare;
        p->spare = b->next;
        free(b);
    }
    free(p);
}
