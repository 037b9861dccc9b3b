/* event_arena.c: a fy_log that has only an arena. */
#include "event_arena.h"

#include <stdlib.h>
#include <string.h>

#include "id_map.h"
#include "log_format.h"
#include "memory.h"

enum {
    UNIT = 8,
    FIRST = UNIT,     /* reference 0 means none */
    MAX_INTERNED = 64 /* bytes: longer entries seldom repeat */
};

struct event_arena {
    fy_log log;
    size_t used, kept; /* kept: what stays when it is emptied */
    bool keeps, was_keeping;
    id_map calls;  /* to references */
    fy_ref *known; /* hash table of interned entries; 0: a free slot */
    size_t known_room, known_count;
    char *scratch;
    size_t scratch_room;
    struct device {
        char *name;
        int place;
    } * devices;
    int device_count, device_room;
};

/* References count units; their highest bit is a flag (FY_REF_PAIRED). */
static const size_t most_bytes = (size_t)(FY_REF_PAIRED - 1) * UNIT;

event_arena *event_arena_make(bool keeps)
{
    event_arena *a = memory_zeroed(1, sizeof *a, "events");
    a->used = a->kept = FIRST;
    a->keeps = keeps;
    return a;
}

void event_arena_empty(event_arena *a) { a->used = a->kept; }

void event_arena_free(event_arena *a)
{
    if (!a) return;
    free(a->log.arena);
    free(a->known);
    free(a->scratch);
    for (int i = 0; i < a->device_count; i++) free(a->devices[i].name);
    free(a->devices);
    id_map_free(&a->calls);
    free(a);
}

const fy_log *event_arena_log(const event_arena *a) { return &a->log; }

char *event_arena_scratch(event_arena *a, size_t size)
{
    if (size > a->scratch_room || !a->scratch) {
        a->scratch_room = 2 * size + 64;
        a->scratch = memory_realloc(a->scratch, a->scratch_room, 1, "events");
    }
    return a->scratch;
}

void event_arena_add_device(event_arena *a, fy_bytes name, int place)
{
    if (event_arena_device(a, name) >= 0) return;
    a->devices = memory_grown(a->devices, &a->device_room, a->device_count, sizeof *a->devices, "devices");
    a->devices[a->device_count++] = (struct device){utf8_copy(name), place};
}

int event_arena_device(const event_arena *a, fy_bytes name)
{
    for (int i = 0; i < a->device_count; i++)
        if (strlen(a->devices[i].name) == name.size && !memcmp(a->devices[i].name, name.data, name.size))
            return a->devices[i].place;
    return -1;
}

char *utf8_copy(fy_bytes text)
{
    fy_text clean = {0};
    fy_text_utf8(&clean, text.data, strnlen(text.data, text.size));
    fy_text_add(&clean, "", 1);
    if (clean.lost) memory_fail("the text of an event");
    return clean.data;
}

static fy_ref append(event_arena *a, const void *data, size_t size)
{
    size_t from = a->used, bytes = sizeof(fy_entry) + (size + UNIT - 1) / UNIT * UNIT;
    if (size > UINT32_MAX - UNIT || bytes > most_bytes - from) return 0;
    if (from + bytes > a->log.arena_bytes) {
        a->log.arena_bytes = (from + bytes) / 2 * 3;
        a->log.arena = memory_realloc(a->log.arena, a->log.arena_bytes, 1, "events");
    }
    fy_entry entry = fy_entry_of((uint32_t)size, (fy_ref)(from / UNIT));
    memcpy(a->log.arena + from, &entry, sizeof entry);
    if (size) memcpy(a->log.arena + from + sizeof entry, data, size);
    a->used = from + bytes;
    return (fy_ref)(from / UNIT);
}

/* ---- interning ---- */

static uint64_t hash_of(const unsigned char *p, size_t size)
{
    uint64_t z = 0xcbf29ce484222325u + size;
    for (size_t i = 0; i < size; i++) z = (z ^ p[i]) * 0x100000001b3u;
    return z ^ (z >> 32);
}

/* The slot of these bytes, or the free slot for them. */
static fy_ref *place_of(const event_arena *a, const void *bytes, size_t size)
{
    for (size_t i = hash_of(bytes, size);; i++) {
        fy_ref *at = &a->known[i & (a->known_room - 1)];
        size_t n = 0;
        const void *is = *at ? fy_log_bytes(&a->log, *at, &n) : NULL;
        if (!is || (n == size && !memcmp(is, bytes, size))) return at;
    }
}

static void grow_known(event_arena *a)
{
    fy_ref *old = a->known;
    size_t room = a->known_room;
    a->known_room = room ? 2 * room : 256;
    a->known = memory_zeroed(a->known_room, sizeof *a->known, "events");
    for (size_t i = 0, n; i < room; i++) {
        const void *bytes = old[i] ? fy_log_bytes(&a->log, old[i], &n) : NULL;
        if (bytes) *place_of(a, bytes, n) = old[i];
    }
    free(old);
}

fy_ref event_arena_put(event_arena *a, const void *bytes, size_t size)
{
    if (!a->keeps || size > MAX_INTERNED) return append(a, bytes, size);
    if (2 * (a->known_count + 1) > a->known_room) grow_known(a);
    fy_ref *at = place_of(a, bytes, size);
    if (!*at) {
        *at = append(a, bytes, size);
        a->known_count += *at != 0;
    }
    return *at;
}

/* ---- calls ---- */

void event_arena_keep_begin(event_arena *a)
{
    a->was_keeping = a->keeps;
    a->keeps = true;
}

void event_arena_keep_end(event_arena *a)
{
    a->keeps = a->was_keeping;
    a->kept = a->used;
}

fy_ref event_arena_call(const event_arena *a, uint32_t id)
{
    int ref = id_map_find(&a->calls, id);
    return ref < 0 ? 0 : (fy_ref)ref;
}

fy_ref event_arena_add_call(event_arena *a, const fy_call_entry *call)
{
    int *ref = id_map_at(&a->calls, call->id);
    if (*ref < 0) *ref = (int)append(a, call, sizeof *call);
    return (fy_ref)*ref;
}

static fy_ref copy_text(event_arena *a, const fy_event *e, fy_ref ref)
{
    fy_bytes text = fy_event_bytes(e, ref);
    return ref ? event_arena_put(a, text.data, text.size) : 0;
}

static fy_ref copy_site(event_arena *a, const fy_event *e, fy_ref ref)
{
    fy_site_entry site;
    if (!fy_log_site(e->log, ref, &site)) return 0;
    site.file = copy_text(a, e, site.file);
    site.fn = copy_text(a, e, site.fn);
    site.call = copy_text(a, e, site.call);
    site.args = copy_text(a, e, site.args);
    return event_arena_put(a, &site, sizeof site);
}

/* Outermost first, since a parent is older. */
fy_ref event_arena_copy_call(event_arena *a, const fy_event *e, fy_ref ref)
{
    fy_ref path[DEEPEST], known = 0;
    fy_call_entry call, of;
    int n = 0;
    while (n < DEEPEST && fy_log_call(e->log, ref, &call) && !(known = event_arena_call(a, call.id))) {
        path[n++] = ref;
        ref = call.parent;
    }
    while (n > 0) {
        fy_log_call(e->log, path[--n], &call);
        call.parent = known;
        call.site = copy_site(a, e, call.site);
        call.name = copy_text(a, e, call.name);
        if (call.region == FY_WORD_gradient && call.of > 0)
            call.of = fy_log_call(e->log, (fy_ref)call.of, &of) ? (int64_t)event_arena_call(a, of.id) : FY_ABSENT;
        known = event_arena_add_call(a, &call);
    }
    return known;
}
