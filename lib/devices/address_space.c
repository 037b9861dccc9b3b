/* address_space.c: first fit over an address range that need not exist.
 *
 * It hands out VRAM, and it makes the modelled addresses of the log: the lowest hole that is large
 * enough is taken from its front; what is given back merges with its neighbours at once. So the same
 * calls get the same addresses on every machine. Whoever has a range holds a lock while calling.
 *
 *      base                                              base + bytes
 *       | taken | hole | taken | hole ................... |
 *
 * Holes are a list in order of address. Every address ever handed out has an entry in a hash table:
 * how long the piece is now (0: given back) and how many tenants it has had. A segment is a piece with tenants at
 * addresses within (fy_address_space_reuse). */
#include "address_space.h"

#include <stdlib.h>

typedef struct hole {
    uint64_t addr, bytes;
    struct hole *next;
} hole;

/* Holes are taken so many at a time, and ahead: giving back needs no memory. */
typedef struct supply {
    struct supply *next;
    hole holes[64];
} supply;

typedef struct place {
    uint64_t addr; /* 0: an empty entry */
    uint64_t bytes;
    uint32_t tenants;
} place;

struct fy_address_space {
    uint64_t align;
    hole *holes, *spare;
    size_t spares, taken; /* of the pieces that are taken each may become a hole of its own */
    supply *supplies;
    place *places; /* open addressing, room is a power of two */
    size_t used, room;
};

static bool add_spares(struct fy_address_space *r)
{
    supply *more = malloc(sizeof *more);
    size_t n = sizeof more->holes / sizeof *more->holes;
    if (!more) return false;
    more->next = r->supplies;
    r->supplies = more;
    for (size_t i = 0; i < n; i++) {
        more->holes[i].next = r->spare;
        r->spare = &more->holes[i];
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

static void end_hole(struct fy_address_space *r, hole *h)
{
    h->next = r->spare;
    r->spare = h;
    r->spares++;
}

static size_t slot_of(const struct fy_address_space *r, uint64_t addr)
{
    size_t i = (size_t)((addr / r->align * 0x9e3779b97f4a7c15u) >> 20) & (r->room - 1);
    while (r->places[i].addr && r->places[i].addr != addr) i = (i + 1) & (r->room - 1);
    return i;
}

/* Double the table; false if there is no memory, and then it stays as it was. */
static bool grow(struct fy_address_space *r)
{
    struct fy_address_space bigger = *r;
    bigger.room = r->room * 2;
    bigger.places = calloc(bigger.room, sizeof(place));
    if (!bigger.places) return false;
    for (size_t i = 0; i < r->room; i++)
        if (r->places[i].addr) bigger.places[slot_of(&bigger, r->places[i].addr)] = r->places[i];
    free(r->places);
    r->places = bigger.places;
    r->room = bigger.room;
    return true;
}

struct fy_address_space *fy_address_space_make(uint64_t base, uint64_t bytes, uint64_t align)
{
    struct fy_address_space *r = calloc(1, sizeof *r);
    place *places = calloc(64, sizeof *places);
    if (!r || !places || !add_spares(r)) {
        free(r), free(places);
        return NULL;
    }
    r->align = align;
    r->holes = new_hole(r, (hole){base, bytes / align * align, NULL});
    r->places = places;
    r->room = 64;
    return r;
}

/* Cut `bytes` off the front of the first hole that has them. */
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
            end_hole(r, empty);
        }
        return addr;
    }
    return 0;
}

bool fy_address_space_ready(struct fy_address_space *r)
{
    return (r->used * 2 + 2 < r->room || grow(r)) && (r->spares > r->taken || add_spares(r));
}

uint64_t fy_address_space_take(struct fy_address_space *r, uint64_t bytes, uint32_t *tenant)
{
    uint64_t addr = 0;
    if (bytes > UINT64_MAX - r->align) return 0;
    bytes = (bytes + r->align - 1) / r->align * r->align;
    if (bytes == 0) bytes = r->align;
    if (fy_address_space_ready(r)) addr = take_first_fit(r, bytes);
    if (addr) {
        place *p = &r->places[slot_of(r, addr)];
        if (!p->addr) r->used++;
        r->taken++;
        p->addr = addr;
        p->bytes = bytes;
        if (tenant) *tenant = p->tenants++;
    }
    return addr;
}

uint32_t fy_address_space_reuse(struct fy_address_space *r, uint64_t addr)
{
    place *p = &r->places[slot_of(r, addr)];
    if (!p->addr) r->used++;
    p->addr = addr;
    return p->tenants++;
}

/* Make [addr, addr + bytes) a hole, one with the holes that it touches. */
static void put_back(struct fy_address_space *r, uint64_t addr, uint64_t bytes)
{
    hole *before = NULL, *after = r->holes;
    while (after && after->addr < addr) before = after, after = after->next;
    if (before && before->addr + before->bytes == addr) {
        before->bytes += bytes;
    } else {
        hole *new = new_hole(r, (hole){addr, bytes, after});
        *(before ? &before->next : &r->holes) = new;
        before = new;
    }
    if (after && before->addr + before->bytes == after->addr) {
        before->bytes += after->bytes;
        before->next = after->next;
        end_hole(r, after);
    }
}

void fy_address_space_give(struct fy_address_space *r, uint64_t addr)
{
    if (!addr) return;
    place *p = &r->places[slot_of(r, addr)];
    if (p->addr == addr && p->bytes) {
        put_back(r, addr, p->bytes);
        p->bytes = 0;
        r->taken--;
    }
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
    while (r->supplies) {
        supply *next = r->supplies->next;
        free(r->supplies);
        r->supplies = next;
    }
    free(r->places);
    free(r);
}
