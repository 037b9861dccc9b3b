/* allocator_text.c: a pool's contents as text: messages, and one bar per segment. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caching_allocator.h"
#include "text.h"

/* ---- sizes ---- */

const char *fy_size_text(int64_t bytes, char *buf, size_t room)
{
    double n = (double)bytes;
    if (bytes <= 1 << 10) snprintf(buf, room, "%" PRId64 " bytes", bytes);
    else if (bytes <= 1 << 20) snprintf(buf, room, "%.2f KiB", n / 1024);
    else if (bytes <= 1 << 30) snprintf(buf, room, "%.2f MiB", n / 1048576);
    else snprintf(buf, room, "%.2f GiB", n / 1073741824);
    return buf;
}

/* For sentences: "6 MiB", "1.5 MiB"; two decimals ("2.00 MiB") only if not a multiple of half a unit. */
static const char *short_size(int64_t bytes, char *buf, size_t room)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    int u = bytes >= 1 << 30 ? 2 : bytes >= 1 << 20 ? 1 : 0;
    int64_t unit = (int64_t)1 << (10 * (u + 1));
    if (bytes < 1024) snprintf(buf, room, "%" PRId64 " bytes", bytes);
    else snprintf(buf, room, bytes * 2 % unit ? "%.2f %s" : "%g %s", (double)bytes / (double)unit, units[u]);
    return buf;
}

void fy_pool_oom_text(const fy_pool *p, int64_t asked, int gpu, int64_t capacity, const char *owner, char *buf,
                      size_t room)
{
    char want[32], all[32], used[32], left[32], held[32];
    if (asked >= FY_POOL_EXABYTE) {
        snprintf(buf, room, "CUDA out of memory. Tried to allocate more than 1EB memory.");
        return;
    }
    snprintf(buf, room,
             "CUDA out of memory. Tried to allocate %s (GPU %d; %s total capacity; %s already allocated; %s free; "
             "%s reserved in total by %s)",
             fy_size_text(fy_pool_segment_for(asked), want, sizeof want), gpu, fy_size_text(capacity, all, sizeof all),
             fy_size_text(fy_pool_allocated(p), used, sizeof used),
             fy_size_text(capacity - fy_pool_reserved(p), left, sizeof left),
             fy_size_text(fy_pool_reserved(p), held, sizeof held), owner);
}

/* ---- one segment ---- */

/* Text in a fixed buffer; ends in " ..." if truncated. */
typedef struct line {
    char *buf;
    size_t room, n;
    bool full;
} line;

static void add(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(line *l, const char *format, ...)
{
    va_list list;
    if (l->full) return;
    va_start(list, format);
    int n = vsnprintf(l->buf + l->n, l->room - l->n, format, list);
    va_end(list);
    l->full = n < 0 || l->n + (size_t)n + 5 > l->room;
    if (l->full) snprintf(l->buf + l->n, l->room - l->n, " ...");
    else l->n += (size_t)n;
}

typedef struct free_bytes {
    int64_t all, largest;
} free_bytes;

static free_bytes free_bytes_of(const fy_segment *s)
{
    free_bytes h = {0};
    for (const fy_block *b = s->first; b; b = b->next) {
        if (b->state != FY_BLOCK_FREE) continue;
        h.all += b->bytes;
        if (b->bytes > h.largest) h.largest = b->bytes;
    }
    return h;
}

/* If the buffer is short, the list of blocks is truncated, never the totals at its end. */
void fy_pool_fragmentation_text(const fy_pool *p, fy_block_name *name, char *buf, size_t room)
{
    const fy_segment *s = NULL;
    free_bytes h = {0};
    char size[32], owner[200], totals[120];
    buf[0] = 0;
    for (const fy_segment *each = fy_pool_segments(p); each; each = each->next) {
        free_bytes of_each = free_bytes_of(each);
        if (of_each.all <= h.all) continue;
        s = each;
        h = of_each;
    }
    if (!s) return;

    int n = snprintf(totals, sizeof totals, "; %s of it are free", short_size(h.all, size, sizeof size));
    snprintf(totals + n, sizeof totals - (size_t)n, ", the largest block is %s",
             short_size(h.largest, size, sizeof size));
    if (room < 2 * strlen(totals)) return;

    line l = {.buf = buf, .room = room - strlen(totals)};
    add(&l, "segment of %s at 0x%" PRIx64 ": ", short_size(s->bytes, size, sizeof size), s->addr);
    for (const fy_block *b = s->first; b; b = b->next) {
        if (b != s->first) add(&l, ", ");
        short_size(b->bytes, size, sizeof size);
        if (b->state == FY_BLOCK_FREE) add(&l, "%s free", size);
        else if (b->state == FY_BLOCK_WAITING) add(&l, "%s waiting for another stream", size);
        else add(&l, "%s used by %s", size, name(b, owner, sizeof owner));
    }
    memcpy(buf + strlen(buf), totals, strlen(totals) + 1);
}

/* ---- blocks in use ---- */

enum { NAMED = 4, GROUPS = 64 };

typedef struct group { /* blocks of one name and call site */
    char owner[160];
    int64_t bytes;
    int count;
} group;

/* Returns the number of groups; blocks beyond GROUPS groups are counted in *others. */
static int count_block(group *groups, int n, const fy_block *b, fy_block_name *name, int *others)
{
    char owner[sizeof groups->owner];
    int i = 0;
    name(b, owner, sizeof owner);
    while (i < n && strcmp(groups[i].owner, owner)) i++;
    if (i == GROUPS) return ++*others, n;
    if (i == n) memcpy(groups[n++].owner, owner, sizeof owner);
    groups[i].bytes += b->bytes;
    groups[i].count++;
    return n;
}

static int by_bytes(const void *pa, const void *pb)
{
    const group *a = pa, *b = pb;
    return a->bytes != b->bytes ? (a->bytes > b->bytes ? -1 : 1) : strcmp(a->owner, b->owner);
}

void fy_pool_usage_text(const fy_pool *p, fy_block_name *name, char *buf, size_t room)
{
    group groups[GROUPS] = {0};
    char size[32];
    int n = 0, others = 0;
    line l = {.buf = buf, .room = room};
    for (const fy_segment *s = fy_pool_segments(p); s; s = s->next)
        for (const fy_block *b = s->first; b; b = b->next)
            if (b->state == FY_BLOCK_USED) n = count_block(groups, n, b, name, &others);
    qsort(groups, (size_t)n, sizeof *groups, by_bytes);
    buf[0] = 0;
    for (int i = 0; i < n; i++) {
        if (i >= NAMED) others += groups[i].count;
        else if (groups[i].count == 1)
            add(&l, "%s%s %s", i ? ", " : "", groups[i].owner, short_size(groups[i].bytes, size, sizeof size));
        else
            add(&l, "%s%d tensors %s, %s together", i ? ", " : "", groups[i].count, groups[i].owner,
                short_size(groups[i].bytes, size, sizeof size));
    }
    if (others) add(&l, " and %d more", others);
}

/* ---- bars ---- */

enum { BAR = 64 };

/* The letter of the n-th block in use; wraps around after z. */
static char letter(int n) { return (char)('a' + n % 26); }

static void draw_bar(const fy_segment *s, fy_text *out)
{
    int n = 0;
    int64_t at = 0; /* cells drawn */
    fy_text_printf(out, "  [");
    for (const fy_block *b = s->first; b; b = b->next) {
        int64_t end = (int64_t)((double)(b->offset + b->bytes) / (double)s->bytes * BAR + 0.5);
        char c = b->state == FY_BLOCK_FREE ? '.' : b->state == FY_BLOCK_WAITING ? '~' : letter(n);
        n += b->state == FY_BLOCK_USED;
        if (b->state != FY_BLOCK_FREE && end == at && at < BAR) end++; /* at least one cell */
        for (; at < end; at++) fy_text_printf(out, "%c", c);
    }
    fy_text_printf(out, "]\n");
}

static bool is_alike(const fy_block *a, const fy_block *b, fy_block_name *name)
{
    char owner[200], other[200];
    return b && b->state == FY_BLOCK_USED && a->bytes == b->bytes &&
           !strcmp(name(a, owner, sizeof owner), name(b, other, sizeof other));
}

/* One line for b and the identical blocks that follow it; returns the last of them. */
static const fy_block *draw_used(const fy_block *b, int *n, fy_block_name *name, fy_text *out)
{
    const fy_block *last = b;
    char size[32], owner[200];
    int first = *n, count = 1;
    for (; is_alike(b, last->next, name); last = last->next) count++;
    *n += count;
    short_size(b->bytes, size, sizeof size);
    name(b, owner, sizeof owner);
    if (count == 1) fy_text_printf(out, "   %c  %s %s\n", letter(first), size, owner);
    else fy_text_printf(out, "   %c to %c  %d x %s %s\n", letter(first), letter(*n - 1), count, size, owner);
    return last;
}

static void draw_names(const fy_segment *s, fy_block_name *name, fy_text *out)
{
    char size[32];
    int n = 0;
    for (const fy_block *b = s->first; b; b = b->next) {
        short_size(b->bytes, size, sizeof size);
        if (b->state == FY_BLOCK_FREE) fy_text_printf(out, "   .  %s free\n", size);
        else if (b->state == FY_BLOCK_WAITING) fy_text_printf(out, "   ~  %s waiting for another stream\n", size);
        else b = draw_used(b, &n, name, out);
    }
}

void fy_pool_draw(const fy_pool *p, fy_block_name *name, fy_text *out)
{
    char size[32];
    for (const fy_segment *s = fy_pool_segments(p); s; s = s->next) {
        fy_text_printf(out, "  0x%" PRIx64 "  %s, %s blocks, stream %d\n", s->addr,
                       short_size(s->bytes, size, sizeof size), s->small ? "small" : "large", s->stream);
        draw_bar(s, out);
        draw_names(s, name, out);
    }
}
