/* sequential.c: fy_sequential: modules one after another. */
#include <stdio.h>

#include "error.h"
#include "event.h"
#include "frame.h"
#include "module.h"

/* Results on the way are freed as soon as the next module has used them; what it saved, the graph keeps. */
static fy_tensor *sequential(fy_site *at, fy_module *m, fy_tensor *x)
{
    const char *last = fy_name_for(at, NULL); /* this module's result is its last one's */
    fy_tensor *y = fy_tensor_retain(x);
    for (size_t i = 0; y && i < m->base->n; i++) {
        char name[300];
        fy_module *next = m->base->members[i].module;
        snprintf(name, sizeof name, "%s.out", next->base->path);
        fy_tensor *in = y;
        y = fy_module_result(at, next, in, i + 1 < m->base->n ? fy_name_intern(name) : last);
        fy_tensor_release(at, in, FY_WORD_free);
    }
    return fy_scope_track(y);
}

/* Can it take over module i? Checked before any is taken, so that an error changes none. */
static bool check_free(fy_site *at, fy_module *const *modules, size_t i)
{
    const struct fy_module_base *base = fy_module_check(at, FY_IN_LIST + (int)i, modules[i]) ? modules[i]->base : NULL;
    bool taken = base && base->held;
    for (size_t k = 0; base && k < i; k++) taken |= modules[k] == modules[i];
    if (taken)
        fy_fail(at, "value", "make another module: each belongs to one",
                "module '%zu' (%s) is already part of a module", i, base->type);
    return base && !taken;
}

fy_module *fy_sequential_at(fy_site *at, size_t n, fy_module *const *modules)
{
    FY_CALL(at);
    for (size_t i = 0; i < n; i++)
        if (!check_free(at, modules, i)) return NULL;
    fy_module *m = fy_module_make(at, sizeof *m, "Sequential", sequential);
    for (size_t i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i);
        fy_module_hold_module(at, m, name, modules[i]);
    }
    return m;
}
