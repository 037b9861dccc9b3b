/* adam.c: Adam and AdamW, in PyTorch's order of operations. */
#include <math.h>

#include "event.h"
#include "frame.h"
#include "optimizer.h"

enum { AVERAGE, SQUARES, LARGEST }; /* the states */

static const fy_each none; /* an operand that the op does not have: as a number */

/* The averages of gradients and of their squares; false after an error. */
static bool average(fy_site *at, const fy_adam_opts *a, fy_group *group, fy_tensor **g, fy_tensor ***averages,
                    fy_tensor ***squares)
{
    fy_tensor **m = *averages = fy_group_state(at, group, AVERAGE, "exp_avg", NULL);
    fy_tensor **v = *squares = m ? fy_group_state(at, group, SQUARES, "exp_avg_sq", NULL) : NULL;
    return v && fy_scaled(at, group, m, m, a->beta1) && fy_add_scaled(at, group, m, m, g, 1 - a->beta1) &&
           fy_scaled(at, group, v, v, a->beta2) &&
           fy_group_op(at, group, FY_OP_addcmul, v, fy_each_of(v), fy_each_of(g), fy_each_of(g), 1 - a->beta2);
}

/* sqrt(v / (1 - beta2^t)) + eps */
static fy_tensor **denominator(fy_site *at, const fy_adam_opts *a, fy_group *group, fy_tensor **v)
{
    if (a->amsgrad) {
        fy_tensor **largest = fy_group_state(at, group, LARGEST, "max_exp_avg_sq", NULL);
        v = fy_group_op(at, group, FY_OP_maximum, largest, fy_each_of(largest), fy_each_of(v), none, 0);
    }
    double root = sqrt(1 - pow(a->beta2, (double)group->p[0]->steps));
    fy_tensor **d = fy_group_op(at, group, FY_OP_sqrt, NULL, fy_each_of(v), none, none, 0);
    if (d) d = fy_group_op(at, group, FY_OP_div, d, fy_each_of(d), fy_each_number(root), none, 0);
    return d ? fy_group_op(at, group, FY_OP_add, d, fy_each_of(d), fy_each_number(a->eps), none, 1) : NULL;
}

static bool update(fy_site *at, const fy_optimizer *o, fy_group *group)
{
    const fy_adam_opts *a = &o->adam;
    fy_tensor **g = group->g, **x = group->x, **m, **v;
    if (a->maximize) g = fy_scaled(at, group, NULL, g, -1);
    if (g && a->weight_decay != 0 && o->decoupled) {
        if (!fy_scaled(at, group, x, x, 1 - o->lr * a->weight_decay)) return false;
    } else if (g && a->weight_decay != 0) {
        g = fy_add_scaled(at, group, NULL, g, x, a->weight_decay);
    }
    if (!g || !average(at, a, group, g, &m, &v)) return false;
    double rate = o->lr / (1 - pow(a->beta1, (double)group->p[0]->steps));
    fy_tensor **d = denominator(at, a, group, v);
    return d && fy_group_op(at, group, FY_OP_addcdiv, x, fy_each_of(x), fy_each_of(m), fy_each_of(d), -rate);
}

static fy_optimizer *make(fy_site *at, const fy_trained *what, fy_adam_opts a, bool decoupled)
{
    double lr = a.fy_end_ & FY_LR_TOLD ? a.lr : 1e-3;
    if (!(a.fy_end_ & FY_BETA1_TOLD)) a.beta1 = 0.9;
    if (!(a.fy_end_ & FY_BETA2_TOLD)) a.beta2 = 0.999;
    if (!(a.fy_end_ & FY_EPS_TOLD)) a.eps = 1e-8;
    if (!(a.fy_end_ & FY_DECAY_TOLD)) a.weight_decay = decoupled ? 0.01 : 0;
    if (!fy_optimizer_check_value(at, "learning rate", lr, lr >= 0) ||
        !fy_optimizer_check_value(at, "epsilon value", a.eps, a.eps >= 0) ||
        !fy_optimizer_check_value(at, "beta parameter at index 0", a.beta1, a.beta1 >= 0 && a.beta1 < 1) ||
        !fy_optimizer_check_value(at, "beta parameter at index 1", a.beta2, a.beta2 >= 0 && a.beta2 < 1) ||
        !fy_optimizer_check_value(at, "weight_decay value", a.weight_decay, a.weight_decay >= 0))
        return NULL;
    fy_optimizer *o = fy_optimizer_make(at, decoupled ? "AdamW" : "Adam", what, lr, update);
    if (!o) return NULL;
    o->adam = a;
    o->foreach = a.foreach;
    o->decoupled = decoupled;
    return o;
}

fy_optimizer *fy_optim_adam_at(fy_site *at, fy_trained what, fy_adam_opts a)
{
    FY_CALL(at);
    return make(at, &what, a, false);
}
fy_optimizer *fy_optim_adamw_at(fy_site *at, fy_trained what, fy_adam_opts a)
{
    FY_CALL(at);
    return make(at, &what, a, true);
}
