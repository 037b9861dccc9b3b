/* ferry_optim.h: optimizers, PyTorch's torch.optim. Included by ferry.h.
 *
 *     fy_optimizer *optimizer = fy_optim_sgd(net, .lr = 0.1, .momentum = 0.9);
 *     FY_TIMES(step, 100) {
 *         fy_tensor *loss = fy_cross_entropy(fy_call(net, x), y);
 *         fy_zero_grad(optimizer);
 *         fy_backward(loss);
 *         fy_step(optimizer);
 *     }
 *     fy_optimizer_free(optimizer);
 *
 * An optimizer holds references to its parameters, and the state that it keeps of each, such as momentum: tensors of the
 * parameter's size, made by the first fy_step on the device that the parameter is on then. */
#ifndef FERRY_OPTIM_H
#define FERRY_OPTIM_H

typedef struct fy_optimizer fy_optimizer;

typedef struct fy_sgd_opts {
    const struct fy_options_by_name *fy_begin_;
    double lr;           /* learning rate; default 1e-3 */
    double momentum;     /* of the sum of earlier gradients; default 0: none is kept */
    double dampening;    /* of the new gradient in that sum */
    double weight_decay; /* times the parameter, added to the gradient */
    bool nesterov;       /* look ahead: needs a momentum, and no dampening */
    bool maximize;       /* go up in place of down */
    bool foreach;        /* see below */
    int fy_end_;
} fy_sgd_opts;

typedef struct fy_adam_opts {
    const struct fy_options_by_name *fy_begin_;
    double lr;           /* learning rate; default 1e-3 */
    double beta1, beta2; /* how much of the averages of gradients and of their squares each step keeps; 0.9, 0.999 */
    double eps;          /* added to the denominator; default 1e-8 */
    double weight_decay; /* adam: as in SGD, default 0; adamw: of the parameter itself, default 0.01 */
    bool amsgrad;        /* divide by the largest average so far */
    bool maximize;
    bool foreach;        /* see below */
    int fy_end_;
} fy_adam_opts;

/* Each takes a module, or tensors in parentheses: fy_optim_sgd((w, b), .lr = 0.1). Those must be leaves.
 * fy_optim_sgd:   p = p - lr * g; with momentum p = p - lr * m, m = momentum * m + (1 - dampening) * g
 * fy_optim_adam:  p = p - lr * m' / (sqrt(v') + eps); m = beta1 * m + (1 - beta1) * g, v = beta2 * v + (1 - beta2) * g^2,
 *                 m' = m / (1 - beta1^t), v' = v / (1 - beta2^t)      (Kingma and Ba, 2014)
 * fy_optim_adamw: likewise, after p = p - lr * weight_decay * p       (Loshchilov and Hutter, 2017)
 *
 * .foreach = true, PyTorch's foreach=True: each op of an update is one launch for all parameters of a device and dtype,
 * in place of a launch for each of them: foreach_add in the log, whose `in` and `out` list every tensor. A launch takes
 * up to 64 tensors; more take several. The results are the same to the last bit. What an update computes on the way,
 * such as Adam's denominators, exists for all parameters at once, which takes more memory. A parameter is updated by
 * itself if its gradient has another device, dtype or memory format, or gaps, or if it shares bytes with another's.
 * Parameters that missed some steps, having no gradient then, are launched apart from the others. */
#define fy_optim_sgd(...)   FY_OPTIM(sgd, sgd, FY_SGD_TOLD, #__VA_ARGS__, __VA_ARGS__)
#define fy_optim_adam(...)  FY_OPTIM(adam, adam, FY_ADAM_TOLD, #__VA_ARGS__, __VA_ARGS__)
#define fy_optim_adamw(...) FY_OPTIM(adamw, adam, FY_ADAM_TOLD, #__VA_ARGS__, __VA_ARGS__)

#define fy_step(optimizer) fy_step_at(FY_AT("fy_step", #optimizer), optimizer) /* changes each parameter that has a
                                 gradient, in place. Returns false after an error */
#define fy_zero_grad(x) FY_ZERO_GRAD(FY_AT("fy_zero_grad", #x), x) /* frees the gradients of an optimizer's or a
                                 module's parameters: fy_grad is NULL then, as in PyTorch 2 */
#define fy_set_lr(optimizer, lr) fy_set_lr_at(FY_AT("fy_set_lr", #optimizer ", " #lr), optimizer, lr)
#define fy_clip_grad_norm_(parameters, max_norm) FY_CLIP_GRAD_NORM("fy_clip_grad_norm_", #parameters ", " #max_norm, \
                                 parameters, max_norm)
                                 /* of a module, or tensors in parentheses: scales the gradients so that the norm of all
                                  * of them together is at most max_norm. Returns that norm before, a 0-dim tensor on the
                                  * first gradient's device; reading it would wait for the card */
#define fy_optimizer_free(optimizer) fy_optimizer_free_at(FY_AT("fy_optimizer_free", #optimizer), optimizer)

/* ---- implementation of the macros -------------------------------------------------------------------------------- */

typedef struct fy_trained { /* what an optimizer trains */
    fy_module *module; /* NULL: the tensors */
    bool is_module;
    size_t n;
    fy_tensor *const *x;
} fy_trained;

static inline fy_trained fy_trained_module(fy_module *m) { fy_trained t = {m, true, 0, 0}; return t; }
static inline fy_trained fy_trained_tensors(size_t n, fy_tensor *const *x) { fy_trained t = {0, false, n, x}; return t; }

#define FY_TRAINED(x) FY_CAT(FY_TRAINED_, FY_IS_PAREN(x))(x)
#define FY_TRAINED_0(x) fy_trained_module(FY_MODULE(x))
#define FY_TRAINED_1(x) FY_TRAINED_LIST x
#define FY_TRAINED_LIST(...) fy_trained_tensors(FY_TENSOR_COUNT(__VA_ARGS__), FY_TENSOR_ARRAY(__VA_ARGS__))
#define FY_OPTIM(name, opts, told, text, ...) \
    fy_optim_##name##_at(FY_AT("fy_optim_" #name, text), FY_TRAINED(FY_FIRST(__VA_ARGS__)), \
                         FY_OPTIONS(fy_##opts##_opts, "fy_optim_" #name "(net, .lr = 0.1)", \
                                    told(FY_REST(__VA_ARGS__, .fy_end_ = 0))))
#define FY_CLIP_GRAD_NORM(call, text, x, max_norm) fy_clip_grad_norm__at(FY_AT(call, text), FY_TRAINED(x), max_norm)
#define FY_ZERO_GRAD(at, x) \
    _Generic((x), fy_optimizer *: fy_zero_grad_at, default: fy_module_zero_grad_at) \
        ((FY_HOLDS(!FY_IS_TENSOR(x), "fy_zero_grad takes an optimizer or a module; for a tensor: fy_set_grad(x, NULL)"), \
          (void)FY_IS_MODULE(__typeof__(*_Generic((x), fy_optimizer *: (fy_module *)0, fy_tensor *: (fy_module *)0, \
                                                  default: (x)))), at), (void *)(x))

#define FY_IS_NO_LR(text) (__builtin_strncmp(text, ".lr", 3) != 0)
#define FY_IS_NO_BETA1(text) (__builtin_strncmp(text, ".beta1", 6) != 0)
#define FY_IS_NO_BETA2(text) (__builtin_strncmp(text, ".beta2", 6) != 0)
#define FY_IS_NO_DECAY(text) (__builtin_strncmp(text, ".weight_decay", 13) != 0)
enum { FY_LR_TOLD = 2, FY_BETA1_TOLD = 4, FY_BETA2_TOLD = 8, FY_DECAY_TOLD = 16 };
#define FY_SGD_TOLD(...) __VA_ARGS__ + FY_TOLD(FY_LR_TOLD, FY_IS_NO_LR, __VA_ARGS__)
#define FY_ADAM_TOLD(...) \
    __VA_ARGS__ + FY_TOLD(FY_EPS_TOLD, FY_IS_NO_EPS, __VA_ARGS__) + FY_TOLD(FY_LR_TOLD, FY_IS_NO_LR, __VA_ARGS__) + \
        FY_TOLD(FY_BETA1_TOLD, FY_IS_NO_BETA1, __VA_ARGS__) + FY_TOLD(FY_BETA2_TOLD, FY_IS_NO_BETA2, __VA_ARGS__) + \
        FY_TOLD(FY_DECAY_TOLD, FY_IS_NO_DECAY, __VA_ARGS__)

fy_optimizer *fy_optim_sgd_at(fy_site *at, fy_trained what, fy_sgd_opts o);
fy_optimizer *fy_optim_adam_at(fy_site *at, fy_trained what, fy_adam_opts o);
fy_optimizer *fy_optim_adamw_at(fy_site *at, fy_trained what, fy_adam_opts o);
bool fy_step_at(fy_site *at, fy_optimizer *optimizer);
void fy_zero_grad_at(fy_site *at, fy_optimizer *optimizer);
void fy_module_zero_grad_at(fy_site *at, fy_module *m);
void fy_set_lr_at(fy_site *at, fy_optimizer *optimizer, double lr);
fy_tensor *fy_clip_grad_norm__at(fy_site *at, fy_trained what, double max_norm);
void fy_optimizer_free_at(fy_site *at, fy_optimizer *optimizer);

#endif
