/* findings_training_test.c: what training does wrong: graphs that are kept or never used, leaves and state that stay
 * behind on the CPU, casts without gain, values read in every step. Programs, corrected twins and near misses. */
#include "explained.h"

#define CARD "cuda"

static fy_module *small_net(void)
{
    fy_module *net = fy_sequential((fy_nn_linear(64, 64), fy_nn_tanh(), fy_nn_linear(64, 2)));
    fy_module_to(net, CARD);
    return net;
}

typedef struct trained {
    fy_module *net;
    fy_optimizer *optimizer;
    fy_tensor *x, *y;
} trained;

static trained begin_training(void)
{
    trained t = {.net = small_net(), .x = fy_randn((32, 64), .device = CARD)};
    t.y = fy_zeros((32), .dtype = FY_INT64, .device = CARD);
    t.optimizer = fy_optim_adam(t.net, .lr = 0.01);
    return t;
}

static fy_tensor *one_step(trained *t)
{
    fy_tensor *loss = fy_cross_entropy(fy_call(t->net, t->x), t->y);
    fy_zero_grad(t->optimizer);
    fy_backward(loss);
    fy_step(t->optimizer);
    return loss;
}

static void end_training(trained *t)
{
    fy_optimizer_free(t->optimizer);
    fy_module_free(t->net);
}

/* ---- graphs that grow ---- */

static void losses_summed_with_their_graphs(void)
{
    trained t = begin_training();
    fy_tensor *total = fy_zeros((), .device = CARD);
    FY_TIMES (i, 5) fy_add_(total, one_step(&t)); /* HERE */
    fy_print(total);
    end_training(&t);
}
static void a_mean_that_moves(void)
{
    trained t = begin_training();
    fy_tensor *mean = fy_zeros((), .device = CARD);
    for (int i = 0; i < 5; i++) mean = fy_add(fy_mul(mean, 0.9), fy_mul(one_step(&t), 0.1)); /* HERE */
    fy_print(mean);
    end_training(&t);
}
static void losses_summed_in_an_evaluation(void)
{
    fy_module *net = small_net();
    fy_tensor *total = fy_zeros((), .device = CARD), *x = fy_randn((32, 64), .device = CARD);
    FY_TIMES (i, 4) fy_add_(total, fy_sum(fy_call(net, x))); /* HERE */
    fy_print(total);
    fy_module_free(net);
}
static void losses_summed_as_numbers(void)
{
    trained t = begin_training();
    fy_tensor *total = fy_zeros((), .device = CARD);
    FY_TIMES (i, 5) fy_add_(total, fy_detach(one_step(&t)));
    fy_print(total);
    end_training(&t);
}
static void losses_summed_for_one_pass(void)
{
    fy_tensor *w = fy_randn((64, 64), .device = CARD, .requires_grad = true), *total = NULL;
    for (int i = 0; i < 5; i++) {
        fy_tensor *part = fy_sum(fy_tanh(fy_matmul(fy_ones((8, 64), .device = CARD), w)));
        total = total ? fy_add(total, part) : part;
    }
    fy_backward(total);
    fy_print(fy_sum(fy_grad(w)));
}
static void layers_that_add_to_their_input(void)
{
    fy_tensor *w = fy_randn((64, 64), .device = CARD, .requires_grad = true), *x = fy_ones((8, 64), .device = CARD);
    x = fy_matmul(x, w);
    for (int i = 0; i < 5; i++) x = fy_add(x, fy_tanh(fy_matmul(x, w)));
    fy_print(fy_sum(x));
}
static void a_state_that_goes_on(void)
{
    fy_tensor *w = fy_randn((64, 64), .device = CARD, .requires_grad = true), *x = fy_ones((8, 64), .device = CARD);
    fy_tensor *u = fy_randn((64, 64), .device = CARD, .requires_grad = true), *state = fy_matmul(x, u);
    for (int i = 0; i < 5; i++) state = fy_tanh(fy_add(fy_matmul(state, u), fy_matmul(x, w)));
    fy_print(fy_sum(state));
}

static void a_sum_of_losses_keeps_their_graphs(void **state)
{
    (void)state;
    const char *rule = "graph-kept";
    EXPECT({rule, losses_summed_with_their_graphs, 5, NULL}, {rule, a_mean_that_moves, 5, NULL},
           {rule, losses_summed_in_an_evaluation, 4, NULL}, {rule, losses_summed_as_numbers, 0, NULL},
           {rule, losses_summed_for_one_pass, 0, NULL}, {rule, layers_that_add_to_their_input, 0, NULL},
           {rule, a_state_that_goes_on, 0, NULL});
}

/* ---- graphs without a backward pass ---- */

static void an_evaluation_that_saves(void)
{
    fy_module *net = small_net();
    fy_tensor *x = fy_randn((32, 64), .device = CARD);
    fy_eval(net);
    FY_TIMES (i, 3) fy_print(fy_call(net, x)); /* HERE */
    fy_module_free(net);
}
static void an_evaluation_between_steps(void)
{
    trained t = begin_training();
    FY_TIMES (i, 2) {
        one_step(&t);
        fy_print(fy_call(t.net, t.x)); /* HERE */
    }
    end_training(&t);
}
static void a_loss_that_nothing_uses(void)
{
    fy_tensor *w = fy_randn((64, 64), .device = CARD, .requires_grad = true), *x = fy_ones((8, 64), .device = CARD);
    fy_tensor *y = fy_tanh(fy_matmul(x, w)); /* HERE */
    fy_print(fy_sum(y));
}
static void an_evaluation_that_saves_nothing(void)
{
    fy_module *net = small_net();
    fy_tensor *x = fy_randn((32, 64), .device = CARD);
    fy_eval(net);
    FY_NO_GRAD FY_TIMES (i, 3) fy_print(fy_call(net, x));
    fy_module_free(net);
}
static void a_graph_that_saves_only_leaves(void)
{
    fy_tensor *w = fy_randn((64, 64), .device = CARD, .requires_grad = true);
    fy_print(fy_sum(fy_mul(w, w)));
}
static void a_step_and_what_is_printed_of_it(void)
{
    trained t = begin_training();
    FY_TIMES (i, 3) {
        fy_tensor *scores = fy_call(t.net, t.x), *loss = fy_cross_entropy(scores, t.y);
        fy_print(fy_softmax(scores, 1));
        fy_backward(loss);
    }
    end_training(&t);
}

static void a_graph_that_no_pass_uses(void **state)
{
    (void)state;
    const char *rule = "graph-unused";
    EXPECT({rule, an_evaluation_that_saves, 3, NULL}, {rule, an_evaluation_between_steps, 2, NULL},
           {rule, a_loss_that_nothing_uses, 1, NULL}, {rule, an_evaluation_that_saves_nothing, 0, NULL},
           {rule, a_graph_that_saves_only_leaves, 0, NULL}, {rule, a_step_and_what_is_printed_of_it, 0, NULL});
}

/* ---- leaves on the CPU ---- */

static fy_tensor *data(void) { return fy_ones((64), .device = CARD); }

static void the_original_is_trained(void)
{
    fy_tensor *w = fy_randn((64), .requires_grad = true), *x = data();
    fy_optimizer *optimizer = fy_optim_sgd((w), .lr = 0.1);
    fy_tensor *moved = fy_to(w, CARD); /* HERE */
    FY_TIMES (i, 3) {
        fy_zero_grad(optimizer);
        fy_backward(fy_sum(fy_mul(x, moved)));
        fy_step(optimizer);
    }
    fy_optimizer_free(optimizer);
}
static void the_original_is_moved_each_time(void)
{
    fy_tensor *w = fy_randn((64), .requires_grad = true), *x = data();
    fy_optimizer *optimizer = fy_optim_sgd((w), .lr = 0.1);
    FY_TIMES (i, 4) {
        fy_zero_grad(optimizer);
        fy_tensor *moved = fy_to(w, CARD); /* HERE */
        fy_backward(fy_sum(fy_mul(x, moved)));
        fy_step(optimizer);
    }
    fy_optimizer_free(optimizer);
}
static void a_gradient_that_nobody_finds(void)
{
    fy_tensor *w = fy_to(fy_randn((64), .requires_grad = true), CARD); /* HERE */
    fy_backward(fy_sum(fy_mul(data(), w)));
    if (!fy_grad(w)) printf("no gradient\n");
}
static void the_leaf_is_on_the_card(void)
{
    fy_tensor *w = fy_requires_grad_(fy_to(fy_randn((64)), CARD)), *x = data();
    fy_optimizer *optimizer = fy_optim_sgd((w), .lr = 0.1);
    FY_TIMES (i, 3) {
        fy_zero_grad(optimizer);
        fy_backward(fy_sum(fy_mul(x, w)));
        fy_step(optimizer);
    }
    fy_optimizer_free(optimizer);
}
static void one_gradient_wanted_on_the_cpu(void)
{
    fy_tensor *x = fy_randn((64), .requires_grad = true);
    fy_backward(fy_sum(fy_mul(data(), fy_to(x, CARD))));
    fy_print(fy_grad(x));
}
static void rows_of_a_large_table(void)
{
    fy_tensor *table = fy_randn((1000, 64), .requires_grad = true), *rows = fy_tensor((3, 5));
    for (int i = 0; i < 3; i++) {
        fy_tensor *some = fy_to(fy_index_select(table, 0, rows), CARD);
        fy_backward(fy_sum(fy_mul(data(), some)));
    }
    fy_print(fy_sum(fy_grad(table)));
}

static void a_leaf_that_stays_behind(void **state)
{
    (void)state;
    const char *rule = "trained-elsewhere";
    EXPECT({rule, the_original_is_trained, 3, NULL}, {rule, the_original_is_moved_each_time, 4, NULL},
           {rule, a_gradient_that_nobody_finds, 1, NULL}, {rule, the_leaf_is_on_the_card, 0, NULL},
           {rule, one_gradient_wanted_on_the_cpu, 0, NULL}, {rule, rows_of_a_large_table, 0, NULL});
}

/* ---- casts ---- */

static void product_in_bfloat16(int64_t side)
{
    fy_tensor *w = fy_randn((side, side), .device = CARD, .requires_grad = true);
    fy_tensor *x = fy_ones((side, side), .device = CARD), *loss = NULL;
    FY_AUTOCAST(CARD, FY_BFLOAT16) /* HERE */ { loss = fy_sum(fy_matmul(x, w)); }
    fy_backward(loss);
    fy_print(fy_sum(fy_grad(w)));
}
static void a_small_product(void) { product_in_bfloat16(64); }
static void a_large_product(void) { product_in_bfloat16(2048); }
static void two_blocks_of_small_products(void)
{
    fy_tensor *w = fy_ones((16, 16), .device = CARD), *x = fy_ones((16, 16), .device = CARD);
    for (int i = 0; i < 2; i++) {
        FY_AUTOCAST(CARD) /* HERE */ { fy_print(fy_matmul(x, w)); }
    }
}
static void small_products_of_16_bits(void)
{
    fy_tensor *w = fy_ones((16, 16), .device = CARD, .dtype = FY_FLOAT16), *x = fy_clone(w);
    FY_AUTOCAST(CARD) { fy_print(fy_matmul(x, w)); }
}
static void a_cast_of_the_program(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    fy_print(fy_to(fy_relu(fy_to(x, FY_FLOAT16)), FY_FLOAT32));
}

static void casts_that_cost_more_than_they_save(void **state)
{
    (void)state;
    const char *rule = "autocast-without-gain";
    EXPECT({rule, a_small_product, 1, NULL}, {rule, two_blocks_of_small_products, 2, NULL},
           {rule, a_small_product, 1, "old"}, {rule, a_large_product, 0, NULL},
           {rule, small_products_of_16_bits, 0, NULL}, {rule, a_cast_of_the_program, 0, NULL});
}

/* ---- looking at every step ---- */

static void the_loss_of_every_step(void)
{
    trained t = begin_training();
    FY_TIMES (i, 4) {
        fy_tensor *loss = one_step(&t);
        printf("%f\n", fy_item(loss)); /* HERE */
    }
    end_training(&t);
}
static void a_curve_of_every_step(void)
{
    trained t = begin_training();
    FY_TIMES (i, 4) fy_log_scalar("loss", one_step(&t)); /* HERE */
    end_training(&t);
}
static void a_curve_of_every_fourth_step(void)
{
    trained t = begin_training();
    FY_TIMES (i, 16) {
        fy_tensor *loss = one_step(&t);
        if (i % 4 == 3) fy_log_scalar("loss", loss);
    }
    end_training(&t);
}
static void a_scaler_that_checks_every_step(void)
{
    trained t = begin_training();
    fy_optimizer *plain = fy_optim_sgd(t.net, .lr = 0.01);
    fy_grad_scaler *scaler = fy_amp_grad_scaler();
    FY_TIMES (i, 5) {
        fy_zero_grad(plain);
        fy_backward(fy_scaler_scale(scaler, fy_cross_entropy(fy_call(t.net, t.x), t.y)));
        fy_scaler_step(scaler, plain);
        fy_scaler_update(scaler);
    }
    fy_grad_scaler_free(scaler);
    fy_optimizer_free(plain);
    end_training(&t);
}
static void the_norm_of_every_step(void)
{
    fy_tensor *x = fy_ones((64), .device = CARD);
    for (int i = 0; i < 4; i++) {
        fy_mul_(x, 0.5);
        printf("%f\n", fy_item(fy_norm(x))); /* HERE */
    }
}

static void a_loss_read_in_every_step(void **state)
{
    (void)state;
    const char *rule = "hidden-sync";
    EXPECT({rule, the_loss_of_every_step, 4, NULL}, {rule, a_curve_of_every_step, 4, NULL},
           {rule, the_norm_of_every_step, 4, NULL}, {rule, a_curve_of_every_fourth_step, 0, NULL},
           {rule, a_scaler_that_checks_every_step, 0, NULL}, {rule, losses_summed_as_numbers, 0, NULL});
}

/* ---- what is said ---- */

static void record(void (*run)(void), findings *f)
{
    char path[64] = "/tmp/ferry-findings-XXXXXX", err[512];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    run_forked(run, ENVIRONMENT("FERRY_TRACE", path, "FERRY_GPU", "sim"), true);
    if (!findings_of_file(f, path, err, sizeof err)) fail_msg("%s", err);
    unlink(path);
}

/* The finding of a rule; its texts hold these. */
static finding said(void (*run)(void), const char *rule, const char *what, const char *fix)
{
    findings f;
    record(run, &f);
    const finding *x = finding_of(&f, rule, 0);
    if (!x) fail_msg("no %s", rule);
    if (!strstr(x->what, what)) fail_msg("'%s' does not say '%s'", x->what, what);
    if (!strstr(x->fix, fix)) fail_msg("'%s' does not say '%s'", x->fix, fix);
    finding copy = *x;
    findings_free(&f);
    return copy;
}

/* 32 x 64 floats of x and of tanh's result, and no weights. */
static void the_bytes_are_those_that_the_graph_saves(void **state)
{
    (void)state;
    finding x = said(an_evaluation_that_saves, "graph-unused", "it kept 16 KiB for gradients (this line: 16 KiB)",
                     "FY_NO_GRAD");
    assert_int_equal(x.bytes, 3 * 2 * 32 * 64 * 4);
    x = said(losses_summed_in_an_evaluation, "graph-kept", "of each of its 4 terms", "fy_detach(loss)");
    assert_int_equal(x.bytes, 32 * 64 * 4 * (1 + 4)); /* x once, tanh's result of each step */
    x = said(losses_summed_with_their_graphs, "graph-kept", "total is no number", "fy_item(loss)");
    assert_int_equal(x.bytes, 0); /* the backward passes released them */
}

/* One copy up, three gradients down, each 5000 ns and 64 floats at 10 GB/s and 50 GB/s. */
static void gradients_that_come_home_cost_their_copies(void **state)
{
    (void)state;
    finding x = said(the_original_is_trained, "trained-elsewhere", "w is a leaf on the CPU", ".device = \"cuda:0\"");
    assert_int_equal(x.bytes, (1 + 3) * 64 * 4);
    assert_true(x.ns >= 4 * 5000 && x.ns < 4 * 5100);
    said(the_original_is_trained, "stale-read", "changed at", "an optimizer trains it on the CPU");
}

/* 3 casts before the product and the sum, 2 in the backward pass; each takes its kernel and its launch. */
static void casts_are_counted_with_their_launches(void **state)
{
    (void)state;
    finding x = said(a_small_product, "autocast-without-gain", "5 casts of this block took 35.0 us", "float32");
    assert_true(x.ns > 34900 && x.ns <= 35100);
}

typedef struct masked {
    fy_module base;
    fy_tensor *factor, *mask;
} masked;

static fy_tensor *mask(void *module, fy_tensor *x)
{
    masked *self = module;
    return fy_mul(fy_mul(x, self->factor), self->mask);
}

static fy_tensor *mask_moved(void *module, fy_tensor *x)
{
    masked *self = module;
    return fy_mul(fy_mul(x, self->factor), fy_to(self->mask, CARD)); /* HERE */
}

static void use_mask(fy_forward forward, bool registered)
{
    masked *net = fy_module_new(masked, forward);
    net->factor = fy_parameter(net, "factor", fy_ones((4)));
    net->mask = fy_add(fy_ones((4)), fy_ones((4)));
    if (registered) fy_buffer(net, "mask", net->mask);
    fy_module_to(net, CARD);
    FY_NO_GRAD FY_TIMES (i, 3) fy_print(fy_call(net, fy_ones((2, 4), .device = CARD)));
    fy_module_free(net);
}
static void a_mask_left_behind(void) { use_mask(mask, false); }
static void a_mask_moved_in_each_call(void) { use_mask(mask_moved, false); }
static void a_mask_registered(void) { use_mask(mask, true); }

static void state_left_behind(void)
{
    fy_module *net = fy_nn_linear(4, 2);
    fy_optimizer *optimizer = fy_optim_adam(net, .lr = 0.1);
    fy_tensor *x = fy_ones((3, 4));
    for (int i = 0; i < 2; i++) {
        fy_backward(fy_sum(fy_call(net, x)));
        fy_step(optimizer);
        fy_module_to(net, CARD);
        x = fy_to(x, CARD);
    }
}

static void what_a_module_leaves_behind_is_named(void **state)
{
    (void)state;
    said(a_mask_left_behind, "stopped", "net->mask was made on the CPU (line ", "fy_buffer(net, \"name\", x)");
    said(a_mask_left_behind, "stopped", "after that: it is none of them", "register it before the move");
    said(a_mask_moved_in_each_call, "sent-again", "was already copied to cuda:0", "fy_buffer(net, \"name\", x)");
    said(state_left_behind, "stopped", "weight.exp_avg is state of the optimizer", "make a new optimizer");
    EXPECT({"stopped", a_mask_registered, 0, NULL}, {"sent-again", a_mask_registered, 0, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_of_losses_keeps_their_graphs),
        cmocka_unit_test(a_graph_that_no_pass_uses),
        cmocka_unit_test(a_leaf_that_stays_behind),
        cmocka_unit_test(casts_that_cost_more_than_they_save),
        cmocka_unit_test(a_loss_read_in_every_step),
        cmocka_unit_test(the_bytes_are_those_that_the_graph_saves),
        cmocka_unit_test(gradients_that_come_home_cost_their_copies),
        cmocka_unit_test(casts_are_counted_with_their_launches),
        cmocka_unit_test(what_a_module_leaves_behind_is_named),
    };
    return cmocka_run_group_tests_name("findings_training", tests, NULL, NULL);
}
