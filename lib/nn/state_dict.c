/* state_dict.c: parameters and buffers to a .npz file and back. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "composed.h"
#include "device.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "grad_mode.h"
#include "module.h"
#include "npz.h"
#include "out_of_memory.h"
#include "session_hooks.h"
#include "shape.h"
#include "transfer.h"

enum { MAX_HEADER = 1 << 17, LARGEST_ELEMENT = 8, MAX_NAME = 300 };

/* A tensor of the module, under its name as seen from there, and what the file has for it. */
typedef struct entry {
    char name[MAX_NAME];
    fy_tensor *x;
    size_t index; /* in the file */
    bool found;
    fy_tensor *loaded; /* a reference */
} entry;

typedef struct state_dict {
    fy_module *m;
    entry *entries;
    size_t n, room;
} state_dict;

static bool take(fy_module *m, fy_member *member, void *context)
{
    state_dict *d = context;
    char full[MAX_NAME];
    size_t skip = d->m->base->path ? strlen(d->m->base->path) + 1 : 0;
    if (d->n == d->room) {
        d->room = d->room ? d->room * 2 : 16;
        d->entries = realloc(d->entries, d->room * sizeof *d->entries);
        if (!d->entries) fy_out_of_memory("a state dict");
    }
    entry *e = &d->entries[d->n++];
    *e = (entry){.x = member->tensor};
    fy_module_full_name(m, member->name, full, sizeof full);
    snprintf(e->name, sizeof e->name, "%s", full + skip);
    return true;
}

static state_dict state_of(fy_module *m)
{
    state_dict d = {.m = m};
    fy_module_each(m, take, &d);
    return d;
}

bool fy_save_state_dict_at(fy_site *at, fy_module *m, const char *path)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_module_check(at, 0, m)) return false;
    state_dict d = state_of(m);
    fy_npz_array *arrays = calloc(d.n + 1, sizeof *arrays);
    if (!arrays) fy_out_of_memory("a state dict");
    for (size_t i = 0; i < d.n; i++) arrays[i] = (fy_npz_array){d.entries[i].name, d.entries[i].x};
    fy_composed before = fy_compose((fy_composed){.on = true});
    bool ok = fy_npz_write(at, path, d.n, arrays);
    fy_compose(before);
    if (ok) fy_narrate_flush();
    free(arrays);
    free(d.entries);
    return ok;
}

/* ---- loading: everything is read and compared before anything is changed
 * ---------------------------------------------- */

/* PyTorch's list of what does not fit. */
typedef struct problems {
    char text[1200];
    size_t used;
} problems;

__attribute__((format(printf, 2, 3))) static void add(problems *p, const char *format, ...)
{
    va_list list;
    if (p->used >= sizeof p->text) return;
    va_start(list, format);
    p->used += (size_t)vsnprintf(p->text + p->used, sizeof p->text - p->used, format, list);
    va_end(list);
}

static entry *find(const state_dict *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->entries[i].name, name)) return &d->entries[i];
    return NULL;
}

static void compare_names(const state_dict *d, fy_npz *z, problems *p)
{
    char name[MAX_NAME];
    int unexpected = 0, missing = 0;
    problems more = {0};
    for (size_t i = 0; i < fy_npz_count(z); i++) {
        entry *e = find(d, fy_npz_name(z, i, name, sizeof name));
        if (e) e->index = i, e->found = true;
        else add(&more, "%s\"%s\"", unexpected++ ? ", " : "", name);
    }
    for (size_t i = 0; i < d->n; i++)
        if (!d->entries[i].found)
            add(p, "%s\"%s\"", missing++ ? ", " : " Missing key(s) in state_dict: ", d->entries[i].name);
    if (missing) add(p, ".");
    if (unexpected) add(p, " Unexpected key(s) in state_dict: %s.", more.text);
}

static void compare_shape(const entry *e, problems *p)
{
    char saved[120], own[120];
    const fy_tensor *a = e->loaded, *b = e->x;
    if (a->ndim == b->ndim && !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape)) return;
    add(p,
        " size mismatch for %s: copying a param with shape torch.Size(%s) from checkpoint, the shape in current model "
        "is torch.Size(%s).",
        e->name, fy_shape_text(a->shape, a->ndim, "[]", saved, sizeof saved),
        fy_shape_text(b->shape, b->ndim, "[]", own, sizeof own));
}

/* The device that the file's tensor is put on; NULL after an error. */
static fy_dev *location(fy_site *at, fy_npz *z, const entry *e, const fy_load_opts *o)
{
    char device[40];
    if (o->map_location) return fy_dev_parse(at, o->map_location);
    fy_npz_device(z, e->index, device, sizeof device);
    int card = -1;
    if (!strcmp(device, "cpu")) return fy_dev_at(0);
    if (sscanf(device, "cuda:%d", &card) == 1 && card >= 0 && card < fy_cuda_device_count())
        return fy_dev_parse(at, device);
    return fy_fail(at, "device", "fy_load_state_dict(net, path, .map_location = \"cpu\")",
                   "Attempting to deserialize '%s' on %s, where it was saved, but this machine has %d card%s", e->name,
                   device, fy_cuda_device_count(), fy_cuda_device_count() == 1 ? "" : "s");
}

static bool load_entry(fy_site *at, fy_npz *z, entry *e, const fy_load_opts *o)
{
    fy_dev *to = location(at, z, e, o);
    char name[MAX_NAME + 8];
    snprintf(name, sizeof name, "saved %s", e->name);
    const char *kept = fy_name_intern(name);
    size_t most = (size_t)fy_tensor_numel(e->x) * LARGEST_ELEMENT + MAX_HEADER;
    if (!to || !(e->loaded = fy_npz_load(z, e->index, kept, most))) return false;
    if (to == e->loaded->storage->dev) return true;
    fy_transfer_opts how = {.why = FY_WORD_user};
    fy_tensor *there = fy_copy_to(at, e->loaded, to, e->loaded->dtype, &how, kept);
    fy_tensor_release(at, e->loaded, FY_WORD_free);
    e->loaded = there;
    return there;
}

static bool load_all(fy_site *at, state_dict *d, fy_npz *z, const fy_load_opts *o)
{
    problems p = {0};
    bool strict = o->strict || !(o->fy_end_ & FY_STRICT_TOLD), ok = true;
    compare_names(d, z, &p);
    if (!strict) p = (problems){0};
    for (size_t i = 0; ok && p.used == 0 && i < d->n; i++)
        if (d->entries[i].found) ok = load_entry(at, z, &d->entries[i], o);
    for (size_t i = 0; ok && i < d->n; i++)
        if (d->entries[i].loaded) compare_shape(&d->entries[i], &p);
    if (!ok || p.used == 0) return ok;
    return fy_fail(at, "state_dict",
                   "load it into a module like the one that was saved; .strict = false ignores names "
                   "that only one of them has",
                   "Error(s) in loading state_dict for %s:%s", d->m->base->type, p.text);
}

bool fy_load_state_dict_at(fy_site *at, fy_module *m, const char *path, fy_load_opts o)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_module_check(at, 0, m)) return false;
    fy_npz *z = fy_npz_open(at, path);
    if (!z) return false;
    state_dict d = state_of(m);
    fy_composed before = fy_compose((fy_composed){.on = true});
    bool ok = load_all(at, &d, z, &o);
    {
        FY_WITHOUT_GRAD;
        for (size_t i = 0; ok && i < d.n; i++)
            if (d.entries[i].loaded) ok = fy_copy__at(at, d.entries[i].x, d.entries[i].loaded, (fy_copy_opts){0});
    }
    for (size_t i = 0; i < d.n; i++) fy_tensor_release(at, d.entries[i].loaded, FY_WORD_free);
    fy_compose(before);
    fy_npz_close(z);
    free(d.entries);
    return ok;
}
