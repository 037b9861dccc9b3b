/* op_numbers.c: the numbers of a call, as the event of its op has them: `{"alpha":0.5,"dim":1}`, by PyTorch's names. */
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "event.h"
#include "op.h"
#include "out_of_memory.h"
#include "text.h"

static void add(fy_text *t, const char *name, double value)
{
    fy_text_str(t, t->size ? ",\"" : "{\"");
    fy_text_str(t, name);
    fy_text_str(t, "\":");
    fy_text_real(t, value);
}

static fy_ref ended(fy_text *t)
{
    if (t->size) fy_text_add(t, "}", 2); /* with its 0 */
    if (t->lost) fy_out_of_memory("the numbers of an op");
    fy_ref ref = t->size ? fy_ref_str(t->data) : 0;
    free(t->data);
    return ref;
}

/* ---- a number in place of a tensor ---- */

static const char *operand_name(int op, int i)
{
    switch (op) {
    case FY_OP_pow: return i ? "exponent" : "self";
    case FY_OP_clamp_min: return "min";
    case FY_OP_clamp_max: return "max";
    case FY_OP_clamp: return i == 1 ? "min" : "max";
    case FY_OP_lerp: return "weight";
    case FY_OP_where: return i == 1 ? "self" : "other";
    default: return i ? "other" : "self";
    }
}

/* ---- parameters ---- */

enum { MOST = 3 };
#define NAMES(...) NAMES_(__VA_ARGS__, , , )
/* clang-format off */
#define NAMES_(a, b, c, ...) {#a, #b, #c}
/* clang-format on */
static const char *const parameters[FY_OP_COUNT][MOST] = {
#define X(name, nin, types, dtype, shape, flops, gradient, scalars, words) [FY_OP_##name] = NAMES(scalars),
    FY_OPS(X)
#undef X
};

/* What a call has unless it says otherwise: not worth a word. */
static bool is_default(const char *name, double value)
{
    static const struct {
        const char *name;
        double value;
    } defaults[] = {{"alpha", 1},    {"beta", 1},       {"correction", 1}, {"smoothing", 0},
                    {"diagonal", 0}, {"descending", 0}, {"equal_nan", 0}};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (!strcmp(name, defaults[i].name)) return value == defaults[i].value;
    return false;
}

/* real: likewise integer, where the parameter is one. */
static void add_parameters(fy_text *t, int op, const double *real, const int64_t *integer)
{
    size_t prefix = strlen("FY__") + strlen(fy_ops[op].name);
    for (int i = 0; i < MOST && *parameters[op][i]; i++) {
        const char *name = parameters[op][i] + prefix; /* alpha, of FY_ADD_alpha */
        int at = fy_ops[op].nin + i;
        double value = real[at] == 0 ? (double)integer[at] : real[at];
        if (!is_default(name, value)) add(t, name, value);
    }
}

static void add_random(fy_text *t, const fy_call *c)
{
    switch (c->op) {
    case FY_OP_uniform: add(t, "low", c->real[FY_RANDOM_low]), add(t, "high", c->real[FY_RANDOM_high]); break;
    case FY_OP_normal: add(t, "mean", c->real[FY_RANDOM_mean]), add(t, "std", c->real[FY_RANDOM_std]); break;
    case FY_OP_bernoulli: add(t, "p", c->real[FY_RANDOM_p]); break;
    case FY_OP_randint:
        add(t, "low", (double)c->integer[FY_RANDOM_low]), add(t, "high", (double)c->integer[FY_RANDOM_high]);
        break;
    default: break;
    }
}

/* ---- dimensions ---- */

static bool has_dims(int op)
{
    switch (fy_ops[op].shape) {
    case FY_REDUCED:
    case FY_ALONG:
    case FY_GATHERED:
    case FY_SCATTERED: return true;
    case FY_INDEXED: return op != FY_OP_embedding;
    default: return false;
    }
}

static void add_dims(fy_text *t, const fy_shape *dims)
{
    if (dims->ndim == 1) add(t, "dim", (double)dims->dims[0]);
    if (dims->ndim < 2) return;
    fy_text_str(t, t->size ? ",\"dim\":[" : "{\"dim\":[");
    for (int i = 0; i < dims->ndim; i++) {
        if (i) fy_text_str(t, ",");
        fy_text_int(t, dims->dims[i]);
    }
    fy_text_str(t, "]");
}

/* ---- all ---- */

fy_ref fy_op_numbers(const fy_call *c)
{
    fy_text t = {0};
    for (int i = 0; i < fy_ops[c->op].nin; i++)
        if (!c->in[i].is_tensor) add(&t, operand_name(c->op, i), c->in[i].real);
    add_parameters(&t, c->op, c->real, c->integer);
    add_random(&t, c);
    if (has_dims(c->op)) add_dims(&t, &c->dims);
    if (c->part) {
        add(&t, "dim", (double)c->part->dim);
        add(&t, "part", (double)c->part->number);
        add(&t, "start", (double)c->part->start);
    }
    return ended(&t);
}

fy_ref fy_list_numbers(const fy_list *l)
{
    static const int64_t none[FY_MAX_SCALARS];
    fy_text t = {0};
    for (int i = 0; i < fy_ops[l->op].nin; i++)
        if (!l->in[i]) add(&t, operand_name(l->op, i), l->real[i]);
    add_parameters(&t, l->op, l->real, none);
    return ended(&t);
}
