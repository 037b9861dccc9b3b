/* where_ask.c: the answer of `ferry where`, in the words of the page. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostic.h"
#include "record_fields.h"
#include "where_log.h"

enum { NAMED = 12 }; /* names and copies that are listed */

/* The moment when a step has been shown: its last event and the time. */
typedef struct moment {
    uint64_t seq;
    int64_t t;
} moment;

static moment moment_of(const where *w, int number)
{
    const step *s = steps_at(w->steps, number - 1);
    moment m = {.seq = s->to, .t = w->times.all[s->to]};
    bool last = number == steps_count(w->steps);
    if (last && !w->stopped && w->total > m.t) m.t = w->total; /* the last one waits for all work */
    return m;
}

static const char *device_on(const where *w, int device, char out[24])
{
    const char *own = device > 0 && device <= MOST_CARDS ? w->cards[device].name : "";
    if (*own) snprintf(out, 24, "%s", own);
    else if (device) snprintf(out, 24, "cuda:%d", device - 1);
    else snprintf(out, 24, "cpu");
    return out;
}

static const char *memory_name(const where *w, int device, char out[64])
{
    char on[24];
    if (!device) return "CPU RAM";
    if (!strcmp(device_on(w, device, on), "cuda:0")) return "GPU VRAM";
    snprintf(out, 64, "GPU VRAM of %s", on);
    return out;
}

/* ", at 0x7f00"; nothing where the log does not tell. */
static const char *address_of(const bytes_of *s, char out[32])
{
    *out = 0;
    if (s->addr) snprintf(out, 32, ", at 0x%" PRIx64, s->addr);
    return out;
}

static const char *name_of_handle(const where *w, const handle *h, char out[32])
{
    const char *name = w->names.all[h->name];
    if (*name) return name;
    snprintf(out, 32, "t%u", h->id);
    return out;
}

static bool lives(const handle *h, uint64_t seq) { return h->from <= seq && h->until > seq; }

/* The step that shows event seq. */
static int step_of(const where *w, uint64_t seq)
{
    int low = 0, high = steps_count(w->steps) - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (steps_at(w->steps, middle)->to >= seq) high = middle;
        else low = middle + 1;
    }
    return low + 1;
}

/* ---- finding the tensor ---- */

static bool is_former(const where *w, const handle *h, const char *name)
{
    return h->former >= 0 && !strcmp(w->names.all[h->former], name);
}

static bool is_named(const where *w, const handle *h, const char *name)
{
    char unnamed[32];
    return !strcmp(name_of_handle(w, h, unnamed), name) || is_former(w, h, name);
}

/* Which of two tensors of one name is meant: one that lives, that its variable has at seq, and the newer one. */
static int weight(const where *w, const handle *h, const char *name, uint64_t seq)
{
    bool has = seq < h->named ? is_former(w, h, name) : seq < h->renamed;
    return 4 * (h->from <= seq) + 2 * lives(h, seq) + has;
}

static const handle *find(const where *w, const char *name, uint64_t seq, int *others)
{
    const handle *found = NULL;
    int most = 0;
    *others = 0;
    for (int i = 0; i < w->handles.count; i++) {
        const handle *h = &w->handles.all[i];
        if (!is_named(w, h, name)) continue;
        int own = weight(w, h, name, seq);
        if (found && lives(h, seq) && lives(found, seq)) ++*others;
        if (!found || own > most || (h->from <= seq && own == most)) found = h, most = own;
    }
    return found;
}

static void refuse_name(const where *w, const char *name, char *err, size_t room)
{
    const char *near = NULL;
    int least = (int)strlen(name) < 6 ? 3 : 4, listed = 0;
    size_t used = 0;
    char names[400] = "", unnamed[32];
    for (int i = 0; i < w->handles.count; i++) {
        const char *one = name_of_handle(w, &w->handles.all[i], unnamed);
        int far = name_distance(name, strlen(name), one, strlen(one));
        bool again = false;
        if (one == unnamed) continue;
        if (!strncmp(one, name, strlen(name))) far = 1; /* "batch" for "batch[0]" */
        if (far < least) least = far, near = one;
        for (int k = 0; k < i && !again; k++) again = w->handles.all[k].name == w->handles.all[i].name;
        if (again || ++listed > NAMED || used + strlen(one) + 8 > sizeof names) continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", one);
    }
    if (near) snprintf(err, room, "there is no tensor '%s' in this run; did you mean '%s'?", name, near);
    else if (used)
        snprintf(err, room, "there is no tensor '%s' in this run; its tensors are %s%s", name, names,
                 listed > NAMED ? ", ..." : "");
    else snprintf(err, room, "there is no tensor '%s' in this run; it has none that has a name", name);
}

/* ---- parts of the answer ---- */

static void print_place(const where *w, int file, uint32_t line, FILE *out)
{
    const char *path = steps_file(w->steps, file), *slash = strrchr(path, '/');
    size_t size;
    const char *text = steps_source(w->steps, file, line, &size);
    if (line) fprintf(out, ", %s:%u", slash ? slash + 1 : path, line);
    if (size) fprintf(out, ": %.*s", (int)(size < 200 ? size : 200), text);
}

static void print_shape(const where *w, const handle *h, FILE *out)
{
    putc('(', out);
    for (int i = 0; i < h->rank; i++) fprintf(out, "%s%" PRId64, i ? ", " : "", w->dims.all[h->dims + i]);
    fprintf(out, "%s) of %s", h->rank == 1 ? "," : "", w->names.all[h->dtype]);
}

static int64_t bytes_seen(const where *w, const handle *h)
{
    int64_t n = h->itemsize;
    for (int i = 0; i < h->rank; i++)
        if (__builtin_mul_overflow(n, w->dims.all[h->dims + i], &n)) return 0;
    return n;
}

static void print_view(const where *w, const handle *h, FILE *out)
{
    char base[32];
    int at = id_map_find(&w->handle_ids, h->view_of);
    if (!h->view_of) return;
    fprintf(out, "  a view");
    if (at >= 0) fprintf(out, " of %s", name_of_handle(w, &w->handles.all[at], base));
    fprintf(out, ": from element %" PRId64 ", strides (", h->offset);
    for (int i = 0; i < h->rank; i++) fprintf(out, "%s%" PRId64, i ? ", " : "", w->dims.all[h->dims + h->rank + i]);
    fprintf(out, "%s)\n", h->rank == 1 ? "," : "");
}

/* What fills the storage at this moment: the running work, else the one that is queued first. */
static const filling *filling_at(const where *w, int held, moment m)
{
    const filling *found = NULL;
    for (int i = 0; i < w->fillings.count && w->fillings.all[i].seq <= m.seq; i++) {
        const filling *f = &w->fillings.all[i];
        if (f->storage != held || f->end <= m.t) continue;
        if (!found || (found->start > m.t && f->start <= m.t)) found = f;
    }
    return found;
}

static void print_content(const where *w, int held, moment m, FILE *out)
{
    const filling *f = filling_at(w, held, m);
    int64_t rev;
    lineage_at(w, held, m.seq, &rev);
    char there[32], all[32];
    if (f && f->copy)
        fprintf(out, "  %s of %s have arrived: the copy of event %" PRIu64 " %s\n",
                amount_of(arrived_at(w, f, m.t), there), amount_of(f->bytes, all), f->seq,
                f->start > m.t ? "is queued" : "is on its way");
    else if (f)
        fprintf(out, "  its values are not there yet: the operation of event %" PRIu64 " %s\n", f->seq,
                f->start > m.t ? "is queued" : "is computing them");
    else if (!rev) fprintf(out, "  allocated, and not written yet\n");
}

static void print_sharers(const where *w, const handle *h, uint64_t seq, FILE *out)
{
    char unnamed[32];
    int listed = 0;
    for (int i = 0; i < w->handles.count; i++) {
        const handle *other = &w->handles.all[i];
        if (other == h || other->storage != h->storage || !lives(other, seq)) continue;
        if (listed++ < NAMED) {
            fprintf(out, "%s%s ", listed == 1 ? "  shares its bytes with " : ", ", name_of_handle(w, other, unnamed));
            print_shape(w, other, out);
        }
    }
    if (listed > NAMED) fprintf(out, " and %d more", listed - NAMED);
    if (listed) putc('\n', out);
}

static const handle *handle_of(const where *w, uint32_t held, uint64_t seq)
{
    const handle *found = NULL;
    for (int i = 0; i < w->handles.count; i++) {
        const handle *h = &w->handles.all[i];
        if (h->storage != held || h->from > seq) continue;
        if (!found || (!lives(found, seq) && lives(h, seq)) || (found->view_of && !h->view_of && lives(h, seq)))
            found = h;
    }
    return found;
}

/* The other storages that hold a copy of this tensor, each with what it is by comparison. */
static void print_copies(const where *w, int held, uint64_t seq, FILE *out)
{
    int64_t own, rev;
    int lineage = lineage_at(w, held, seq, &own), listed = 0;
    char device[64], unnamed[32], address[32];
    for (int i = 0; i < w->storages.count && w->storages.all[i].from <= seq; i++) {
        const bytes_of *s = &w->storages.all[i];
        if (i == held || s->until <= seq || lineage_at(w, i, seq, &rev) != lineage) continue;
        const handle *h = handle_of(w, s->id, seq);
        if (++listed > NAMED) continue;
        fprintf(out, "  %s copy: %s in %s%s\n",
                rev == own  ? "another"
                : rev > own ? "newer"
                            : "older",
                h ? name_of_handle(w, h, unnamed) : "without a name", memory_name(w, s->device, device),
                address_of(s, address));
    }
    if (listed > NAMED) fprintf(out, "  and %d more copies\n", listed - NAMED);
}

static const char *kind_of(const bytes_of *s)
{
    return s->mem == FY_WORD_pinned ? ", page-locked" : s->mem == FY_WORD_foreign ? ", the program's own memory" : "";
}

static void print_storage(const where *w, const handle *h, const char *name, int held, moment m, FILE *out)
{
    const bytes_of *s = &w->storages.all[held];
    char device[64], seen[32], all[32], on[24], address[32];
    bool dropped = !lives(h, m.seq);
    device_on(w, s->device, on);
    address_of(s, address);
    if (s->until <= m.seq) {
        fprintf(out, "%s was in %s (%s)%s; its bytes were freed at step %d\n", name, memory_name(w, s->device, device),
                on, address, step_of(w, s->until));
        return;
    }
    fprintf(out, "%s is in %s (%s%s)%s\n  ", name, memory_name(w, s->device, device), on, kind_of(s), address);
    print_shape(w, h, out);
    fprintf(out, ": %s", amount_of(bytes_seen(w, h), seen));
    if (s->bytes != bytes_seen(w, h)) fprintf(out, ", of %s allocated", amount_of(s->bytes, all));
    if (s->tenant) fprintf(out, "; this address was used before");
    putc('\n', out);
    print_view(w, h, out);
    if (dropped)
        fprintf(out, "  released at step %d: its bytes stay, since other tensors use them\n", step_of(w, h->until));
    else if (h->renamed <= m.seq)
        fprintf(out, "  its variable got another tensor at step %d\n", step_of(w, h->renamed));
    print_content(w, held, m, out);
    print_sharers(w, h, m.seq, out);
    print_copies(w, held, m.seq, out);
}

bool where_print(const where *w, const char *name, int number, FILE *out, char *err, size_t room)
{
    int others, count = steps_count(w->steps);
    if (!count) return snprintf(err, room, "it has no event yet, so no step: the program has not begun"), false;
    if (number > count) return snprintf(err, room, "there is no step %d: this run has %d", number, count), false;
    moment m = moment_of(w, number);
    const handle *h = find(w, name, m.seq, &others);
    if (!h) return refuse_name(w, name, err, room), false;
    if (h->from > m.seq) {
        snprintf(err, room, "at step %d there is no %s yet: it is made at step %d", number, name, step_of(w, h->from));
        return false;
    }
    const step *s = steps_at(w->steps, number - 1);
    int held = id_map_find(&w->storage_ids, h->storage);
    fprintf(out, "step %d of %d", number, count);
    print_place(w, s->file, s->line, out);
    putc('\n', out);
    if (held >= 0) print_storage(w, h, name, held, m, out);
    else fprintf(out, "%s: the log does not say where its bytes are\n", name);
    if (h->line) fprintf(out, "  made at step %d, line %u\n", step_of(w, h->from), h->line);
    if (others)
        fprintf(out, "  %d more tensor%s of this name live%s\n", others, others > 1 ? "s" : "", others > 1 ? "" : "s");
    return true;
}

void where_list(const where *w, FILE *out)
{
    if (!steps_count(w->steps)) fprintf(out, "no step: the log has no event yet\n");
    for (int i = 0; i < steps_count(w->steps); i++) {
        const step *s = steps_at(w->steps, i);
        fprintf(out, "step %d", i + 1);
        print_place(w, s->file, s->line, out);
        if (s->from == s->to) fprintf(out, " [event %" PRIu64 "]\n", s->from);
        else fprintf(out, " [events %" PRIu64 "-%" PRIu64 "]\n", s->from, s->to);
    }
}
