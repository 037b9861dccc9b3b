/* narrate_state.c: what a narrator remembers of tensors and storages, and the columns of its lines. The log may be
 * damaged: every reference is bounds-checked, and an id in it cannot cause an unbounded allocation. */
#include "narrate_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "event.h"
#include "log.h"
#include "log_format.h"
#include "record_fields.h"
#include "text.h"

void fy_narrator_state_free(fy_narrator_state *s)
{
    free(s->tensors);
    free(s->storages);
}

/* Element `id` of a table, which grows to hold it; NULL if the id is too large or memory runs out. */
static void *element(fy_narrator_state *s, void **table, uint32_t *capacity, uint32_t id, size_t size)
{
    if (id >= FY_KNOWN_MAX) return NULL;
    if (id >= *capacity) {
        uint32_t new_room = *capacity ? *capacity : 64;
        while (new_room <= id) new_room *= 2;
        char *grown = realloc(*table, new_room * size);
        if (!grown) return s->lost = true, NULL;
        memset(grown + *capacity * size, 0, (new_room - *capacity) * size);
        *table = grown;
        *capacity = new_room;
    }
    return (char *)*table + id * size;
}

fy_known_tensor *fy_narrator_tensor(fy_narrator_state *s, uint32_t tensor)
{
    static _Thread_local fy_known_tensor unknown;
    fy_known_tensor *t = element(s, (void **)&s->tensors, &s->tensor_room, tensor, sizeof *t);
    unknown = (fy_known_tensor){0};
    return t ? t : &unknown;
}

fy_known_storage *fy_narrator_storage(fy_narrator_state *s, uint32_t storage)
{
    static _Thread_local fy_known_storage unknown;
    fy_known_storage *b = element(s, (void **)&s->storages, &s->storage_room, storage, sizeof *b);
    unknown = (fy_known_storage){0};
    return b ? b : &unknown;
}

void fy_line_begin(fy_narration *t, const char *verb)
{
    const fy_event *e = &t->event;
    t->line = (fy_line){.time = e->t, .bytes = -1, .verb = verb, .th = e->th, .place = {e->file, e->fn, e->line}};
}

/* ---- parts of a line ---- */

void fy_add_string(const fy_log *log, fy_text *out, fy_ref ref)
{
    size_t size = 0;
    const char *s = fy_log_bytes(log, ref, &size);
    if (!s) return;
    size = size > 400 ? 400 : size;
    while (size && !fy_utf8_is_valid(s, size)) size--;
    for (size_t i = 0; i < size; i++) {
        bool control = (unsigned char)s[i] < 0x20 || s[i] == 0x7f;
        fy_text_add(out, control ? "?" : s + i, 1);
    }
}

void fy_add_label(fy_narration *t, fy_text *out, uint32_t tensor)
{
    fy_ref name = fy_narrator_tensor(t->state, tensor)->name;
    size_t size;
    if (fy_log_bytes(t->log, name, &size)) fy_add_string(t->log, out, name);
    else fy_text_printf(out, "tensor %u", tensor);
}

void fy_add_storage(fy_narration *t, fy_text *out, uint32_t storage)
{
    uint32_t tensor = fy_narrator_storage(t->state, storage)->tensor;
    if (tensor) fy_add_label(t, out, tensor);
    else fy_text_printf(out, "storage %u", storage);
}

void fy_add_shape(const fy_log *log, fy_text *out, const fy_known_tensor *t)
{
    size_t size = 0;
    fy_add_string(log, out, t->dtype);
    fy_text_str(out, t->dtype ? " [" : "? [");
    const char *dims = fy_log_bytes(log, t->shape, &size);
    for (size_t i = 0; dims && i + 8 <= size && i < 8 * FY_MAX_DIMS; i += 8) {
        int64_t n;
        memcpy(&n, dims + i, 8);
        fy_text_printf(out, "%s%lld", i ? ", " : "", (long long)n);
    }
    fy_text_str(out, "]");
}

void fy_add_time(fy_text *out, int64_t ns)
{
    static const struct {
        double from;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    double value = (double)ns;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (value < units[i].from * 0.99995) continue;
        fy_text_printf(out, i < 2 ? "%.3f %s" : "%.1f %s", value / units[i].from, units[i].unit);
        return;
    }
    fy_text_printf(out, "%lld ns", (long long)ns);
}

void fy_add_bytes(fy_text *out, int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes / 1024;
    int unit = 0;
    if (bytes < 1024) {
        fy_text_printf(out, "%lld B", (long long)bytes);
        return;
    }
    for (; value >= 1024 && unit < 3; unit++) value /= 1024;
    fy_text_printf(out, value == (double)(int64_t)value ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

void fy_add_device(fy_text *out, uint8_t device)
{
    char name[16];
    fy_device_name(device, name);
    fy_text_str(out, name);
}

/* ---- the line ---- */

/* Characters, not bytes (UTF-8). */
static int width(const char *s, size_t size)
{
    int n = 0;
    for (size_t i = 0; i < size; i++) n += (s[i] & 0xc0) != 0x80;
    return n;
}

static void pad(fy_text *out, size_t from, int column)
{
    if (out->lost) return;
    for (int n = width(out->data + from, out->size - from); n < column; n++) fy_text_add(out, " ", 1);
}

static void add_right_aligned(fy_text *out, int columns, const fy_text *t)
{
    for (int n = width(t->data, t->size); n < columns; n++) fy_text_add(out, " ", 1);
    fy_text_add(out, t->data, t->size);
}

enum { TIME = 10, VERB = 19, SUBJECT = 50, SIZE = 10, REST = 112 };

void fy_line_print(const fy_log *log, fy_text *out, fy_line *line)
{
    size_t from = out->size;
    fy_text piece = {0};
    fy_add_time(&piece, line->time);
    add_right_aligned(out, TIME, &piece);
    fy_text_printf(out, "  %s", line->verb);
    pad(out, from, VERB);
    fy_text_add(out, " ", 1);
    if (line->subject.size) fy_text_add(out, line->subject.data, line->subject.size);
    if (line->bytes >= 0) {
        piece.size = 0;
        fy_add_bytes(&piece, line->bytes);
        pad(out, from, SUBJECT);
        add_right_aligned(out, SIZE, &piece);
    } else if (line->rest.size) {
        pad(out, from, line->subject.size ? SUBJECT + SIZE : VERB);
    }
    if (line->rest.size) {
        if (line->subject.size) fy_text_str(out, "  ");
        fy_text_add(out, line->rest.data, line->rest.size);
    }
    if (line->place.file) {
        pad(out, from, REST);
        piece.size = 0;
        fy_add_string(log, &piece, line->place.file);
        fy_text_add(&piece, "", 1);
        const char *slash = piece.data ? strrchr(piece.data, '/') : NULL; /* no room for the folders */
        fy_text_printf(out, "  %s:%u", slash ? slash + 1 : piece.data ? piece.data : "", line->place.line);
    }
    if (line->th) fy_text_printf(out, " (thread %u)", line->th);
    fy_text_str(out, "\n");
    out->lost |= piece.lost || line->subject.lost || line->rest.lost;
    free(piece.data);
    free(line->subject.data);
    free(line->rest.data);
}
