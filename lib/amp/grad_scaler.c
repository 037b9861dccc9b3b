/* grad_scaler.c: fy_grad_scaler, PyTorch's torch.amp.GradScaler: losses times a scale that keeps float16 gradients off
 * zero, gradients divided by it again, and steps left out whose gradients overflowed.
 *
 * Per gradient two ops find its largest absolute value, infinite or NaN if an element is, and join it to that of the
 * others on its device; a third divides it by the scale. That one number per device is what fy_scaler_step brings home
 * and waits for. The scale is a number of the host, which knows by then whether it changes. */
#include <math.h>
#include <stdlib.h>

#include "composed.h"
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "optimizer.h"
#include "out_of_memory.h"
#include "quarantine.h"
#include "session_hooks.h"
#include "tensor.h"
#include "transfer.h"

enum { SCALER = 0x46794753, SCALER_FREED = 0x46794746 };

/* An optimizer since the last update. */
typedef struct checked {
    const fy_optimizer *optimizer;
    fy_tensor **largest; /* by device number; NULL: no gradients there */
    bool stepped;
    bool is_read, overflowed; /* overflowed: valid if is_read */
} checked;

struct fy_grad_scaler {
    uint32_t magic;
    fy_grad_scaler_opts o; /* defaults filled in */
    double scale;
    int64_t good; /* steps since the last change of the scale */
    bool used;    /* fy_scaler_scale was called */
    checked *list;
    size_t n;
};

/* ---- making and checking --------------------------------------------------------------------------------------- */

fy_grad_scaler *fy_amp_grad_scaler_at(fy_site *at, fy_grad_scaler_opts o)
{
    FY_CALL(at);
    const char *hint = "leave it out for PyTorch's default";
    fy_session_start();
    if (o.init_scale == 0) o.init_scale = 65536;
    if (o.growth_factor == 0) o.growth_factor = 2;
    if (o.backoff_factor == 0) o.backoff_factor = 0.5;
    if (o.growth_interval == 0) o.growth_interval = 2000;
    if (!((float)o.init_scale > 0) || isinf((float)o.init_scale)) /* PyTorch's is a float32 */
        return fy_fail(at, "value", hint, "the initial scale must be a positive number of float32, but got %g",
                       o.init_scale);
    if (!(o.growth_factor > 1))
        return fy_fail(at, "value", hint, "The growth factor must be > 1.0. (got %g)", o.growth_factor);
    if (!(o.backoff_factor < 1) || o.backoff_factor < 0)
        return fy_fail(at, "value", hint, "The backoff factor must be < 1.0. (got %g)", o.backoff_factor);
    if (o.growth_interval < 0)
        return fy_fail(at, "value", hint, "the growth interval must be positive, but got %lld",
                       (long long)o.growth_interval);
    fy_grad_scaler *s = calloc(1, sizeof *s);
    if (!s) fy_out_of_memory("a gradient scaler");
    *s = (fy_grad_scaler){.magic = SCALER, .o = o, .scale = o.init_scale};
    return s;
}

static bool check(fy_site *at, const fy_grad_scaler *s)
{
    char name[200];
    if (s && s->magic == SCALER) return true;
    fy_argument(at, 0, name, sizeof name);
    if (!s) fy_fail_null(at, 0, "gradient scaler");
    else if (s->magic == SCALER_FREED)
        fy_fail(at, "use_after_free", "free it once, after its last use", "%s was already freed", name);
    else fy_fail(at, "value", "make it with fy_amp_grad_scaler()", "%s is not a gradient scaler", name);
    return false;
}

/* Argument 1; the scaler must have scaled a loss. */
static bool check_optimizer(fy_site *at, const fy_grad_scaler *s, const fy_optimizer *o, const char *what)
{
    char name[200];
    if (!check(at, s)) return false;
    fy_argument(at, 1, name, sizeof name);
    if (!o) return fy_fail_null(at, 1, "optimizer");
    if (o->magic != FY_OPTIMIZER)
        return fy_fail(at, "value", "make it with fy_optim_sgd, fy_optim_adam or fy_optim_adamw",
                       o->magic == FY_OPTIMIZER_FREED ? "%s was already freed" : "%s is not an optimizer", name);
    if (s->used || s->o.disabled) return true;
    return fy_fail(at, "value", "fy_backward(fy_scaler_scale(scaler, loss))",
                   "Attempted %s but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
                   "outputs) earlier in the iteration.",
                   what);
}

static void forget(fy_site *at, fy_grad_scaler *s)
{
    for (size_t i = 0; i < s->n; i++) {
        for (int d = 0; d < fy_dev_count(); d++) fy_tensor_release(at, s->list[i].largest[d], FY_WORD_free);
        free(s->list[i].largest);
    }
    free(s->list);
    s->list = NULL;
    s->n = 0;
}

void fy_grad_scaler_free_at(fy_site *at, fy_grad_scaler *s)
{
    FY_CALL(at);
    if (!s || !check(at, s)) return;
    forget(at, s);
    s->magic = SCALER_FREED;
    fy_quarantine(s);
}

double fy_scaler_get_scale_at(fy_site *at, fy_grad_scaler *s)
{
    FY_CALL(at);
    if (!check(at, s)) return NAN;
    return s->o.disabled ? 1 : s->scale;
}

/* ---- scaling ------------------------------------------------------------------------------------------------------- */

/* A 16-bit loss is converted first: in its own dtype the product would overflow. */
fy_tensor *fy_scaler_scale_at(fy_site *at, fy_grad_scaler *s, fy_tensor *loss)
{
    FY_CALL(at);
    fy_session_start();
    if (!check(at, s) || !fy_check(at, 1, loss)) return NULL;
    if (s->o.disabled) return fy_scope_track(fy_tensor_retain(loss));
    s->used = true;
    if (fy_dtype_size(loss->dtype) > 2 || !fy_dtype_is_real(loss->dtype))
        return fy_mul_at(at, fy_arg_tensor(loss), fy_arg_real(s->scale));
    fy_tensor *wide = fy_to_at(at, loss, fy_target_dtype(FY_FLOAT32), (fy_to_opts){0});
    fy_tensor *out = wide ? fy_mul_at(at, fy_arg_tensor(wide), fy_arg_real(s->scale)) : NULL;
    fy_free_at(at, wide);
    return out;
}

/* ---- unscaling ------------------------------------------------------------------------------------------------------
 */

static checked *find(const fy_grad_scaler *s, const fy_optimizer *o)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].optimizer == o) return &s->list[i];
    return NULL;
}

static checked *add(fy_grad_scaler *s, const fy_optimizer *o)
{
    s->list = realloc(s->list, (s->n + 1) * sizeof *s->list);
    fy_tensor **largest = calloc((size_t)fy_dev_count(), sizeof(fy_tensor *));
    if (!s->list || !largest) fy_out_of_memory("the gradients of a scaler");
    s->list[s->n] = (checked){.optimizer = o, .largest = largest};
    return &s->list[s->n++];
}

/* An op that no graph records, in the scope; in place if `out` is given. The scalar follows the operands (op.h). */
static fy_tensor *compute(fy_site *at, int op, fy_tensor *out, fy_tensor *a, fy_arg b, double scalar)
{
    fy_call c = {.at = at, .op = op, .in = {fy_arg_tensor(a), b}, .out = out};
    c.real[fy_ops[op].nin] = scalar;
    fy_tensor *result = fy_compute(&c);
    return out ? result : fy_scope_track(result);
}

/* Joins the gradient's largest absolute value to *largest; NaN wins. */
static bool note_largest(fy_site *at, fy_tensor *g, fy_tensor **largest)
{
    fy_tensor *own = compute(at, FY_OP_norm, NULL, g, fy_arg_int(0), INFINITY), *both = own;
    if (own && *largest) both = compute(at, FY_OP_maximum, NULL, *largest, fy_arg_tensor(own), 0);
    if (!both) return false;
    fy_tensor_release(at, *largest, FY_WORD_free);
    *largest = fy_tensor_retain(both);
    return true;
}

static bool unscale(fy_site *at, fy_grad_scaler *s, const fy_optimizer *o)
{
    bool ok = true;
    double inverse = (float)(1 / s->scale); /* PyTorch's is a float32, too */
    for (size_t i = 0; i < o->n; i++) {
        fy_tensor *g = fy_gradient_of(o->p[i].x);
        if (g && g->dtype == FY_FLOAT16)
            return fy_fail_about(at, "dtype", "keep parameters in float32: FY_AUTOCAST casts them for each call", 1, &g,
                                 "Attempting to unscale FP16 gradients.");
    }
    checked *c = add(s, o);
    for (size_t i = 0; ok && i < o->n; i++) {
        fy_tensor *g = fy_gradient_of(o->p[i].x);
        if (!g || fy_tensor_numel(g) == 0) continue;
        fy_scope scope = fy_scope_begin(at);
        ok = note_largest(at, g, &c->largest[g->storage->dev->number]) &&
             compute(at, FY_OP_mul, g, g, fy_arg_real(inverse), 0);
        fy_scope_end(&scope);
    }
    return ok;
}

bool fy_scaler_unscale__at(fy_site *at, fy_grad_scaler *s, fy_optimizer *o)
{
    FY_CALL(at);
    fy_session_start();
    if (!check_optimizer(at, s, o, "unscale_")) return false;
    if (s->o.disabled) return true;
    const checked *c = find(s, o);
    if (c)
        return fy_fail(at, "value", "call fy_scaler_update at the end of each iteration",
                       c->stepped ? "unscale_() is being called after step()."
                                  : "unscale_() has already been called on this optimizer since the last update().");
    fy_composed before = fy_compose((fy_composed){.on = true});
    bool ok = unscale(at, s, o);
    fy_compose(before);
    return ok;
}

/* ---- steps
 * ------------------------------------------------------------------------------------------------------------ */

/* Reads one number from each device that has gradients, and waits for it. False after an error. */
static bool read_largest(fy_site *at, checked *c)
{
    fy_arg largest;
    bool any = false;
    if (c->is_read) return true;
    for (int d = 0; d < fy_dev_count(); d++) {
        if (!c->largest[d]) continue;
        if (!fy_take_number(at, c->largest[d], &largest)) return false;
        c->overflowed |= !isfinite(largest.real);
        any = true;
    }
    c->is_read = any;
    return any || fy_fail(at, "value", "call fy_backward first: no parameter has a gradient",
                          "No inf checks were recorded for this optimizer.");
}

static bool has_gradients(const checked *c)
{
    for (int d = 0; d < fy_dev_count(); d++)
        if (c->largest[d]) return true;
    return false;
}

static void drop_last(fy_grad_scaler *s) { free(s->list[--s->n].largest); }

static bool step(fy_site *at, fy_grad_scaler *s, fy_optimizer *o)
{
    bool unscaled = find(s, o);
    if (!unscaled && !unscale(at, s, o)) return false;
    checked *c = find(s, o);
    if (!read_largest(at, c)) {
        if (!unscaled && !has_gradients(c)) drop_last(s); /* nothing was done: as if it had not been called */
        return false;
    }
    c->stepped = true;
    return !c->overflowed && fy_step_at(at, o);
}

bool fy_scaler_step_at(fy_site *at, fy_grad_scaler *s, fy_optimizer *o)
{
    FY_CALL(at);
    fy_session_start();
    if (!check_optimizer(at, s, o, "step")) return false;
    if (s->o.disabled) return fy_step_at(at, o);
    const checked *c = find(s, o);
    if (c && c->stepped)
        return fy_fail(at, "value", "call fy_scaler_update at the end of each iteration",
                       "step() has already been called since the last update().");
    fy_composed before = fy_compose((fy_composed){.on = true});
    bool ok = step(at, s, o);
    fy_compose(before);
    return ok;
}

/* ---- the scale ---------------------------------------------------------------------------------------------------- */

static void change_scale(fy_grad_scaler *s, bool overflowed)
{
    if (overflowed) {
        s->scale = (float)(s->scale * s->o.backoff_factor);
        s->good = 0;
    } else if (++s->good == s->o.growth_interval) {
        double grown = (float)(s->scale * s->o.growth_factor);
        if (isfinite(grown)) s->scale = grown;
        s->good = 0;
    }
}

bool fy_scaler_update_at(fy_site *at, fy_grad_scaler *s)
{
    FY_CALL(at);
    bool overflowed = false;
    fy_session_start();
    if (!check(at, s)) return false;
    if (s->o.disabled) return true;
    if (s->n == 0)
        return fy_fail(at, "value", "call fy_scaler_step first", "No inf checks were recorded prior to update.");
    for (size_t i = 0; i < s->n; i++) {
        if (!read_largest(at, &s->list[i])) return false;
        overflowed |= s->list[i].overflowed;
    }
    change_scale(s, overflowed);
    forget(at, s);
    return true;
}
