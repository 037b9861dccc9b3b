/* rewrite.c: replaces numbers and words in JSON lines, in place: everything else stays as it was logged. */
#include "rewrite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json_scan.h"
#include "record_fields.h"

static const struct {
    const char *name;
    size_t offset;
} times[] = {
    {"start", offsetof(replay_moment, start)},       {"end", offsetof(replay_moment, end)},
    {"wire", offsetof(replay_moment, wire)},         {"staging", offsetof(replay_moment, staging)},
    {"overhead", offsetof(replay_moment, overhead)},
};

/* The new value of a field of this kind; "": as it is. */
static void new_value(char text[40], const fy_event *e, const replay_moment *m, json key)
{
    int64_t number = -1;
    *text = 0;
    if (json_is(key, "t")) number = m->t;
    if (json_is(key, "held")) number = m->held;
    if (json_is(key, "when")) number = m->when;
    if (json_is(key, "stream") && e->kind == FY_KIND_copy && m->stream) number = m->stream;
    if (json_is(key, "bytes") && e->kind == FY_KIND_copy) number = m->bytes;
    if (e->kind == FY_KIND_complete && m->start >= 0)
        for (size_t i = 0; i < sizeof times / sizeof *times; i++)
            if (json_is(key, times[i].name)) memcpy(&number, (const char *)m + times[i].offset, sizeof number);
    if (number >= 0) snprintf(text, 40, "%" PRId64, number);

    if (e->kind == FY_KIND_copy && m->start >= 0) {
        if (json_is(key, "route") && m->route) snprintf(text, 40, "\"%s\"", fy_word_name(m->route));
        if (json_is(key, "async") && m->stream) snprintf(text, 40, "true");
        if (json_is(key, "was_async")) snprintf(text, 40, "%s", m->was_async ? "true" : "false");
    }
    bool moved = m->card && (e->kind == FY_KIND_op || e->kind == FY_KIND_complete);
    if (moved && json_is(key, "device")) snprintf(text, 40, "\"cuda:%d\"", m->card - 1);
    if (moved && json_is(key, "engine")) snprintf(text, 40, "\"compute\"");
    if (m->on_host && json_is(key, "device")) snprintf(text, 40, "\"cpu\"");
    if (m->on_host && json_is(key, "engine")) snprintf(text, 40, "\"host\"");
}

/* Appends an object with new values; of a pinned copy also those of its two sides. */
static void rewrite(fy_text *out, json object, const fy_event *e, const replay_moment *m, bool side)
{
    const char *written = object.at, *end = object.at + object.size;
    json key, item, rest = object;
    char text[40];
    while (json_next(&rest, &key, &item)) {
        bool ends = !side && e->kind == FY_KIND_copy && m->pinned && (json_is(key, "src") || json_is(key, "dst"));
        if (side)
            snprintf(text, sizeof text, "%s", json_is(key, "mem") && json_is(item, "pageable") ? "\"pinned\"" : "");
        else new_value(text, e, m, key);
        if (!*text && !ends) continue;
        fy_text_add(out, written, (size_t)(item.at - written));
        if (ends) rewrite(out, item, e, m, true);
        else fy_text_str(out, text);
        written = item.at + item.size;
    }
    fy_text_add(out, written, (size_t)(end - written));
}

/* Of an event that is left out its call stays, which may go on. */
static void leave_out(fy_text *out, json object)
{
    json key, item, rest = object;
    const char *before = "{";
    while (json_next(&rest, &key, &item)) {
        if (!json_is(key, "th") && !json_is(key, "calls") && !json_is(key, "call")) continue;
        fy_text_str(out, before);
        fy_text_str(out, json_is(key, "th") ? "\"th\":" : json_is(key, "call") ? "\"call\":" : "\"calls\":");
        fy_text_add(out, item.at, item.size);
        before = ",";
    }
    fy_text_str(out, *before == ',' ? "}" : "null");
}

void rewrite_lines(const char *lines, size_t size, const trace *t, const replay_moment *moments, fy_text *out)
{
    const char *p = lines, *end = lines + size;
    for (int i = 0; i < t->count && p < end; i++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((stop ? stop : end) - p);
        if (moments[i].left_out) leave_out(out, json_of(p, n));
        else rewrite(out, json_of(p, n), &t->events[i], &moments[i], false);
        fy_text_str(out, "\n");
        p += n + 1;
    }
}
