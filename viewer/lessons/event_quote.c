/* event_quote.c: see event_quote.h. */
#define _GNU_SOURCE 1 /* memrchr */

#include "event_quote.h"

#include <stdlib.h>
#include <string.h>

#include "event_reader.h"
#include "log_format.h"
#include "narrate.h"

enum { JSON_SHOWN = 200 };

/* ---- words for what narration tells with another event, or not at all -------------------------------------- */

static void add_bytes(fy_text *to, fy_bytes text)
{
    for (size_t i = 0; i < text.size; i++) /* a name comes from the program */
        fy_text_add(to, (unsigned char)text.data[i] < ' ' || text.data[i] == 127 ? "?" : text.data + i, 1);
}

/* " of x": the variable that shows a storage first; nothing if none has a name. */
static void add_name_of(fy_text *to, fy_log *log, uint32_t storage)
{
    uint64_t cursor = 0;
    uint32_t tensor = 0;
    fy_event e;
    fy_bytes name = {0};
    while (!name.size && fy_event_next(log, &cursor, &e)) {
        if (e.kind == FY_KIND_tensor && !tensor && e.is.tensor.storage == storage) {
            tensor = e.is.tensor.tensor;
            name = fy_event_bytes(&e, e.is.tensor.name);
        } else if (e.kind == FY_KIND_name && tensor && e.is.name.tensor == tensor) {
            name = fy_event_bytes(&e, e.is.name.name);
        }
    }
    if (!name.size) return;
    fy_text_str(to, " of ");
    add_bytes(to, name);
}

static void add_alloc(fy_text *to, fy_log *log, const fy_event *e)
{
    char device[16] = "";
    fy_device_name(e->is.alloc.device, device);
    fy_text_printf(to, "memory  storage %u", e->is.alloc.storage);
    add_name_of(to, log, e->is.alloc.storage);
    fy_text_printf(to, "  %lld bytes%s on %s", (long long)e->is.alloc.bytes,
                   e->is.alloc.mem == FY_WORD_pinned ? ", page-locked," : "", device);
}

/* The event of a copy or an op with this id; -1: none. */
static int64_t work_of(fy_log *log, uint32_t id)
{
    uint64_t cursor = 0;
    fy_event e;
    while (fy_event_next(log, &cursor, &e))
        if ((e.kind == FY_KIND_copy && e.is.copy.id == id) || (e.kind == FY_KIND_op && e.is.op.id == id))
            return (int64_t)e.seq;
    return -1;
}

static void add_complete(fy_text *to, fy_log *log, const fy_event *e)
{
    const fy_ev_complete *c = &e->is.complete;
    int64_t work = work_of(log, c->id);
    fy_text_printf(to, "done  work %u", c->id);
    if (work >= 0) fy_text_printf(to, ", event %lld", (long long)work);
    double most = (double)fy_took_at_most(c) / 1e3, least = (double)fy_took_at_least(c) / 1e3;
    if (least <= 0 && most > 0) fy_text_printf(to, "  it took at most %.1f us", most);
    else if (least < most) fy_text_printf(to, "  it took between %.1f and %.1f us", least, most);
    else fy_text_printf(to, "  it took %.1f us", most);
}

static void add_sync(fy_text *to, const fy_event *e)
{
    const fy_ev_sync *s = &e->is.sync;
    fy_text_str(to, "wait  for a copy");
    if (s->cause) fy_text_printf(to, ", event %lld", (long long)s->cause - 1);
    fy_text_printf(to, "  it blocked the program for %.1f us", (double)s->held / 1e3);
}

static void add_graph(fy_text *to, const fy_event *e)
{
    const fy_ev_graph *node = &e->is.graph;
    size_t saved = fy_event_bytes(e, node->saves).size / sizeof(uint32_t);
    fy_text_printf(to, "graph  node %u, ", node->node);
    add_bytes(to, fy_event_bytes(e, node->op));
    if (node->what == FY_WORD_release) fy_text_str(to, "  released");
    else fy_text_printf(to, "  recorded; it keeps %zu tensor%s for the gradient", saved, saved == 1 ? "" : "s");
}

/* "41.2 us  memory  storage 7 of x  4096 bytes on cuda:0  01.c:18", as narration's lines are; false: no words for it. */
static bool add_words(fy_text *to, fy_log *log, const fy_event *e)
{
    fy_text_printf(to, "%.1f us  ", (double)e->t / 1e3);
    switch (e->kind) {
    case FY_KIND_alloc: add_alloc(to, log, e); break;
    case FY_KIND_complete: add_complete(to, log, e); break;
    case FY_KIND_sync: add_sync(to, e); break;
    case FY_KIND_graph: add_graph(to, e); break;
    default: return false;
    }
    if (!e->line) return true;
    fy_bytes file = fy_event_bytes(e, e->file);
    const char *slash = file.size ? memrchr(file.data, '/', file.size) : NULL;
    size_t folders = slash ? (size_t)(slash + 1 - file.data) : 0;
    fy_text_str(to, "  ");
    add_bytes(to, (fy_bytes){file.data + folders, file.size - folders});
    fy_text_printf(to, ":%u", e->line);
    return true;
}

/* ---- the quote ------------------------------------------------------------------------------------------------ */

/* The event's line of the log, cut. */
static void add_json(fy_text *to, fy_log *log, uint64_t seq)
{
    fy_text line = {0};
    fy_log_read(log, &seq, &line, 1);
    size_t size = line.size;
    while (size && line.data[size - 1] == '\n') size--;
    fy_text_add(to, line.data ? line.data : "", size < JSON_SHOWN ? size : JSON_SHOWN);
    if (size > JSON_SHOWN) fy_text_str(to, " ...");
    to->lost |= line.lost;
    free(line.data);
}

static bool event_at(fy_log *log, uint64_t seq, fy_event *e)
{
    uint64_t cursor = seq;
    return fy_event_next(log, &cursor, e) && e->seq == seq;
}

/* Columns closed up: two spaces at most, none in front. */
static void close_up(const fy_text *line, char *out, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < line->size && n + 1 < room; i++) {
        char c = line->data[i];
        bool is_gap = c == ' ' && (n == 0 || (n > 1 && out[n - 1] == ' ' && out[n - 2] == ' '));
        if (!is_gap) out[n++] = c;
    }
    out[n] = '\0';
}

void event_quote(fy_log *log, uint64_t seq, char *out, size_t room)
{
    fy_text line = {0};
    fy_event e;
    *out = '\0';
    if (!event_at(log, seq, &e)) return;
    fy_narrate_event(log, seq, &line);
    if (!line.size && !add_words(&line, log, &e)) {
        line.size = 0;
        add_json(&line, log, seq);
    }
    close_up(&line, out, room);
    free(line.data);
}
