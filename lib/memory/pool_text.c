/* pool_text.c: what a pool holds, in words and drawn. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "log.h"
#include "pool.h"

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

/* "6 MiB", "1.5 MiB", and "2.00 MiB" where it is not quite: for sentences, where round numbers are the rule. */
static const char *short_size(int64_t bytes, char *buf, size_t room)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    int u = bytes >= 1 << 30 ? 2 : bytes >= 1 << 20 ? 1 : 0;
    int64_t unit = (int64_t)1 << (10 * (u + 1));
    if (bytes < 1024) snprintf(buf, room, "%" PRId64 " bytes", bytes);
    else snprintf(buf, room, bytes * 2 % unit ? "%.2f %s" : "%g %s", (double)bytes / (double)unit, units[u]);
    return buf;
}

void fy_pool_full_text(const fy_pool *p, int64_t asked, int gpu, int64_t capacity, const char *owner, char *buf,
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

/* ---- a segment in words ---- */

/* Text that ends in " ..." where there is no more room. */
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

typedef struct holes {
    int64_t all, largest;
} holes;

static holes holes_of(const fy_segment *s)
{
    holes h = {0};
    for (const fy_block *b = s->first; b; b = b->next) {
        if (b->state != FY_BLOCK_FREE) continue;
        h.all += b->bytes;
        if (b->bytes > h.largest) h.largest = b->bytes;
    }
    return h;
}

static const fy_segment *most_in_pieces(const fy_pool *p)
{
    const fy_segment *most = NULL;
    for (const fy_segment *s = fy_pool_segments(p); s; s = s->next)
        if (holes_of(s).all > (most ? holes_of(most).all : 0)) most = s;
    return most;
}

static void add_block(line *l, const fy_block *b, fy_block_name *name)
{
    char size[32], who[200];
    short_size(b->bytes, size, sizeof size);
    if (b->state == FY_BLOCK_FREE) add(l, "%s free", size);
    else if (b->state == FY_BLOCK_WAITING) add(l, "%s waiting for another stream", size);
    else add(l, "%s used by %s", size, name(b, who, sizeof who));
}

/* The sums come last, and always fit: the pieces in the middle give way. */
void fy_pool_pieces_text(const fy_pool *p, fy_block_name *name, char *buf, size_t room)
{
    const fy_segment *s = most_in_pieces(p);
    char size[32], sums[120];
    buf[0] = 0;
    if (!s) return;
    holes h = holes_of(s);
    int n = snprintf(sums, sizeof sums, "; %s are free in all", short_size(h.all, size, sizeof size));
    snprintf(sums + n, sizeof sums - (size_t)n, ", the largest piece is %s", short_size(h.largest, size, sizeof size));
    if (room < 2 * strlen(sums)) return;
    line l = {.buf = buf, .room = room - strlen(sums)};
    add(&l, "segment of %s at 0x%" PRIx64 ": ", short_size(s->bytes, size, sizeof size), s->addr);
    for (const fy_block *b = s->first; b; b = b->next) {
        if (b != s->first) add(&l, ", ");
        add_block(&l, b, name);
    }
    memcpy(buf + strlen(buf), sums, strlen(sums) + 1);
}

/* ---- what lives ---- */

enum { NAMED = 4 };

/* Into the list of the largest, in order; what falls off its end is forgotten. */
static void rank(const fy_block *most[NAMED], const fy_block *b)
{
    for (int i = 0; i < NAMED && b; i++) {
        const fy_block *there = most[i];
        if (there && there->bytes >= b->bytes) continue;
        most[i] = b;
        b = there;
    }
}

/* How many there are in all. */
static int largest_living(const fy_pool *p, const fy_block *most[NAMED])
{
    int n = 0;
    for (const fy_segment *s = fy_pool_segments(p); s; s = s->next)
        for (const fy_block *b = s->first; b; b = b->next)
            if (b->state == FY_BLOCK_USED) n++, rank(most, b);
    return n;
}

void fy_pool_living_text(const fy_pool *p, fy_block_name *name, char *buf, size_t room)
{
    const fy_block *most[NAMED] = {0};
    char size[32], who[200];
    int n = largest_living(p, most);
    line l = {.buf = buf, .room = room};
    buf[0] = 0;
    for (int i = 0; i < NAMED && most[i]; i++)
        add(&l, "%s%s %s", i ? ", " : "", name(most[i], who, sizeof who),
            short_size(most[i]->bytes, size, sizeof size));
    if (n > NAMED) add(&l, " and %d more", n - NAMED);
}

/* ---- drawn ---- */

enum { BAR = 64 };

/* The letter of the n-th block in use; after z they begin anew. */
static char letter(int n) { return (char)('a' + n % 26); }

static void draw_bar(const fy_segment *s, fy_text *out)
{
    int n = 0;
    int64_t at = 0; /* cells that are drawn */
    fy_text_printf(out, "  [");
    for (const fy_block *b = s->first; b; b = b->next) {
        int64_t end = (int64_t)((double)(b->offset + b->bytes) / (double)s->bytes * BAR + 0.5);
        char c = b->state == FY_BLOCK_FREE ? '.' : b->state == FY_BLOCK_WAITING ? '~' : letter(n);
        n += b->state == FY_BLOCK_USED;
        if (b->state != FY_BLOCK_FREE && end == at && at < BAR) end++; /* what is in use is seen */
        for (; at < end; at++) fy_text_printf(out, "%c", c);
    }
    fy_text_printf(out, "]\n");
}

static void draw_names(const fy_segment *s, fy_block_name *name, fy_text *out)
{
    char size[32], who[200];
    int n = 0;
    for (const fy_block *b = s->first; b; b = b->next) {
        short_size(b->bytes, size, sizeof size);
        if (b->state == FY_BLOCK_FREE) fy_text_printf(out, "   .  %s free\n", size);
        else if (b->state == FY_BLOCK_WAITING) fy_text_printf(out, "   ~  %s waiting for another stream\n", size);
        else fy_text_printf(out, "   %c  %s %s\n", letter(n++), size, name(b, who, sizeof who));
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
