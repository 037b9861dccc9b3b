/* adam.c: Adam and AdamW, in PyTorch's order of operations. */
#include <math.h>

#include "event.h"
#include "optimizer.h"

enum { AVERAGE, SQUARES, LARGEST }; /* the states */

static fy_arg arg(fy_tensor *x) { return fy_arg_tensor(x); }

/* The averages of gradients and of their squares; false after an error. */
static bool average(fy_site *at, const fy_adam_opts *a, fy_trained_parameter *p, fy_tensor *g)
{
    fy_tensor *m = fy_optimizer_state(at, p, AVERAGE, "exp_avg", NULL);
    fy_tensor *v = m ? fy_optimizer_state(at, p, SQUARES, "exp_avg_sq", NULL) : NULL;
    return v && fy_scaled(at, m, m, a->beta1) && fy_add_scaled(at, m, m, g, 1 - a->beta1) &&
           fy_scaled(at, v, v, a->beta2) && fy_optimizer_op(at, FY_OP_addcmul, v, arg(v), arg(g), arg(g), 1 - a->beta2);
}

/* sqrt(v / (1 - beta2^t)) + eps */
static fy_tensor *denominator(fy_site *at, const fy_adam_opts *a, fy_trained_parameter *p)
{
    fy_tensor *v = p->state[SQUARES];
    if (a->amsgrad) {
        fy_tensor *largest = fy_optimizer_state(at, p, LARGEST, "max_exp_avg_sq", NULL);
        if (!largest) return NULL;
        v = fy_optimizer_op(at, FY_OP_maximum, largest, arg(largest), arg(v), fy_arg_int(0), 0);
    }
    double root = sqrt(1 - pow(a->beta2, (double)p->steps));
    fy_tensor *d = fy_optimizer_op(at, FY_OP_sqrt, NULL, arg(v), fy_arg_int(0), fy_arg_int(0), 0);
    if (d) d = fy_optimizer_op(at, FY_OP_div, d, arg(d), fy_arg_real(root), fy_arg_int(0), 0);
    return d ? fy_optimizer_op(at, FY_OP_add, d, arg(d), fy_arg_real(a->eps), fy_arg_int(0), 1) : NULL;
}

static bool update(fy_site *at, const fy_optimizer *o, fy_trained_parameter *p, fy_tensor *g)
{
    const fy_adam_opts *a = &o->adam;
    if (a->maximize) g = fy_scaled(at, NULL, g, -1);
    if (g && a->weight_decay != 0 && o->decoupled) {
        if (!fy_scaled(at, p->x, p->x, 1 - o->lr * a->weight_decay)) return false;
    } else if (g && a->weight_decay != 0) {
        g = fy_add_scaled(at, NULL, g, p->x, a->weight_decay);
    }
    if (!g || !average(at, a, p, g)) return false;
    double rate = o->lr / (1 - pow(a->beta1, (double)p->steps));
    fy_tensor *d = denominator(at, a, p);
    return d && fy_optimizer_op(at, FY_OP_addcdiv, p->x, arg(p->x), arg(p->state[AVERAGE]), arg(d), -rate);
}

static fy_optimizer *make(fy_site *at, const fy_trained *what, fy_adam_opts a, bool decoupled)
{
    double lr = a.fy_end_ & FY_LR_TOLD ? a.lr : 1e-3;
    if (!(a.fy_end_ & FY_BETA1_TOLD)) a.beta1 = 0.9;
    if (!(a.fy_end_ & FY_BETA2_TOLD)) a.beta2 = 0.999;
    if (!(a.fy_end_ & FY_EPS_TOLD)) a.eps = 1e-8;
    if (!(a.fy_end_ & FY_DECAY_TOLD)) a.weight_decay = decoupled ? 0.01 : 0;
    if (!fy_optimizer_check_value(at, "epsilon value", a.eps, a.eps >= 0) ||
        !fy_optimizer_check_value(at, "beta parameter at index 0", a.beta1, a.beta1 >= 0 && a.beta1 < 1) ||
        !fy_optimizer_check_value(at, "beta parameter at index 1", a.beta2, a.beta2 >= 0 && a.beta2 < 1) ||
        !fy_optimizer_check_value(at, "weight_decay value", a.weight_decay, a.weight_decay >= 0))
        return NULL;
    fy_optimizer *o = fy_optimizer_make(at, what, lr, update);
    if (!o) return NULL;
    o->adam = a;
    o->decoupled = decoupled;
    return o;
}

fy_optimizer *fy_optim_adam_at(fy_site *at, fy_trained what, fy_adam_opts a) { return make(at, &what, a, false); }
fy_optimizer *fy_optim_adamw_at(fy_site *at, fy_trained what, fy_adam_opts a) { return make(at, &what, a, true); }
