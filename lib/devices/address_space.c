/* address_space.c: a first-fit allocator of address ranges, which need not be mapped.
 *
 * It allocates VRAM and the modelled addresses of the log: from the front of the lowest hole that is large enough. A
 * freed range merges with adjacent holes at once. So the same calls return the same addresses on every machine. Not
 * thread-safe: the owner locks.
 *
 *      base                                              base + bytes
 *       | used  | hole | used  | hole ................... |
 *
 * Holes are a list, sorted by address. A hash table has an entry for every address ever allocated: the size of the
 * range there (0: freed) and how many tenants the address has had. A segment is one range with tenants at addresses
 * inside it (fy_address_space_reuse). */
#include "address_space.h"

#include <stdlib.h>

typedef struct hole {
    uint64_t addr, bytes;
    struct hole *next;
} hole;

/* Holes are allocated in chunks and ahead of need, so that freeing never needs memory. */
typedef struct hole_chunk {
    struct hole_chunk *next;
    hole holes[64];
} hole_chunk;

typedef struct entry {
    uint64_t addr; /* 0: empty */
    uint64_t bytes;
    uint32_t tenants;
} entry;

struct fy_address_space {
    uint64_t align;
    hole *holes, *spare;
    size_t spares, in_use; /* spares > in_use: each range in use may become a hole of its own */
    hole_chunk *chunks;
    entry *table; /* open addressing; room is a power of two */
    size_t used, room;
};

static bool grow_spares(struct fy_address_space *r)
{
    hole_chunk *chunk = malloc(sizeof *chunk);
    size_t n = sizeof chunk->holes / sizeof *chunk->holes;
    if (!chunk) return false;
    chunk->next = r->chunks;
    r->chunks = chunk;
    for (size_t i = 0; i < n; i++) {
        chunk->holes[i].next = r->spare;
        r->spare = &chunk->holes[i];
    }
    r->spares += n;
    return true;
}

static hole *new_hole(struct fy_address_space *r, hole as)
{
    hole *h = r->spare;
    r->spare = h->next;
    r->spares--;
    *h = as;
    return h;
}

static void release_hole(struct fy_address_space *r, hole *h)
{
    h->next = r->spare;
    r->spare = h;
    r->spares++;
}

static size_t slot_of(const struct fy_address_space *r, uint64_t addr)
{
    size_t i = (size_t)((addr / r->align * 0x9e3779b97f4a7c15u) >> 20) & (r->room - 1);
    while (r->table[i].addr && r->table[i].addr != addr) i = (i + 1) & (r->room - 1);
    return i;
}

/* Doubles the table; false if out of memory, table unchanged. */
static bool grow_table(struct fy_address_space *r)
{
    struct fy_address_space bigger = *r;
    bigger.room = r->room * 2;
    bigger.table = calloc(bigger.room, sizeof(entry));
    if (!bigger.table) return false;
    for (size_t i = 0; i < r->room; i++)
        if (r->table[i].addr) bigger.table[slot_of(&bigger, r->table[i].addr)] = r->table[i];
    free(r->table);
    r->table = bigger.table;
    r->room = bigger.room;
    return true;
}

struct fy_address_space *fy_address_space_make(uint64_t base, uint64_t bytes, uint64_t align)
{
    struct fy_address_space *r = calloc(1, sizeof *r);
    entry *table = calloc(64, sizeof *table);
    if (!r || !table || !grow_spares(r)) {
        free(r), free(table);
        return NULL;
    }
    r->align = align;
    r->holes = new_hole(r, (hole){base, bytes / align * align, NULL});
    r->table = table;
    r->room = 64;
    return r;
}

static uint64_t take_first_fit(struct fy_address_space *r, uint64_t bytes)
{
    for (hole **h = &r->holes; *h; h = &(*h)->next) {
        if ((*h)->bytes < bytes) continue;
        uint64_t addr = (*h)->addr;
        (*h)->addr += bytes;
        (*h)->bytes -= bytes;
        if ((*h)->bytes == 0) {
            hole *empty = *h;
            *h = empty->next;
            release_hole(r, empty);
        }
        return addr;
    }
    return 0;
}

bool fy_address_space_reserve(struct fy_address_space *r)
{
    return (r->used * 2 + 2 < r->room || grow_table(r)) && (r->spares > r->in_use || grow_spares(r));
}

uint64_t fy_address_space_alloc(struct fy_address_space *r, uint64_t bytes, uint32_t *tenant)
{
    uint64_t addr = 0;
    if (bytes > UINT64_MAX - r->align) return 0;
    bytes = (bytes + r->align - 1) / r->align * r->align;
    if (bytes == 0) bytes = r->align;
    if (fy_address_space_reserve(r)) addr = take_first_fit(r, bytes);
    if (addr) {
        entry *p = &r->table[slot_of(r, addr)];
        if (!p->addr) r->used++;
        r->in_use++;
        p->addr = addr;
        p->bytes = bytes;
        if (tenant) *tenant = p->tenants++;
    }
    return addr;
}

uint32_t fy_address_space_reuse(struct fy_address_space *r, uint64_t addr)
{
    entry *p = &r->table[slot_of(r, addr)];
    if (!p->addr) r->used++;
    p->addr = addr;
    return p->tenants++;
}

/* The range becomes a hole, merged with adjacent ones. */
void fy_address_space_release(struct fy_address_space *r, uint64_t addr)
{
    if (!addr) return;
    entry *p = &r->table[slot_of(r, addr)];
    if (p->addr != addr || !p->bytes) return;

    hole *before = NULL, *after = r->holes;
    while (after && after->addr < addr) before = after, after = after->next;
    if (before && before->addr + before->bytes == addr) {
        before->bytes += p->bytes;
    } else {
        hole *new = new_hole(r, (hole){addr, p->bytes, after});
        *(before ? &before->next : &r->holes) = new;
        before = new;
    }
    if (after && before->addr + before->bytes == after->addr) {
        before->bytes += after->bytes;
        before->next = after->next;
        release_hole(r, after);
    }
    p->bytes = 0;
    r->in_use--;
}

uint64_t fy_address_space_largest(const struct fy_address_space *r)
{
    uint64_t most = 0;
    for (const hole *h = r->holes; h; h = h->next)
        if (h->bytes > most) most = h->bytes;
    return most;
}

void fy_address_space_free(struct fy_address_space *r)
{
    if (!r) return;
    while (r->chunks) {
        hole_chunk *next = r->chunks->next;
        free(r->chunks);
        r->chunks = next;
    }
    free(r->table);
    free(r);
}
