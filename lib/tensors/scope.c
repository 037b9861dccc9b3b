/* scope.c: scopes own references. Each thread has a stack of the references that its calls returned while a scope was
 * open; a scope owns the entries from its start index on.
 *
 *     references:  a b c | d e | f      fy_free(f) removes its entry; fy_keep(f) moves it into the
 *     starts:      0       3     5      enclosing scope: a b c | d e f |
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "event.h"
#include "frame.h"
#include "out_of_memory.h"
#include "tensor.h"

typedef struct entry {
    fy_tensor *x;
    uint32_t before; /* detects that the handle was freed and its slot reused */
} entry;

typedef struct list {
    entry *entries;
    size_t count, room;
    size_t *starts; /* start index of each open scope, outermost first */
    size_t depth, starts_room;
} list;

static _Thread_local list *mine;
static pthread_key_t key; /* its destructor frees the list when the thread ends */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_list(void *p)
{
    list *l = p;
    free(l->entries);
    free(l->starts);
    free(l);
}

static void make_key(void) { pthread_key_create(&key, free_list); }

/* Without memory a scope could not free what it owns, so this ends the program. */
static void *resize(void *p, size_t bytes)
{
    p = realloc(p, bytes);
    if (!p) fy_out_of_memory("the list of a scope");
    return p;
}

fy_tensor *fy_scope_track(fy_tensor *x)
{
    /* The program gets x here: writes before were part of making it. */
    if (x && x->storage->made == FY_NOT_MADE) x->storage->made = x->storage->version;
    if (!x || !mine || mine->depth == 0) {
        if (x) fy_unscoped_add(x);
        return x;
    }
    if (mine->count == mine->room) {
        mine->room = mine->room ? mine->room * 2 : 64;
        mine->entries = resize(mine->entries, mine->room * sizeof(entry));
    }
    mine->entries[mine->count++] = (entry){x, x->before};
    return x;
}

static size_t innermost(void) { return mine->starts[mine->depth - 1]; }

/* Index of the newest entry of x from `from` on, or -1. */
static ptrdiff_t find(const fy_tensor *x, size_t from)
{
    for (size_t i = mine->count; i > from; i--)
        if (mine->entries[i - 1].x == x && mine->entries[i - 1].before == x->before) return (ptrdiff_t)i - 1;
    return -1;
}

static void remove_entry(size_t i)
{
    memmove(&mine->entries[i], &mine->entries[i + 1], (mine->count - i - 1) * sizeof(entry));
    mine->count--;
    for (size_t d = mine->depth; d > 0 && mine->starts[d - 1] > i; d--) mine->starts[d - 1]--;
}

fy_scope fy_scope_begin(fy_site *at)
{
    if (!mine) {
        pthread_once(&once, make_key);
        mine = resize(NULL, sizeof *mine);
        *mine = (list){0};
        pthread_setspecific(key, mine);
    }
    if (mine->depth == mine->starts_room) {
        mine->starts_room = mine->starts_room ? mine->starts_room * 2 : 16;
        mine->starts = resize(mine->starts, mine->starts_room * sizeof(size_t));
    }
    mine->starts[mine->depth++] = mine->count;
    return (fy_scope){.open = true, .at = at};
}

fy_scope fy_scope_of_program(fy_site *at)
{
    fy_scope s = fy_scope_begin(at);
    s.depths = FY_REGION_OF_BLOCK(at, FY_WORD_scope, FY_ABSENT, FY_ABSENT);
    return s;
}

/* Newest first. Skips entries whose handle was freed by another thread. */
void fy_scope_end(fy_scope *s)
{
    fy_region_resume(&s->depths);
    while (mine->count > innermost()) {
        entry e = mine->entries[--mine->count];
        if (e.x->magic == FY_ALIVE && e.x->before == e.before) fy_tensor_release(s->at, e.x, FY_WORD_scope);
    }
    mine->depth--;
    fy_region_close(&s->depths);
}

fy_tensor *fy_scope_end_with(fy_scope *s, fy_tensor *x)
{
    ptrdiff_t i = x ? find(x, innermost()) : -1;
    if (i >= 0) remove_entry((size_t)i);
    else if (x) fy_tensor_retain(x); /* an operand that was passed on */
    fy_scope_end(s);
    return x;
}

fy_tensor *fy_scope_take(fy_tensor *x)
{
    ptrdiff_t i = mine ? find(x, 0) : -1;
    if (i >= 0) remove_entry((size_t)i);
    fy_unscoped_remove(x);
    __atomic_store_n(&x->unscoped, false, __ATOMIC_RELAXED);
    return x;
}

bool fy_scope_owns(const fy_tensor *x) { return mine && find(x, 0) >= 0; }

size_t fy_scope_depth(void) { return mine ? mine->depth : 0; }

void fy_scope_unwind(fy_site *at, size_t depth)
{
    while (fy_scope_depth() > depth) fy_scope_end(&(fy_scope){.open = true, .at = at});
}

/* ---- loops ---- */

static void end_iteration(fy_iterations *t)
{
    if (!t->scope.open) return;
    fy_region_resume(&t->turns);
    fy_scope_end(&t->scope);
    t->scope.open = false;
    t->turn++;
}

/* The loop is a region once it has a turn, and each turn is one, whose end frees what its scope owns. */
static inline __attribute__((always_inline)) bool next_iteration(fy_iterations *t, bool more, int64_t turns)
{
    end_iteration(t);
    fy_region_resume(&t->loop);
    if (!more) return false;
    if (!t->loop.inside) t->loop = FY_REGION_OF_BLOCK(t->scope.at, FY_WORD_loop, FY_ABSENT, turns);
    t->turns = FY_REGION_OF_BLOCK(t->scope.at, FY_WORD_turn, t->turn, FY_ABSENT);
    t->scope = fy_scope_begin(t->scope.at);
    return true;
}

bool fy_iteration_next(fy_iterations *t, bool more, int64_t turns) { return next_iteration(t, more, turns); }

void fy_iterations_end(fy_iterations *t)
{
    end_iteration(t);
    fy_region_resume(&t->loop);
    if (t->items.batch) t->items.batch(t, false);
    fy_region_close(&t->loop);
}

/* An array may contain NULL, the result of a failed call; from an iterator NULL is the end. */
bool fy_iteration_next_item(fy_iterations *t)
{
    fy_items *items = &t->items;
    bool is_array = !items->from && !items->batch;
    if (!next_iteration(t, !is_array || items->n > 0, is_array ? (int64_t)items->n + t->turn : FY_ABSENT)) return false;
    if (items->batch) return (t->item = items->batch(t, true)) || next_iteration(t, false, 0);
    if (items->from) return (t->item = items->from->next(items->from)) || next_iteration(t, false, 0);
    t->item = *items->array++;
    items->n--;
    return true;
}

/* Are all references to x those of modules? They free it. */
static bool check_not_held(fy_site *at, fy_tensor *x, const char *hint)
{
    char label[80];
    if (!x->holders || __atomic_load_n(&x->refs, __ATOMIC_ACQUIRE) > x->holders) return true;
    return fy_fail_about(at, "value", hint, 1, &x, "'%s' belongs to a module, which frees it",
                         fy_tensor_label(x, label, sizeof label));
}

void fy_free_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    if (!x || !fy_check(at, 0, x) || !check_not_held(at, x, "leave it to fy_module_free")) return;
    ptrdiff_t i = mine ? find(x, 0) : -1;
    if (i >= 0) remove_entry((size_t)i);
    fy_tensor_release(at, x, FY_WORD_free);
}

/* Moves the entry to the enclosing scope; without one, the caller owns the reference. */
fy_tensor *fy_keep_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x)) return NULL;
    ptrdiff_t i = mine && mine->depth ? find(x, innermost()) : -1;
    if (i < 0) return x;
    size_t start = innermost();
    if (mine->depth == 1) {
        remove_entry((size_t)i);
        return x;
    }
    entry kept = mine->entries[i];
    memmove(&mine->entries[start + 1], &mine->entries[start], ((size_t)i - start) * sizeof(entry));
    mine->entries[start] = kept;
    mine->starts[mine->depth - 1]++;
    return x;
}

/* The oldest entry is the variable's; newer ones are from calls that returned the same tensor again. */
static ptrdiff_t find_first(const fy_tensor *x)
{
    for (size_t i = 0; mine && i < mine->count; i++)
        if (mine->entries[i].x == x && mine->entries[i].before == x->before) return (ptrdiff_t)i;
    return -1;
}

fy_tensor *fy_set_at(fy_site *at, fy_tensor **variable, fy_tensor *x)
{
    FY_CALL(at);
    if (!variable)
        return fy_fail(at, "null", "give the address of a variable: fy_set(&w, fy_mul(w, 2))",
                       "the variable that fy_set changes is NULL");
    fy_tensor *old = *variable;
    if (!fy_check(at, 1, x) || (old && !fy_check(at, 0, old))) return NULL;
    if (x == old) return x;
    if (old && !check_not_held(at, old, "change its values: FY_NO_GRAD { fy_copy_(w, x); }")) return NULL;

    if (old) { /* x's reference moves to where old's was: to its entry or, if no scope owns old, to the caller */
        ptrdiff_t from = mine && mine->depth ? find(x, innermost()) : -1, to = find_first(old);
        if (from < 0 && find_first(x) >= 0) fy_tensor_retain(x); /* an outer scope owns x: that entry stays */
        if (to >= 0) mine->entries[to] = (entry){x, x->before};
        if (from >= 0) remove_entry((size_t)from);
    } else {
        fy_keep_at(at, x);
    }
    fy_tensor_release(at, old, FY_WORD_free);
    fy_tensor_name_after_argument(at, x);
    return *variable = x;
}
