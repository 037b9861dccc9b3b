/* optimizer.c: what all optimizers share: their parameters and gradients. */
#include "optimizer.h"

#include <stdio.h>
#include <stdlib.h>

#include "accumulate.h"
#include "composed.h"
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "graph.h"
#include "module.h"
#include "out_of_memory.h"
#include "quarantine.h"
#include "session_hooks.h"

/* ---- parameters ---------------------------------------------------------------------------------------------------- */

fy_tensor *const *fy_trained_list(fy_site *at, const fy_trained *what, size_t *n)
{
    *n = what->n;
    if (what->is_module) return fy_parameters_at(at, what->module, n);
    for (size_t i = 0; i < what->n; i++)
        if (!fy_check(at, FY_IN_LIST + (int)i, what->x[i])) return NULL;
    return what->x;
}

/* Those of a module are not arguments, and called by their names. */
static bool check_trained(fy_site *at, fy_tensor *const *x, size_t i)
{
    fy_tensor *one = x[i];
    if (!fy_dtype_is_real(one->dtype))
        return fy_fail_listed(at, "dtype", "train tensors of a float dtype", (int)i, 1, &one,
                              "optimizer can only optimize Tensors of a floating point dtype");
    if (!fy_is_leaf_at(at, one))
        return fy_fail_listed(at, "grad",
                              "pass the tensors that were made with .requires_grad, not what was computed from "
                              "them: fy_to(w, \"cuda\") is computed from w",
                              (int)i, 1, &one, "can't optimize a non-leaf Tensor");
    for (size_t j = 0; j < i; j++)
        if (x[j] == one)
            return fy_fail_listed(at, "value", "name each tensor once", (int)i, 1, &one,
                                  "some parameters appear in more than one parameter group");
    return true;
}

fy_optimizer *fy_optimizer_make(fy_site *at, const char *name, const fy_trained *what, double lr,
                                fy_optimizer_update update)
{
    size_t n;
    fy_session_start();
    fy_tensor *const *x = fy_trained_list(at, what, &n);
    if (!x) return NULL;
    if (n == 0)
        return fy_fail(at, "value", "pass a module with parameters, or tensors: fy_optim_sgd((w, b))",
                       "optimizer got an empty parameter list");
    fy_composed before = fy_compose((fy_composed){.on = what->is_module});
    size_t ok = 0;
    while (ok < n && check_trained(at, x, ok)) ok++;
    fy_compose(before);
    if (ok < n) return NULL;
    fy_optimizer *o = calloc(1, sizeof *o);
    fy_trained_parameter *p = calloc(n, sizeof *p);
    if (!o || !p) fy_out_of_memory("an optimizer");
    *o = (fy_optimizer){.magic = FY_OPTIMIZER, .name = name, .update = update, .lr = lr, .p = p, .n = n};
    for (size_t i = 0; i < n; i++) p[i].x = fy_tensor_retain(x[i]);
    return o;
}

bool fy_optimizer_check(fy_site *at, const fy_optimizer *o)
{
    char name[200];
    if (o && o->magic == FY_OPTIMIZER) return true;
    fy_argument(at, 0, name, sizeof name);
    if (!o) fy_fail_null(at, 0, "optimizer");
    else if (o->magic == FY_OPTIMIZER_FREED)
        fy_fail(at, "use_after_free", "free it once, after its last use", "%s was already freed", name);
    else
        fy_fail(at, "value", "make it with fy_optim_sgd, fy_optim_adam or fy_optim_adamw", "%s is not an optimizer",
                name);
    return false;
}

bool fy_optimizer_check_value(fy_site *at, const char *what, double x, bool ok)
{
    return ok || fy_fail(at, "value", "see ferry_optim.h for its range", "Invalid %s: %g", what, x);
}

void fy_set_lr_at(fy_site *at, fy_optimizer *o, double lr)
{
    FY_CALL(at);
    if (fy_optimizer_check(at, o) && fy_optimizer_check_value(at, "learning rate", lr, lr >= 0)) o->lr = lr;
}

/* ---- gradients ------------------------------------------------------------------------------------------------------
 */

fy_tensor *fy_gradient_of(fy_tensor *x)
{
    const fy_node *node = fy_node_of(x);
    return node ? node->grad : NULL;
}

static void zero(fy_site *at, fy_tensor *x)
{
    if (fy_gradient_of(x)) fy_gradient_set(at, x->node, NULL);
}

void fy_zero_grad_at(fy_site *at, fy_optimizer *o)
{
    FY_CALL(at);
    if (!fy_optimizer_check(at, o)) return;
    for (size_t i = 0; i < o->n; i++) zero(at, o->p[i].x);
}

void fy_module_zero_grad_at(fy_site *at, fy_module *m)
{
    FY_CALL(at);
    size_t n;
    fy_tensor *const *x = fy_parameters_at(at, m, &n);
    for (size_t i = 0; i < n; i++) zero(at, x[i]);
}

/* ---- a step ---------------------------------------------------------------------------------------------------------
 */

bool fy_step_at(fy_site *at, fy_optimizer *o)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_optimizer_check(at, o)) return false;
    fy_composed before = fy_compose((fy_composed){.on = true});
    bool ok = fy_step_groups(at, o);
    fy_compose(before);
    return ok;
}

void fy_optimizer_free_at(fy_site *at, fy_optimizer *o)
{
    FY_CALL(at);
    if (!o || !fy_optimizer_check(at, o)) return;
    for (size_t i = 0; i < o->n; i++) {
        for (int s = 0; s < FY_MOST_STATES; s++) fy_tensor_release(at, o->p[i].state[s], FY_WORD_free);
        fy_tensor_release(at, o->p[i].x, FY_WORD_free);
    }
    free(o->p);
    o->magic = FY_OPTIMIZER_FREED;
    fy_quarantine(o);
}
