/* clip.c: fy_clip_grad_norm_. As in PyTorch nothing waits for a card: the factor is computed there, and every gradient
 * is multiplied by it, be it 1. */
#include <stdlib.h>

#include "composed.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "grad_mode.h"
#include "optimizer.h"
#include "out_of_memory.h"
#include "session_hooks.h"

/* The norm of the gradients' norms; those of other devices are copied to the first one's. */
static fy_tensor *total_norm(fy_site *at, size_t n, fy_tensor *const *gradients)
{
    fy_tensor **norms = calloc(n, sizeof *norms), *total = NULL;
    if (!norms) fy_out_of_memory("the norms of gradients");
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        norms[i] = fy_norm_at(at, gradients[i], (fy_shape){0}, (fy_reduce_opts){0});
        if (norms[i]) norms[i] = fy_to_at(at, norms[i], fy_target_like(norms[0]), (fy_to_opts){0});
        ok = norms[i];
    }
    fy_tensor *all = ok ? fy_stack_at(at, n, norms, 0) : NULL;
    if (all) total = fy_norm_at(at, all, (fy_shape){0}, (fy_reduce_opts){0});
    free(norms);
    return total;
}

static bool scale(fy_site *at, size_t n, fy_tensor *const *gradients, fy_tensor *total, double max_norm)
{
    fy_tensor *sum = fy_add_at(at, fy_arg_tensor(total), fy_arg_real(1e-6), fy_arg_int(1));
    fy_tensor *factor = sum ? fy_div_at(at, fy_arg_real(max_norm), fy_arg_tensor(sum)) : NULL;
    factor = factor ? fy_clamp_max_at(at, fy_arg_tensor(factor), fy_arg_real(1)) : NULL;
    for (size_t i = 0; factor && i < n; i++) {
        fy_tensor *here = fy_to_at(at, factor, fy_target_like(gradients[i]), (fy_to_opts){0});
        if (!here || !fy_mul__at(at, fy_arg_tensor(gradients[i]), fy_arg_tensor(here))) return false;
    }
    return factor;
}

static fy_tensor *clip(fy_site *at, size_t n, fy_tensor *const *x, double max_norm)
{
    size_t found = 0;
    fy_tensor **gradients = calloc(n + 1, sizeof *gradients);
    if (!gradients) fy_out_of_memory("the list of gradients");
    for (size_t i = 0; i < n; i++)
        if ((gradients[found] = fy_gradient_of(x[i]))) found++;
    fy_tensor *total = found ? total_norm(at, found, gradients) : fy_zeros_at(at, (fy_shape){0}, (fy_opts){0});
    if (total && found && !scale(at, found, gradients, total, max_norm)) total = NULL;
    free(gradients);
    return total;
}

fy_tensor *fy_clip_grad_norm__at(fy_site *at, fy_trained what, double max_norm)
{
    FY_CALL(at);
    size_t n;
    fy_tensor *total = NULL;
    fy_session_start();
    fy_tensor *const *x = fy_trained_list(at, &what, &n);
    if (!x || !fy_optimizer_check_value(at, "max_norm", max_norm, max_norm >= 0)) return NULL;
    const char *name = fy_name_for(at, NULL);
    fy_composed before = fy_compose((fy_composed){.on = true});
    fy_scope scope = fy_scope_begin(at);
    {
        FY_WITHOUT_GRAD;
        total = clip(at, n, x, max_norm);
    }
    fy_compose(before);
    total = fy_scope_track(fy_scope_end_with(&scope, total));
    if (total && name) fy_tensor_rename(at, total, name);
    return total;
}
