/* steps.c: a port of www/model/steps.js and one_call.js, whose comments say why; tests/page/where_test.mjs compares
 * both on every log. */
#include "steps.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "id_map.h"
#include "memory.h"
#include "source_calls.h"

enum { NAME = 128 };

typedef struct file {
    char *name, *text, *clean; /* text NULL: not in the log */
} file;

/* A tensor without a name that was made in the line. */
typedef struct passing {
    uint32_t tensor;
    int at;
    bool used;
} passing;

/* The newest line, and what one_call.js knows of it. */
typedef struct newest_line {
    bool any;
    int file, fn;
    uint32_t line;
    uint16_t th;
    int parsed; /* index into steps.lines; -1: its text is not known */
    passing *passed;
    int passed_count, passed_room;
    int first;
} newest_line;

/* The newest step, which may go on. */
typedef struct newest_step {
    uint16_t th;
    bool any, prepares;
    char by[NAME];
    uint32_t read;
    int last_kind; /* of its last event that counts; -1: none */
    uint32_t last_view;
    char last_name[NAME];
} newest_step;

struct steps {
    step *all;
    int count, room;
    newest_step call;
    uint64_t results; /* values of results that were logged since: of the next step (www/model/steps.js) */
    bool is_backward; /* is a backward pass running? */
    newest_line line;
    file *files; /* files[0] is none */
    int file_count, file_room;
    id_map file_ids, line_ids;
    source_line *lines;
    int line_count, line_room;
};

static void *more(void *list, int *room, int count, size_t size)
{
    if (count < *room) return list;
    *room = *room ? 2 * *room : 64;
    return memory_realloc(list, (size_t)*room, size, "the steps of a log");
}

/* ---- texts ---- */

static uint64_t hash_of(fy_bytes text)
{
    uint64_t z = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.size; i++) z = (z ^ (unsigned char)text.data[i]) * 0x100000001b3u;
    return id_map_mix(z) | 1;
}

static int intern(steps *s, const fy_event *e, fy_ref ref)
{
    fy_bytes text = fy_event_bytes(e, ref);
    if (!ref || !text.size) return 0;
    int *at = id_map_at(&s->file_ids, hash_of(text));
    if (*at >= 0) return *at;
    s->files = more(s->files, &s->file_room, s->file_count, sizeof *s->files);
    file f = {.name = memory_realloc(NULL, text.size + 1, 1, "a file's name")};
    memcpy(f.name, text.data, text.size);
    f.name[text.size] = '\0';
    s->files[s->file_count] = f;
    return *at = s->file_count++;
}

static void add_source(steps *s, const fy_event *e)
{
    int number = intern(s, e, e->is.source.path);
    fy_bytes text = fy_event_bytes(e, e->is.source.text);
    file *f = &s->files[number];
    if (!number || f->text) return;
    f->text = memory_realloc(NULL, text.size + 1, 1, "a source text");
    memcpy(f->text, text.data, text.size);
    f->text[text.size] = '\0';
    f->clean = source_clean(text.data, text.size);
}

static int parsed_line(steps *s, int number, uint32_t line)
{
    if (!number || !s->files[number].text) return -1;
    int *at = id_map_at(&s->line_ids, (uint64_t)number << 32 | line);
    if (*at >= 0) return *at;
    s->lines = more(s->lines, &s->line_room, s->line_count, sizeof *s->lines);
    source_line_read(s->files[number].clean, (int)line, &s->lines[s->line_count]);
    return *at = s->line_count++;
}

static void name_in(const fy_event *e, fy_ref ref, char out[NAME])
{
    fy_bytes text = fy_event_bytes(e, ref);
    snprintf(out, NAME, "%.*s", ref ? (int)(text.size < NAME ? text.size : NAME - 1) : 0, ref ? text.data : "");
}

/* ---- which steps are one call ---- */

static bool is_line(const newest_line *l, const fy_event *e, int number, int fn)
{
    return l->any && l->line == e->line && l->file == number && l->fn == fn && l->th == e->th;
}

static passing *passing_of(newest_line *l, uint32_t id)
{
    for (int i = 0; id && i < l->passed_count; i++)
        if (l->passed[i].tensor == id) return &l->passed[i];
    return NULL;
}

static void note_use(newest_line *l, uint32_t id)
{
    passing *p = passing_of(l, id);
    if (p) p->used = true;
}

static void forget(newest_line *l, passing *p) { *p = l->passed[--l->passed_count]; }

/* The step from which on all are one call since this op; -1: not known yet. */
static int learn_op(steps *s, const fy_event *e, int at)
{
    newest_line *l = &s->line;
    const fy_ev_op *o = &e->is.op;
    fy_use one;
    for (size_t i = 0; fy_event_use(e, o->in, i, &one); i++) note_use(l, one.tensor);
    const source_line *text = l->parsed >= 0 ? &s->lines[l->parsed] : NULL;
    if (!text || !text->first) return -1;
    if (fy_event_is(e, o->name, text->first)) l->first = at;
    if (!fy_event_is(e, o->name, text->last) || l->first < 0) return -1;
    int from = l->first;
    l->first = -1;
    return from;
}

static int learn_drop(steps *s, const fy_event *e)
{
    newest_line *l = &s->line;
    passing *p = passing_of(l, e->is.drop.tensor);
    if (!p) return -1;
    passing one = *p;
    forget(l, p);
    bool frees = l->parsed >= 0 && s->lines[l->parsed].frees, is_copy = s->all[one.at].kind == FY_KIND_copy;
    return one.used && e->is.drop.why == FY_WORD_free && !frees && !is_copy ? one.at : -1;
}

static int learn(steps *s, const fy_event *e, int at)
{
    newest_line *l = &s->line;
    if (!e->line) return -1;
    int number = intern(s, e, e->file), fn = intern(s, e, e->fn);
    if (!is_line(l, e, number, fn)) {
        *l = (newest_line){.any = true,
                           .file = number,
                           .fn = fn,
                           .line = e->line,
                           .th = e->th,
                           .first = -1,
                           .passed = l->passed,
                           .passed_room = l->passed_room};
        l->parsed = parsed_line(s, number, e->line);
    }
    if (e->kind == FY_KIND_tensor) {
        note_use(l, e->is.tensor.view_of);
        fy_bytes name = fy_event_bytes(e, e->is.tensor.name);
        if (e->is.tensor.name && name.size) return -1;
        l->passed = more(l->passed, &l->passed_room, l->passed_count, sizeof *l->passed);
        l->passed[l->passed_count++] = (passing){.tensor = e->is.tensor.tensor, .at = at};
    } else if (e->kind == FY_KIND_name) {
        passing *p = passing_of(l, e->is.name.tensor);
        if (p) forget(l, p);
    } else if (e->kind == FY_KIND_copy) {
        note_use(l, e->is.copy.src.tensor);
    } else if (e->kind == FY_KIND_op) {
        return learn_op(s, e, at);
    } else if (e->kind == FY_KIND_drop) {
        return learn_drop(s, e);
    }
    return -1;
}

static void join(steps *s, int from)
{
    step one = s->all[from];
    one.storage = 0;
    for (int i = from; i < s->count; i++)
        if (!one.storage) one.storage = s->all[i].storage;
    one.to = s->all[s->count - 1].to;
    one.kind = FY_KIND_op;
    one.call = true;
    s->all[from] = one;
    s->count = from + 1;
    snprintf(s->call.by, NAME, "call");
    s->call.read = 0;
    s->call.prepares = false;
    for (int i = 0; i < s->line.passed_count; i++)
        if (s->line.passed[i].at > from) s->line.passed[i].at = from;
    if (s->line.first > from) s->line.first = from;
}

/* ---- does an event go on with the step? ---- */

static bool is_always(int kind)
{
    return kind == FY_KIND_source || kind == FY_KIND_complete || kind == FY_KIND_values || kind == FY_KIND_name;
}
static bool is_of_graph(const fy_event *e)
{
    return (e->kind == FY_KIND_tensor && e->is.tensor.saved) || e->kind == FY_KIND_grad || e->kind == FY_KIND_state ||
           (e->kind == FY_KIND_graph && e->is.graph.what != FY_WORD_run) ||
           (e->kind == FY_KIND_drop && e->is.drop.why == FY_WORD_graph);
}
static bool is_leaving(int kind) { return kind == FY_KIND_drop || kind == FY_KIND_free; }

static bool is_hidden_wait(const fy_event *e)
{
    uint8_t why = e->is.sync.why;
    return e->kind == FY_KIND_sync && (why == FY_WORD_copy || why == FY_WORD_print || why == FY_WORD_item ||
                                       why == FY_WORD_save || why == FY_WORD_size || why == FY_WORD_oom);
}

static bool is_preparing(const fy_event *e)
{
    return e->kind == FY_KIND_segment || (e->kind == FY_KIND_segment_free && e->is.segment_free.why == FY_WORD_oom) ||
           is_hidden_wait(e);
}

static bool is_allocated(const step *of, uint32_t id)
{
    return of->kind == FY_KIND_alloc && of->storage && id == of->storage;
}
static bool is_unfilled(const step *of, const newest_step *c)
{
    return of->kind == FY_KIND_alloc && of->storage && !*c->by;
}

static bool uses(const fy_event *e, fy_ref list, uint32_t id)
{
    fy_use one;
    for (size_t i = 0; fy_event_use(e, list, i, &one); i++)
        if (one.storage == id) return true;
    return false;
}

static bool op_goes_on(const step *of, const newest_step *c, const fy_event *e)
{
    const fy_ev_op *o = &e->is.op;
    fy_use one;
    bool fills = of->storage && !o->inplace && uses(e, o->out, of->storage) && !uses(e, o->in, of->storage);
    return fills && (is_unfilled(of, c) || (fy_event_is(e, o->name, c->by) && fy_event_use(e, o->in, 0, &one)));
}

/* x.at[1] behind x.at[0], of the same view. */
static bool is_next_part(const newest_step *c, const fy_event *e)
{
    char name[NAME], before[NAME + 16];
    name_in(e, e->is.tensor.name, name);
    size_t n = strlen(name);
    char *open = strrchr(name, '[');
    if (!open || n < 6 || name[n - 1] != ']' || open - name < 4 || strncmp(open - 3, ".at", 3)) return false;
    int number = atoi(open + 1);
    if (number <= 0 || open + 1 + strspn(open + 1, "0123456789") != name + n - 1) return false;
    snprintf(before, sizeof before, "%.*s[%d]", (int)(open - name), name, number - 1);
    return c->last_kind >= 0 && c->last_view == e->is.tensor.view_of && !strcmp(c->last_name, before);
}

static bool is_same_line(const step *of, const newest_step *c, const fy_event *e, int number)
{
    return e->th == c->th && (!e->line || !of->line || (e->line == of->line && number == of->file));
}

static bool goes_on(const step *of, const newest_step *c, const fy_event *e)
{
    switch ((fy_kind)e->kind) {
    case FY_KIND_segment:
    case FY_KIND_segment_free:
    case FY_KIND_alloc: return c->prepares;
    case FY_KIND_sync: {
        uint64_t cause = e->is.sync.cause; /* a seq plus 1 */
        return (cause && cause - 1 >= of->from && cause - 1 <= of->to) ||
               (is_hidden_wait(e) && (c->prepares || is_unfilled(of, c)));
    }
    case FY_KIND_tensor: return e->is.tensor.view_of ? is_next_part(c, e) : is_allocated(of, e->is.tensor.storage);
    case FY_KIND_host_write: return is_allocated(of, e->is.host_write.storage);
    case FY_KIND_given: return is_allocated(of, e->is.given.storage);
    case FY_KIND_copy: return c->prepares || (is_unfilled(of, c) && e->is.copy.dst.storage == of->storage);
    case FY_KIND_op: return op_goes_on(of, c, e);
    case FY_KIND_error: return of->kind == FY_KIND_oom && fy_event_is(e, e->is.error.code, "oom");
    case FY_KIND_host_read: return of->kind == FY_KIND_answer || (c->read && e->is.host_read.storage == c->read);
    default: return false;
    }
}

static bool joins(const steps *s, const fy_event *e, int number)
{
    const step *of = &s->all[s->count - 1];
    const newest_step *c = &s->call;
    int kind = e->kind;
    if (is_always(kind) || is_of_graph(e)) return true;
    if (of->kind == FY_KIND_graph && kind != FY_KIND_backward) return kind != FY_KIND_graph;
    if (kind == FY_KIND_lost) return of->kind == FY_KIND_lost;
    if (kind == FY_KIND_check || kind == FY_KIND_grade) return of->kind == FY_KIND_check;
    if (kind == FY_KIND_end) return of->kind == FY_KIND_error;
    if (kind == FY_KIND_free && of->call && c->last_kind == FY_KIND_drop) return true;
    if (is_leaving(kind)) return is_leaving(of->kind) && (!e->line || e->line == of->line);
    return !is_leaving(of->kind) && is_same_line(of, c, e, number) && goes_on(of, c, e);
}

/* ---- adding ---- */

static void note(step *of, newest_step *c, const fy_event *e)
{
    fy_use one;
    if (of->kind == FY_KIND_graph) return;
    if (e->kind == FY_KIND_alloc) {
        of->kind = FY_KIND_alloc;
        of->storage = e->is.alloc.storage;
    } else if (e->kind == FY_KIND_error) {
        of->kind = FY_KIND_error;
    } else if (e->kind == FY_KIND_copy) {
        of->kind = FY_KIND_copy;
        snprintf(c->by, NAME, "copy");
        if (!e->is.copy.dst.storage) c->read = e->is.copy.src.storage;
    } else if (e->kind == FY_KIND_op) {
        name_in(e, e->is.op.name, c->by);
        if (fy_event_use(e, e->is.op.in, 0, &one) || of->kind != FY_KIND_alloc) of->kind = FY_KIND_op;
    } else if (e->kind == FY_KIND_host_write) {
        snprintf(c->by, NAME, "host_write");
    }
}

static void extend(steps *s, const fy_event *e, int number)
{
    step *of = &s->all[s->count - 1];
    newest_step *c = &s->call;
    of->to = e->seq;
    if (is_always(e->kind) || is_of_graph(e)) return;
    if (e->line && !of->line) of->line = e->line, of->file = number;
    note(of, c, e);
    c->prepares = c->prepares && is_preparing(e);
    c->last_kind = e->kind;
    c->last_view = e->kind == FY_KIND_tensor ? e->is.tensor.view_of : 0;
    *c->last_name = '\0';
    if (e->kind == FY_KIND_tensor) name_in(e, e->is.tensor.name, c->last_name);
}

void steps_add(steps *s, const fy_event *e)
{
    if (e->kind == FY_KIND_source) add_source(s, e);
    if (s->call.any && e->kind == FY_KIND_values && e->is.values.work) {
        s->results++;
        return;
    }
    int number = intern(s, e, e->file);
    if (!s->call.any || !joins(s, e, number)) {
        s->all = more(s->all, &s->room, s->count, sizeof *s->all);
        s->all[s->count++] = (step){.from = e->seq - s->results, .to = e->seq, .kind = e->kind};
        s->call = (newest_step){.any = true, .th = e->th, .prepares = true, .last_kind = -1};
    }
    s->results = 0;
    extend(s, e, number);
    if (e->kind == FY_KIND_backward) s->is_backward = e->is.backward.what == FY_WORD_begin;
    int from = s->is_backward || is_of_graph(e) ? -1 : learn(s, e, s->count - 1);
    if (from >= 0) join(s, from);
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
    s->files = more(s->files, &s->file_room, 0, sizeof *s->files);
    s->files[0] = (file){0};
    s->file_count = 1;
    return s;
}

void steps_free(steps *s)
{
    if (!s) return;
    for (int i = 0; i < s->file_count; i++) free(s->files[i].name), free(s->files[i].text), free(s->files[i].clean);
    id_map_free(&s->file_ids), id_map_free(&s->line_ids);
    free(s->files), free(s->lines), free(s->all), free(s->line.passed);
    free(s);
}
