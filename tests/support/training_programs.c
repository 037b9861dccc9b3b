/* training_programs.c: see training_programs.h. */
#include "training_programs.h"

#include "misconception_programs.h"

static fy_tensor *card_data(void) { return fy_ones((8, 64), .device = CARD); }

/* ---- leaves ---- */

void moved_leaf(void)
{
    fy_tensor *w = fy_to(fy_requires_grad_(host_tensor(64)), CARD); /* HERE */
    fy_backward(fy_sum(fy_mul(card_data(), w)));
    if (!fy_grad(w)) printf("no gradient\n");
}

void leaf_on_the_card(void)
{
    fy_tensor *w = fy_requires_grad_(fy_to(host_tensor(64), CARD));
    fy_backward(fy_sum(fy_mul(card_data(), w)));
    fy_print(fy_sum(fy_grad(w)));
}

void moved_leaf_each_step(void)
{
    fy_tensor *w = fy_requires_grad_(host_tensor(64)), *x = card_data();
    fy_optimizer *optimizer = fy_optim_sgd((w), .lr = 0.1);
    FY_TIMES (i, 3) {
        fy_zero_grad(optimizer);
        fy_backward(fy_sum(fy_mul(x, fy_to(w, CARD)))); /* HERE */
        fy_step(optimizer);
    }
    fy_optimizer_free(optimizer);
}

void gradient_wanted_at_home(void)
{
    fy_tensor *x = fy_requires_grad_(host_tensor(64));
    fy_backward(fy_sum(fy_mul(card_data(), fy_to(x, CARD))));
    fy_print(fy_grad(x));
}

/* ---- modules ---- */

typedef struct masked {
    fy_module base;
    fy_tensor *factor, *mask;
} masked;

static fy_tensor *apply_mask(void *module, fy_tensor *x)
{
    masked *self = module;
    return fy_mul(fy_mul(x, self->factor), self->mask); /* HERE */
}

static fy_tensor *copy_and_apply_mask(void *module, fy_tensor *x)
{
    masked *self = module;
    return fy_mul(fy_mul(x, self->factor), fy_to(self->mask, CARD)); /* HERE */
}

static masked *masked_new(fy_forward forward)
{
    masked *net = fy_module_new(masked, forward);
    net->factor = fy_parameter(net, "factor", host_tensor(64));
    net->mask = host_tensor(64);
    return net;
}

static void use_mask(masked *net)
{
    fy_tensor *x = card_data();
    fy_on_error(FY_RETURN);
    fy_module_to(net, CARD);
    FY_NO_GRAD for (int i = 0; i < 3; i++) x = fy_call(net, x);
    if (x) fy_print(fy_sum(x));
    fy_module_free(net);
}

void mask_left_behind(void) { use_mask(masked_new(apply_mask)); }
void mask_copied_each_time(void) { use_mask(masked_new(copy_and_apply_mask)); }

void mask_registered(void)
{
    masked *net = masked_new(apply_mask);
    fy_buffer(net, "mask", net->mask);
    use_mask(net);
}

void data_of_the_loop(void)
{
    fy_tensor *x = fy_view(host_tensor(512), (8, 64)), *sum = fy_zeros((8, 2), .device = CARD);
    fy_module *net = fy_nn_linear(64, 2, .device = CARD);
    masked *other = masked_new(apply_mask);
    fy_module_to(other, CARD);
    FY_NO_GRAD for (int i = 0; i < 3; i++) fy_add_(sum, fy_call(net, fy_to(x, CARD)));
    fy_print(fy_sum(sum));
    fy_print(fy_mul(other->factor, 2));
    fy_module_free(other);
    fy_module_free(net);
}

/* ---- optimizers ---- */

/* Two steps; where: the module's device before the first and the second. */
static void two_steps(const char *first, const char *second)
{
    fy_module *net = fy_nn_linear(64, 2);
    fy_optimizer *optimizer = fy_optim_adam(net, .lr = 0.1);
    const char *const where[] = {first, second};
    fy_on_error(FY_RETURN);
    for (int i = 0; i < 2; i++) {
        fy_module_to(net, where[i]);
        fy_zero_grad(optimizer);
        fy_backward(fy_sum(fy_call(net, fy_ones((8, 64), .device = where[i]))));
        fy_step(optimizer); /* HERE */
    }
    fy_optimizer_free(optimizer);
    fy_module_free(net);
}

void state_left_behind(void) { two_steps("cpu", CARD); }
void state_made_on_the_card(void) { two_steps(CARD, CARD); }
void optimizer_before_the_move(void) { two_steps(CARD, CARD); }

void optimizer_of_the_original(void)
{
    fy_tensor *w = fy_requires_grad_(host_tensor(64)), *x = card_data();
    fy_optimizer *optimizer = fy_optim_sgd((w), .lr = 0.1);
    fy_tensor *there = fy_to(w, CARD); /* HERE */
    FY_TIMES (i, 3) {
        fy_zero_grad(optimizer);
        fy_backward(fy_sum(fy_mul(x, there)));
        fy_step(optimizer);
    }
    fy_optimizer_free(optimizer);
}

/* ---- graphs ---- */

static fy_tensor *one_step(fy_module *net, fy_optimizer *optimizer, fy_tensor *x)
{
    fy_tensor *loss = fy_sum(fy_tanh(fy_call(net, x)));
    fy_zero_grad(optimizer);
    fy_backward(loss);
    fy_step(optimizer);
    return loss;
}

static void sum_losses(bool with_graphs)
{
    fy_module *net = fy_nn_linear(64, 2, .device = CARD);
    fy_optimizer *optimizer = fy_optim_sgd(net, .lr = 0.01);
    fy_tensor *total = fy_zeros((), .device = CARD), *x = card_data();
    for (int i = 0; i < 4; i++) {
        fy_tensor *loss = one_step(net, optimizer, x);
        if (with_graphs) total = fy_add(total, loss); /* HERE */
        else fy_add_(total, fy_detach(loss));
    }
    fy_print(total);
    fy_optimizer_free(optimizer);
    fy_module_free(net);
}

void losses_with_graphs(void) { sum_losses(true); }
void losses_without_graphs(void) { sum_losses(false); }

void mean_with_graphs(void)
{
    fy_module *net = fy_nn_linear(64, 2, .device = CARD);
    fy_optimizer *optimizer = fy_optim_sgd(net, .lr = 0.01);
    fy_tensor *mean = fy_zeros((), .device = CARD), *x = card_data();
    for (int i = 0; i < 4; i++) mean = fy_add(fy_mul(mean, 0.9), one_step(net, optimizer, x)); /* HERE */
    fy_print(mean);
    fy_optimizer_free(optimizer);
    fy_module_free(net);
}

void terms_of_one_loss(void)
{
    fy_tensor *w = fy_requires_grad_(fy_randn((64, 64), .device = CARD)), *total = fy_zeros((), .device = CARD);
    for (int i = 0; i < 4; i++) fy_add_(total, fy_sum(fy_tanh(fy_matmul(card_data(), w))));
    fy_backward(total);
    fy_print(fy_sum(fy_grad(w)));
}

static void evaluate(fy_module *net)
{
    fy_tensor *x = card_data();
    fy_eval(net);
    fy_tensor *y = fy_call(net, x); /* HERE */
    fy_print(fy_sum(y));
    fy_module_free(net);
}

void evaluation_that_saves(void) { evaluate(fy_nn_linear(64, 2, .device = CARD)); }

void evaluation_without_grad(void)
{
    FY_NO_GRAD { evaluate(fy_nn_linear(64, 2, .device = CARD)); }
}

void scores_with_a_graph(void)
{
    fy_tensor *w = fy_requires_grad_(fy_randn((64, 2), .device = CARD)), *x = card_data(), *best = NULL;
    best = fy_argmax(fy_softmax(fy_matmul(x, w), 1), (1)); /* HERE */
    fy_print(fy_sum(best));
}

void graph_of_leaves(void)
{
    fy_tensor *w = fy_requires_grad_(fy_randn((64, 64), .device = CARD));
    fy_print(fy_sum(fy_mul(w, w)));
}

/* ---- checkpoints ---- */

static const char *saved(const char *device)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/ferry-checkpoint-%d.npz", (int)getpid());
    fy_module *net = fy_nn_linear(64, 2, .device = device);
    fy_save_state_dict(net, path);
    fy_module_free(net);
    return path;
}

static void use_loaded(fy_module *net, const char *path, const char *device)
{
    unlink(path);
    FY_NO_GRAD { fy_print(fy_sum(fy_call(net, fy_ones((8, 64), .device = device)))); }
    fy_module_free(net);
}

void checkpoint_by_the_card(void)
{
    const char *path = saved(CARD);
    fy_module *net = fy_nn_linear(64, 2);
    fy_load_state_dict(net, path); /* HERE */
    use_loaded(net, path, "cpu");
}

void checkpoint_mapped(void)
{
    const char *path = saved(CARD);
    fy_module *net = fy_nn_linear(64, 2);
    fy_load_state_dict(net, path, .map_location = "cpu");
    use_loaded(net, path, "cpu");
}

void checkpoint_on_its_card(void)
{
    const char *path = saved(CARD);
    fy_module *net = fy_nn_linear(64, 2, .device = CARD);
    fy_load_state_dict(net, path);
    use_loaded(net, path, CARD);
}

/* Saved by a machine with two cards. */
void checkpoint_of_an_absent_card(void)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/ferry-checkpoint-%d.npz", (int)getpid());
    pid_t child = fork();
    if (child == 0) {
        setenv("FERRY_SIM", TWO_CARDS, 1);
        unsetenv("FERRY_TRACE");
        exit(rename(saved("cuda:1"), path));
    }
    waitpid(child, NULL, 0);
    fy_on_error(FY_RETURN);
    fy_module *net = fy_nn_linear(64, 2);
    fy_load_state_dict(net, path); /* HERE */
    use_loaded(net, path, "cpu");
}
