/* call.c: fy_call: the result of a module. */
#include "composed.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "module.h"
#include "session_hooks.h"

static fy_tensor *checked(fy_site *at, const fy_module *m, fy_tensor *out)
{
    if (out && out->magic != FY_ALIVE)
        return fy_fail(at, "use_after_free", "return fy_keep(y) from an FY_SCOPE; the module's scope owns it then",
                       "the forward function of %s returned a tensor that was freed", m->base->type);
    if (!out && !fy_error())
        fy_fail(at, "null", "return the result: return fy_mul(x, self->factor);",
                "the forward function of %s returned NULL", m->base->type);
    return out;
}

/* The forward function of a module of the program's own is the program's. */
static fy_tensor *forward(fy_site *at, fy_module *m, fy_tensor *x)
{
    FY_REGION(at, FY_WORD_module, m->base->path ? m->base->path : m->base->type, FY_ABSENT, FY_ABSENT);
    if (m->base->layer) return m->base->layer(at, m, x);
    fy_region_runs_program();
    return m->base->forward(m, x);
}

/* In a scope of its own, which frees what was made on the way; the program's function has call sites of its own. */
fy_tensor *fy_module_result(fy_site *at, fy_module *m, fy_tensor *x, const char *name)
{
    fy_composed inside = {m->base->layer != NULL, name, fy_composed_now.input}, before = fy_compose(inside);
    fy_scope scope = fy_scope_begin(at);
    fy_tensor *out = forward(at, m, x);
    fy_compose(before);
    out = checked(at, m, out);
    out = fy_scope_end_with(&scope, out);
    bool passed_on = out == x;
    if (out && name && !passed_on && out->name != name) fy_tensor_rename(at, out, name);
    return out;
}

fy_tensor *fy_call_at(fy_site *at, fy_module *m, fy_tensor *x)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_module_check(at, 0, m) || !fy_check(at, 1, x)) return NULL;
    const char *name = fy_name_for(at, NULL);
    fy_composed inside = fy_composed_now, before;
    inside.input = x;
    before = fy_compose(inside);
    fy_tensor *out = fy_module_result(at, m, x, name);
    fy_compose(before);
    return fy_scope_track(out);
}
