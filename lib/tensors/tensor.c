/* tensor.c: handles: reference-counted, allocated from a slab, and quarantined after they are freed, so that a use
 * after free is reported instead of crashing. */
#include "tensor.h"

#include <stdio.h>
#include <stdlib.h>

#include "composed.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "graph.h"
#include "lock.h"
#include "site.h"
#include "storage.h"
#include "out_of_memory.h"
#include "shape.h"
#include "tensor.h"

enum {
    CHUNK = 128,       /* handles allocated at a time */
    QUARANTINE = 4096, /* freed handles kept before the oldest is reused */
};

typedef struct chunk {
    struct chunk *next;
    fy_tensor slots[CHUNK];
} chunk;

FY_LOCK(lock) /* everything below */
static chunk *chunks;
static size_t used = CHUNK; /* slots used in the newest chunk */
static fy_tensor *oldest_freed, *newest_freed;
static size_t n_freed;
static uint32_t last_id;

static fy_tensor *take_slot(void)
{
    fy_lock_take(&lock);
    bool reuse = n_freed > QUARANTINE;
    if (!reuse && used == CHUNK) {
        chunk *c = calloc(1, sizeof *c);
        if (c) {
            c->next = chunks;
            chunks = c;
            used = 0;
        }
        reuse = !c;
    }
    fy_tensor *x = reuse ? oldest_freed : &chunks->slots[used++];
    if (reuse && x) {
        oldest_freed = x->next;
        n_freed--;
    }
    uint32_t id = ++last_id;
    fy_lock_give(&lock);
    if (!x) fy_out_of_memory("another tensor handle");
    x->before += x->id != 0;
    x->magic = FY_ALIVE;
    x->id = id;
    x->refs = 1;
    x->freed = NULL;
    x->freed_by = FY_WORD_none;
    x->next = NULL;
    x->node = NULL;
    x->history = NULL;
    x->is_view = false;
    x->made = FY_VIEW_PLAIN;
    x->holders = 0;
    return x;
}

/* The program keeps its pointer; the log sees another tensor take the old one's place. */
void fy_tensor_replace(fy_site *at, fy_tensor *x, fy_tensor *by)
{
    fy_tensor old = *x;
    x->id = by->id;
    x->storage = by->storage;
    x->dtype = by->dtype;
    x->element_size = by->element_size;
    x->offset = by->offset;
    x->ndim = by->ndim;
    memcpy(x->shape, by->shape, sizeof x->shape);
    memcpy(x->strides, by->strides, sizeof x->strides);
    x->history = NULL;
    x->is_view = false;
    x->made = FY_VIEW_PLAIN;
    by->id = old.id;
    by->storage = old.storage;
    if (old.history) fy_history_release(at, old.history);
    if (x->storage->made == FY_NOT_MADE) x->storage->made = fy_storage_version(x->storage);
    if (x->node) fy_node_follow(x->node, x);
    fy_tensor_release(at, by, FY_WORD_data);
}

/* Atomic: another thread may be making a view of the same storage. */
static void name_storage(fy_storage *s, const char *name)
{
    const char *none = NULL;
    if (name) __atomic_compare_exchange_n(&s->name, &none, name, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Takes over the caller's reference to the storage. */
fy_tensor *fy_tensor_make(fy_site *at, fy_storage *s, const fy_geometry *g, const char *name, uint32_t view_of,
                          bool saved)
{
    fy_tensor *x = take_slot();
    x->dtype = g->dtype;
    x->element_size = (uint32_t)fy_dtype_size(g->dtype);
    x->storage = s;
    x->offset = g->offset;
    x->ndim = g->shape.ndim;
    for (int d = 0; d < g->shape.ndim; d++) {
        x->shape[d] = g->shape.dims[d];
        x->strides[d] = g->strides[d];
    }
    x->name = name;
    x->born = at;
    name_storage(s, name);
    if (!s->dtype) s->dtype = g->dtype;
    if (fy_log_is_on())
        FY_EMIT(at, tensor, .tensor = x->id, .name = fy_ref_str(name), .storage = s->id,
                .shape = fy_ref_dims(x->shape, x->ndim), .strides = fy_ref_dims(x->strides, x->ndim),
                .offset = x->offset, .dtype = fy_ref_dtype(x->dtype), .itemsize = FY_ABSENT,
                .device = (uint8_t)s->dev->number, .view_of = view_of, .saved = saved);
    return x;
}

fy_tensor *fy_tensor_save(fy_site *at, const fy_tensor *x)
{
    fy_geometry g = fy_geometry_of(x);
    __atomic_add_fetch(&x->storage->refs, 1, __ATOMIC_RELAXED);
    return fy_tensor_make(at, x->storage, &g, x->name, x->id, true);
}

fy_tensor *fy_tensor_retain(fy_tensor *x)
{
    __atomic_add_fetch(&x->refs, 1, __ATOMIC_RELAXED);
    return x;
}

static fy_ev_free free_of(const fy_storage *s)
{
    return (fy_ev_free){.storage = s->id, .bytes = (int64_t)s->bytes, .deferred = s->recorded != 0};
}

/* Records that a handle goes, and with it the storage if it was the last: true. One that has the only reference keeps
 * it: a new handle is made from another one. */
static bool record_drop(fy_site *at, const fy_tensor *x, fy_word why)
{
    fy_storage *s = x->storage;
    const fy_ev_drop dropped = {.tensor = x->id, .why = (uint8_t)why};
    fy_ev_free freed;
    if (__atomic_load_n(&s->refs, __ATOMIC_ACQUIRE) == 1) {
        freed = free_of(s);
        fy_emit_drop_free(at, &dropped, &freed);
        return true;
    }
    fy_emit(at, FY_KIND_drop, &dropped, sizeof dropped);
    if (__atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0) return false;
    freed = free_of(s);
    fy_emit(at, FY_KIND_free, &freed, sizeof freed);
    return true;
}

void fy_tensor_release(fy_site *at, fy_tensor *x, fy_word why)
{
    if (!x || __atomic_sub_fetch(&x->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    fy_storage *s = x->storage;
    fy_node *node = x->node;
    fy_history *history = x->history;
    x->node = NULL;
    x->history = NULL;
    x->freed = at;
    x->freed_by = why;
    fy_unscoped_remove(x);
    bool is_last = record_drop(at, x, why);

    fy_lock_take(&lock);
    x->magic = FY_FREED;
    __atomic_store_n(&x->unscoped, false, __ATOMIC_RELAXED);
    x->next = NULL;
    if (n_freed++ == 0) oldest_freed = x;
    else newest_freed->next = x;
    newest_freed = x;
    fy_lock_give(&lock);

    if (is_last) fy_storage_free(s);
    if (history) fy_history_release(at, history);
    if (node) fy_node_release(at, node);
}

/* A tensor with `unscoped` set is fully initialized, and its storage lives at least until the lock is released. */
size_t fy_tensors_unscoped(const fy_site *at, fy_unscoped_storage *held, size_t most)
{
    size_t n = 0;
    fy_lock_take(&lock);
    for (const chunk *c = chunks; c; c = c->next)
        for (int i = 0; i < CHUNK && n < most; i++)
            if (__atomic_load_n(&c->slots[i].unscoped, __ATOMIC_ACQUIRE) && c->slots[i].born == at)
                held[n++] = (fy_unscoped_storage){c->slots[i].storage, c->slots[i].storage->bytes};
    fy_lock_give(&lock);
    return n;
}

const char *fy_tensor_label(const fy_tensor *x, char *buf, size_t room)
{
    if (x->name) snprintf(buf, room, "%s", x->name);
    else snprintf(buf, room, "tensor %u", x->id);
    return buf;
}

/* Interned names; never freed. */
typedef struct interned {
    struct interned *next;
    char text[];
} interned;

FY_LONG_LOCK(names_lock)
static interned *names[64];

const char *fy_name_intern(const char *name)
{
    if (!name || !*name) return NULL;
    unsigned hash = 5381;
    size_t length = 0;
    for (; name[length]; length++) hash = hash * 33 + (unsigned char)name[length];
    interned **bucket = &names[hash % 64], *k;
    pthread_mutex_lock(&names_lock);
    for (k = *bucket; k && strcmp(k->text, name) != 0;) k = k->next;
    if (!k && (k = malloc(sizeof *k + length + 1))) {
        memcpy(k->text, name, length + 1);
        k->next = *bucket;
        *bucket = k;
    }
    pthread_mutex_unlock(&names_lock);
    if (!k) fy_out_of_memory("the name of a tensor");
    return k->text;
}

const char *fy_name_for(fy_site *at, const char *given)
{
    if (given) return fy_name_intern(given);
    if (fy_composed_now.on) return fy_composed_now.result;
    return at ? fy_site_variable(at) : NULL;
}

const char *fy_name_of_indices(fy_site *at)
{
    char argument[80] = "";
    enum { ARGUMENTS = 8 }; /* of fy_topk, and more */
    int from = 0;
    if (fy_composed_now.on) return NULL;
    for (int i = 0; i < ARGUMENTS && !from; i++)
        sscanf(fy_argument(at, i, argument, sizeof argument), ".indices = & %n", &from);
    bool is_whole = from && argument[from] && strlen(argument) < sizeof argument - 1;
    return is_whole ? fy_name_intern(argument + from) : NULL;
}

void fy_returned(fy_site *at, int n, fy_tensor *const *x)
{
    uint32_t ids[FY_MOST_PARTS];
    int count = 0;
    for (int i = 0; i < n; i++)
        if (x[i]) ids[count++] = x[i]->id;
    if (count && fy_log_is_on()) FY_EMIT(at, results, .tensors = fy_ref_bytes(ids, (size_t)count * sizeof *ids));
}

void fy_tensor_rename(fy_site *at, fy_tensor *x, const char *name)
{
    if (!(x->name = fy_name_intern(name))) return;
    if (x->node) x->node->name = x->name;
    name_storage(x->storage, x->name);
    FY_EMIT(at, name, .tensor = x->id, .name = fy_ref_str(x->name));
}

void fy_tensor_name_after_argument(fy_site *at, fy_tensor *x)
{
    char name[80];
    fy_argument(at, 0, name, sizeof name);
    if (x->name || name[0] != '&' || strlen(name) == sizeof name - 1) return;
    fy_tensor_rename(at, x, name + 1);
}
