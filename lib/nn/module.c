/* module.c: modules and what they hold. */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>

#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "graph.h"
#include "out_of_memory.h"
#include "quarantine.h"
#include "session_hooks.h"
#include "synchronize.h"

enum { MAX_NAME = 120, MAX_PATH = 240 };

struct fy_module_base fy_module_freed = {.type = "a freed module"};

void *fy_module_make(fy_site *at, size_t bytes, const char *type, fy_layer layer)
{
    (void)at;
    fy_session_start();
    fy_module *m = calloc(1, bytes);
    struct fy_module_base *base = calloc(1, sizeof *base);
    if (!m || !base) fy_out_of_memory("a module");
    base->type = type;
    base->layer = layer;
    base->training = true;
    m->base = base;
    return m;
}

void *fy_module_new_at(fy_site *at, size_t bytes, const char *type, fy_forward forward)
{
    FY_CALL(at);
    if (!forward)
        return fy_fail(at, "null", "fy_module_new(type, forward): forward computes the module's result for x",
                       "the function of module %s is NULL", type);
    fy_module *m = fy_module_make(at, bytes, type, NULL);
    m->base->forward = forward;
    return m;
}

bool fy_module_check(fy_site *at, int i, const fy_module *m)
{
    char name[200];
    if (m && m->base && m->base != &fy_module_freed) return true;
    fy_argument(at, i, name, sizeof name);
    if (!m) fy_fail_null(at, i, "module");
    else if (m->base) fy_fail(at, "use_after_free", "free it once, after its last use", "%s was already freed", name);
    else fy_fail(at, "value", "make it with fy_module_new(type, forward)", "%s is not a module: its base is 0", name);
    return false;
}

/* ---- names --------------------------------------------------------------------------------------------------- */

const char *fy_module_full_name(const fy_module *m, const char *name, char *buf, size_t room)
{
    snprintf(buf, room, "%s%s%s", m->base->path ? m->base->path : "", m->base->path ? "." : "", name);
    return buf;
}

/* The module's own names, and those of all in it, begin with the path. */
static void rename_all(fy_site *at, fy_module *m, const char *path)
{
    char full[MAX_PATH];
    m->base->path = fy_name_intern(path);
    for (size_t i = 0; i < m->base->n; i++) {
        fy_member *member = &m->base->members[i];
        fy_module_full_name(m, member->name, full, sizeof full);
        if (member->module) rename_all(at, member->module, full);
        else fy_tensor_rename(at, member->tensor, full);
    }
}

static bool check_name(fy_site *at, const fy_module *m, const char *what, const char *name)
{
    const char *hint = "fy_parameter(net, \"weight\", x): a name of its own, without a dot";
    if (!name || !*name) return fy_fail(at, "name", hint, "%s name can't be empty string \"\"", what);
    if (strchr(name, '.')) return fy_fail(at, "name", hint, "%s name can't contain \".\", got: %s", what, name);
    if (strlen(name) > MAX_NAME)
        return fy_fail(at, "name", hint, "%s name has %zu characters; the most is %d", what, strlen(name), MAX_NAME);
    for (size_t i = 0; i < m->base->n; i++)
        if (!strcmp(m->base->members[i].name, name))
            return fy_fail(at, "name", hint, "attribute '%s' already exists", name);
    return true;
}

/* ---- holding tensors and modules ------------------------------------------------------------------------------- */

static fy_member *add(fy_module *m, fy_member member)
{
    struct fy_module_base *base = m->base;
    if (base->n == base->room) {
        base->room = base->room ? base->room * 2 : 8;
        base->members = realloc(base->members, base->room * sizeof *base->members);
        if (!base->members) fy_out_of_memory("the members of a module");
    }
    member.name = fy_name_intern(member.name);
    base->members[base->n] = member;
    return &base->members[base->n++];
}

static bool check_parameter(fy_site *at, const char *name, fy_tensor *x)
{
    fy_tensor *given[] = {NULL, NULL, x}; /* argument 2 of fy_parameter */
    if (!fy_dtype_is_real(x->dtype))
        return fy_fail_about(at, "dtype", "fy_buffer holds a tensor that is not trained", 3, given,
                             "Only Tensors of floating point and complex dtype can require gradients");
    if (fy_is_leaf_at(at, x)) return true;
    return fy_fail_about(
        at, "grad", "pass fy_detach(x), or compute the value in the module's forward function", 3, given,
        "Cannot assign non-leaf Tensor to parameter '%s'. Model parameters must be created explicitly.", name);
}

fy_tensor *fy_module_hold(fy_site *at, fy_module *m, fy_member_kind kind, const char *name, fy_tensor *x)
{
    char full[MAX_PATH];
    const char *what = kind == FY_MEMBER_PARAMETER ? "parameter" : "buffer";
    if (!check_name(at, m, what, name) || (kind == FY_MEMBER_PARAMETER && !check_parameter(at, name, x))) {
        fy_tensor_release(at, x, FY_WORD_free);
        return NULL;
    }
    fy_tensor_rename(at, x, fy_module_full_name(m, name, full, sizeof full));
    if (kind == FY_MEMBER_PARAMETER) fy_graph_require(at, x, true);
    add(m, (fy_member){kind, name, x, NULL});
    x->holders++;
    return x;
}

/* Tied weights: a tensor that a module holds is borrowed, and this member gets a reference of its own. */
static fy_tensor *hold(fy_site *at, fy_module *m, fy_member_kind kind, const char *name, fy_tensor *x)
{
    fy_session_start();
    if (!fy_module_check(at, 0, m) || !fy_check(at, 2, x)) return NULL;
    if (x->holders > 0 && !fy_scope_owns(x)) fy_tensor_retain(x);
    return fy_module_hold(at, m, kind, name, fy_scope_take(x));
}

fy_tensor *fy_parameter_at(fy_site *at, fy_module *m, const char *name, fy_tensor *x)
{
    FY_CALL(at);
    return hold(at, m, FY_MEMBER_PARAMETER, name, x);
}

fy_tensor *fy_buffer_at(fy_site *at, fy_module *m, const char *name, fy_tensor *x)
{
    FY_CALL(at);
    return hold(at, m, FY_MEMBER_BUFFER, name, x);
}

static bool holds(const fy_module *m, const fy_module *child)
{
    for (size_t i = 0; i < m->base->n; i++) {
        const fy_module *inner = m->base->members[i].module;
        if (inner && (inner == child || holds(inner, child))) return true;
    }
    return m == child;
}

bool fy_module_hold_module(fy_site *at, fy_module *m, const char *name, fy_module *child)
{
    char full[MAX_PATH];
    if (!check_name(at, m, "module", name)) return false;
    if (child->base->held || holds(child, m))
        return fy_fail(at, "value", "make another module: each belongs to one",
                       "module '%s' (%s) is already part of %s", name, child->base->type,
                       child->base->held ? "a module" : "itself");
    child->base->held = true;
    add(m, (fy_member){FY_MEMBER_MODULE, name, NULL, child});
    rename_all(at, child, fy_module_full_name(m, name, full, sizeof full));
    return true;
}

void *fy_submodule_at(fy_site *at, fy_module *m, const char *name, fy_module *child)
{
    FY_CALL(at);
    if (!fy_module_check(at, 0, m) || !fy_module_check(at, 2, child)) return NULL;
    return fy_module_hold_module(at, m, name, child) ? child : NULL;
}

/* ---- walking through them ---------------------------------------------------------------------------------------- */

bool fy_module_each(fy_module *m, fy_member_visit each, void *context)
{
    for (int kind = FY_MEMBER_PARAMETER; kind <= FY_MEMBER_MODULE; kind++)
        for (size_t i = 0; i < m->base->n; i++) {
            fy_member *member = &m->base->members[i];
            if ((int)member->kind != kind) continue;
            if (!(member->module ? fy_module_each(member->module, each, context) : each(m, member, context)))
                return false;
        }
    return true;
}

typedef struct list {
    fy_tensor **x; /* NULL: only counts */
    size_t n;
} list;

static bool has(const list *l, const fy_tensor *x)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->x[i] == x) return true;
    return false;
}

/* Tied weights are one parameter. */
static bool take_parameter(fy_module *m, fy_member *member, void *context)
{
    list *l = context;
    (void)m;
    if (member->kind != FY_MEMBER_PARAMETER) return true;
    if (l->x && member->tensor->holders > 1 && has(l, member->tensor)) return true;
    if (l->x) l->x[l->n] = member->tensor;
    l->n++;
    return true;
}

fy_tensor *const *fy_parameters_at(fy_site *at, fy_module *m, size_t *count)
{
    FY_CALL(at);
    list all = {0};
    if (count) *count = 0;
    if (!fy_module_check(at, 0, m)) return NULL;
    fy_module_each(m, take_parameter, &all);
    fy_tensor **x = realloc(m->base->parameters, (all.n + 1) * sizeof *x);
    if (!x) fy_out_of_memory("the list of a module's parameters");
    list each = {m->base->parameters = x, 0};
    fy_module_each(m, take_parameter, &each);
    x[each.n] = NULL;
    if (count) *count = each.n;
    return x;
}

typedef struct wanted {
    const char *name;
    fy_tensor *x;
} wanted;

/* "0.weight" in a module that is itself "encoder" in another: names are seen from the module that was passed. */
static bool find_name(fy_module *m, fy_member *member, void *context)
{
    wanted *w = context;
    const char *path = m->base->path ? m->base->path : "";
    size_t n = strlen(path);
    (void)member;
    if (strncmp(w->name, path, n) != 0 || (n && w->name[n++] != '.') || strcmp(w->name + n, member->name) != 0)
        return true;
    w->x = member->tensor;
    return false;
}

fy_tensor *fy_get_parameter_at(fy_site *at, fy_module *m, const char *name)
{
    FY_CALL(at);
    char full[MAX_PATH];
    if (!fy_module_check(at, 0, m)) return NULL;
    wanted w = {fy_module_full_name(m, name ? name : "", full, sizeof full), NULL};
    fy_module_each(m, find_name, &w);
    if (w.x) return w.x;
    return fy_fail(at, "name", "fy_save_state_dict writes all names to a file; numpy.load(path).files lists them",
                   "%s has no attribute `%s`", m->base->type, name ? name : "NULL");
}

static bool require(fy_module *m, fy_member *member, void *context)
{
    const struct {
        fy_site *at;
        bool on;
    } *how = context;
    (void)m;
    if (member->kind == FY_MEMBER_PARAMETER) fy_graph_require(how->at, member->tensor, how->on);
    return true;
}

void fy_module_requires_grad__at(fy_site *at, fy_module *m, bool on)
{
    FY_CALL(at);
    struct {
        fy_site *at;
        bool on;
    } how = {at, on};
    if (fy_module_check(at, 0, m)) fy_module_each(m, require, &how);
}

/* ---- training or evaluation ---------------------------------------------------------------------------------------- */

static void set_training(fy_module *m, bool on)
{
    m->base->training = on;
    for (size_t i = 0; i < m->base->n; i++)
        if (m->base->members[i].module) set_training(m->base->members[i].module, on);
}

void fy_train_at(fy_site *at, fy_module *m, bool on)
{
    FY_CALL(at);
    if (!fy_module_check(at, 0, m)) return;
    set_training(m, on);
    fy_mode_emit(at, "training", on);
}

bool fy_is_training_at(fy_site *at, fy_module *m)
{
    FY_CALL(at);
    return fy_module_check(at, 0, m) && m->base->training;
}

/* ---- freeing ------------------------------------------------------------------------------------------------------- */

void fy_module_release(fy_site *at, fy_module *m)
{
    struct fy_module_base *base = m->base;
    m->base = &fy_module_freed;
    for (size_t i = 0; i < base->n; i++) {
        fy_tensor *x = base->members[i].tensor;
        if (base->members[i].module) fy_module_release(at, base->members[i].module);
        if (!x) continue;
        x->holders--;
        fy_tensor_release(at, x, FY_WORD_free);
    }
    free(base->members);
    free(base->parameters);
    free(base);
    fy_quarantine(m);
}

void fy_module_free_at(fy_site *at, fy_module *m)
{
    FY_CALL(at);
    if (!m || !fy_module_check(at, 0, m)) return;
    if (m->base->held)
        fy_fail(at, "value", "free the module that holds it", "this %s is '%s' of another module, which frees it",
                m->base->type, m->base->path);
    else fy_module_release(at, m);
}
