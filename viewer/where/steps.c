/* steps.c: see steps.h. tests/page/where_test.mjs compares them with those of the page. */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

#include "id_map.h"
#include "log_format.h"
#include "memory.h"

typedef struct file {
    char *name, *text; /* text NULL: not in the log */
} file;

/* Whose events a step has. */
typedef struct owner {
    uint32_t call; /* 0: none */
    uint16_t th;
    uint8_t alone; /* the kind of an event that no call causes, or 0 */
} owner;

struct steps {
    step *all;
    int count, room;
    owner owner;      /* of the newest step */
    bool has_error;   /* likewise */
    uint64_t results; /* values of results since the newest step's last event */
    file *files;      /* files[0] is none */
    int file_count, file_room;
    id_map file_ids;
};

/* ---- texts ---- */

static uint64_t hash_of(fy_bytes text)
{
    uint64_t z = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.size; i++) z = (z ^ (unsigned char)text.data[i]) * 0x100000001b3u;
    return id_map_mix(z) | 1;
}

static char *text_of(fy_bytes bytes)
{
    char *text = memory_realloc(NULL, bytes.size + 1, 1, "a source text");
    memcpy(text, bytes.data, bytes.size);
    text[bytes.size] = '\0';
    return text;
}

static int intern(steps *s, const fy_event *e, fy_ref ref)
{
    fy_bytes name = fy_event_bytes(e, ref);
    if (!name.size) return 0;
    int *at = id_map_at(&s->file_ids, hash_of(name));
    if (*at >= 0) return *at;
    s->files = memory_grown(s->files, &s->file_room, s->file_count, sizeof *s->files, "the steps of a log");
    s->files[s->file_count] = (file){.name = text_of(name)};
    return *at = s->file_count++;
}

static void add_source(steps *s, const fy_event *e)
{
    int number = intern(s, e, e->is.source.path);
    if (number && !s->files[number].text) s->files[number].text = text_of(fy_event_bytes(e, e->is.source.text));
}

/* ---- whose an event is ---- */

/* No call causes these. */
static bool stands_alone(uint8_t kind)
{
    return kind == FY_KIND_session || kind == FY_KIND_end || kind == FY_KIND_log_full || kind == FY_KIND_check ||
           kind == FY_KIND_grade || kind == FY_KIND_lost;
}

static owner owner_of(const fy_event *e, fy_site_entry *place)
{
    fy_call_entry call, parent = {0};
    *place = (fy_site_entry){0};
    if (!fy_log_call(e->log, e->call, &call)) return (owner){.th = e->th, .alone = stands_alone(e->kind) ? e->kind : 0};
    for (int i = 0; i < DEEPEST && call.region != FY_WORD_turn; i++) {
        if (!fy_log_call(e->log, call.parent, &parent) || fy_call_is_programs(&call, &parent)) break;
        call = parent;
    }
    fy_log_site(e->log, call.site, place);
    return (owner){.call = call.id, .th = e->th};
}

static bool is_same(owner a, owner b) { return a.call == b.call && a.alone == b.alone && a.th == b.th; }

/* Does the event go on with the newest step? */
static bool goes_on(const steps *s, uint8_t kind, owner own)
{
    switch ((fy_kind)kind) {
    case FY_KIND_complete:
    case FY_KIND_values:
    case FY_KIND_source:
    case FY_KIND_name: return true;
    case FY_KIND_end: return s->has_error;
    case FY_KIND_check:
    case FY_KIND_grade: return s->owner.alone == FY_KIND_check;
    case FY_KIND_lost: return s->owner.alone == FY_KIND_lost;
    default: return !own.alone && is_same(own, s->owner);
    }
}

/* ---- adding ---- */

void steps_add(steps *s, const fy_event *e)
{
    fy_site_entry place;
    if (e->kind == FY_KIND_source) add_source(s, e);
    if (s->count && e->kind == FY_KIND_values && e->is.values.work) {
        s->results++;
        return;
    }
    owner own = owner_of(e, &place);
    if (!s->count || !goes_on(s, e->kind, own)) {
        s->all = memory_grown(s->all, &s->room, s->count, sizeof *s->all, "the steps of a log");
        s->all[s->count++] = (step){.from = e->seq - s->results, .file = intern(s, e, place.file), .line = place.line};
        s->owner = own;
        s->has_error = false;
    }
    s->results = 0;
    s->has_error |= e->kind == FY_KIND_error;
    s->all[s->count - 1].to = e->seq;
}

/* ---- asking ---- */

int steps_count(const steps *s) { return s->count; }
const step *steps_at(const steps *s, int i) { return &s->all[i]; }
const char *steps_file(const steps *s, int number) { return number ? s->files[number].name : ""; }

const char *steps_source(const steps *s, int number, uint32_t line, size_t *size)
{
    const char *at = number ? s->files[number].text : NULL;
    *size = 0;
    for (uint32_t i = 1; at && i < line; i++)
        if ((at = strchr(at, '\n'))) at++;
    if (!at || !line) return "";
    at += strspn(at, " \t");
    *size = strcspn(at, "\r\n");
    return at;
}

steps *steps_begin(void)
{
    steps *s = memory_zeroed(1, sizeof *s, "the steps of a log");
    s->files = memory_grown(NULL, &s->file_room, 0, sizeof *s->files, "the steps of a log");
    s->files[0] = (file){0};
    s->file_count = 1;
    return s;
}

void steps_free(steps *s)
{
    if (!s) return;
    for (int i = 0; i < s->file_count; i++) free(s->files[i].name), free(s->files[i].text);
    id_map_free(&s->file_ids);
    free(s->files), free(s->all);
    free(s);
}
