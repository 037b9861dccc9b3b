/* sgd.c: stochastic gradient descent, with momentum: in PyTorch's order of operations. */
#include "error.h"
#include "event.h"
#include "frame.h"
#include "optimizer.h"

enum { MOMENTUM }; /* the state */

/* The gradients themselves, if nothing changes them. */
static fy_tensor **direction(fy_site *at, const fy_sgd_opts *s, fy_group *group)
{
    fy_tensor **g = group->g;
    if (s->maximize) g = fy_scaled(at, group, NULL, g, -1);
    if (g && s->weight_decay != 0) g = fy_add_scaled(at, group, NULL, g, group->x, s->weight_decay);
    if (!g || s->momentum == 0) return g;
    bool first = !group->p[0]->state[MOMENTUM];
    fy_tensor **sum = fy_group_state(at, group, MOMENTUM, "momentum_buffer", g);
    if (sum && !first && (sum = fy_scaled(at, group, sum, sum, s->momentum)))
        sum = fy_add_scaled(at, group, sum, sum, g, 1 - s->dampening);
    return s->nesterov && sum ? fy_add_scaled(at, group, NULL, g, sum, s->momentum) : sum;
}

static bool update(fy_site *at, const fy_optimizer *o, fy_group *group)
{
    fy_tensor **d = direction(at, &o->sgd, group);
    return d && fy_add_scaled(at, group, group->x, group->x, d, -o->lr);
}

fy_optimizer *fy_optim_sgd_at(fy_site *at, fy_trained what, fy_sgd_opts s)
{
    FY_CALL(at);
    double lr = s.fy_end_ & FY_LR_TOLD ? s.lr : 1e-3;
    if (!fy_optimizer_check_value(at, "learning rate", lr, lr >= 0) ||
        !fy_optimizer_check_value(at, "momentum value", s.momentum, s.momentum >= 0) ||
        !fy_optimizer_check_value(at, "weight_decay value", s.weight_decay, s.weight_decay >= 0))
        return NULL;
    if (s.nesterov && (s.momentum <= 0 || s.dampening != 0))
        return fy_fail(at, "value", "fy_optim_sgd(net, .momentum = 0.9, .nesterov = true)",
                       "Nesterov momentum requires a momentum and zero dampening");
    fy_optimizer *o = fy_optimizer_make(at, "SGD", &what, lr, update);
    if (!o) return NULL;
    o->sgd = s;
    o->foreach = s.foreach;
    return o;
}
