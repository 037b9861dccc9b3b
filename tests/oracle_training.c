/* oracle_training.c: what PyTorch's optimizers do to a parameter; and that .foreach does the same to the last bit. */
#include <string.h>

#include "oracle.h"

#define AT(call) FY_AT(call, "")

/* ---- arguments of a case ---- */

static double real(const cJSON *args, const char *name, double otherwise)
{
    const cJSON *j = cJSON_GetObjectItem(args, name);
    return j && !cJSON_IsNull(j) ? real_of(j) : otherwise;
}

static bool flag(const cJSON *args, const char *name) { return cJSON_IsTrue(cJSON_GetObjectItem(args, name)); }

fy_optimizer *sgd_of(const cJSON *args, fy_trained what, bool foreach)
{
    return fy_optim_sgd_at(AT("fy_optim_sgd"), what,
                           (fy_sgd_opts){.lr = real(args, "lr", 1e-3),
                                         .momentum = real(args, "momentum", 0),
                                         .dampening = real(args, "dampening", 0),
                                         .weight_decay = real(args, "weight_decay", 0),
                                         .nesterov = flag(args, "nesterov"),
                                         .maximize = flag(args, "maximize"),
                                         .foreach = foreach,
                                         .fy_end_ = ~0});
}

static fy_adam_opts adam_options(const cJSON *args, double decay, bool foreach)
{
    const cJSON *betas = cJSON_GetObjectItem(args, "betas");
    return (fy_adam_opts){.lr = real(args, "lr", 1e-3),
                          .beta1 = betas ? real_of(cJSON_GetArrayItem(betas, 0)) : 0.9,
                          .beta2 = betas ? real_of(cJSON_GetArrayItem(betas, 1)) : 0.999,
                          .eps = real(args, "eps", 1e-8),
                          .weight_decay = real(args, "weight_decay", decay),
                          .amsgrad = flag(args, "amsgrad"),
                          .maximize = flag(args, "maximize"),
                          .foreach = foreach,
                          .fy_end_ = ~0};
}

fy_optimizer *adam_of(const cJSON *args, fy_trained what, bool foreach)
{
    return fy_optim_adam_at(AT("fy_optim_adam"), what, adam_options(args, 0, foreach));
}

fy_optimizer *adamw_of(const cJSON *args, fy_trained what, bool foreach)
{
    return fy_optim_adamw_at(AT("fy_optim_adamw"), what, adam_options(args, 0.01, foreach));
}

/* ---- training ---- */

/* n parameters with the same first values; the last one after the steps. */
static fy_tensor *train(size_t n, fy_optimizer *o, fy_tensor *const *w, size_t steps, fy_tensor *const *gradients)
{
    bool ok = o;
    for (size_t i = 0; ok && i < steps; i++) {
        for (size_t k = 0; ok && k < n; k++) ok = fy_set_grad(w[k], gradients[i]);
        ok = ok && fy_step(o);
    }
    fy_tensor *after = ok ? fy_detach(w[n - 1]) : NULL;
    fy_optimizer_free(o);
    return after;
}

static bool have_same_bytes(fy_tensor *a, fy_tensor *b)
{
    a = fy_contiguous(fy_cpu(a));
    b = fy_contiguous(fy_cpu(b));
    return !fy_numel(a) || !memcmp(fy_data(a), fy_data(b), (size_t)fy_numel(a) * size_of(fy_dtype_of(a)));
}

fy_tensor *train_both(const cJSON *args, optimizer_of make, size_t steps, fy_tensor *const *x)
{
    fy_tensor *w[3];
    for (int i = 0; i < 3; i++) w[i] = fy_requires_grad_(fy_clone(x[0]));
    fy_tensor *single = train(1, make(args, fy_trained_tensors(1, w), false), w, steps, x + 1);
    if (!single) return NULL;
    fy_tensor *listed = train(2, make(args, fy_trained_tensors(2, w + 1), true), w + 1, steps, x + 1);
    return listed && have_same_bytes(single, listed) ? single : NULL;
}
