/* own_modules.c: Ferry's own modules but fy_sequential: their parameters, with PyTorch's initial values, and their
 * results. */
#include <math.h>
#include <stdio.h>

#include "composed.h"
#include "device.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "grad_mode.h"
#include "module.h"
#include "shape.h"

typedef struct linear {
    fy_module base;
    fy_tensor *weight, *bias; /* bias may be NULL */
} linear;

typedef struct embedding {
    fy_module base;
    fy_tensor *weight;
} embedding;

typedef struct layer_norm {
    fy_module base;
    fy_tensor *weight, *bias;
    double eps;
} layer_norm;

typedef struct dropout {
    fy_module base;
    double p;
} dropout;

/* A parameter without values yet; a failed one leaves the module without it. */
static fy_tensor *parameter(fy_site *at, void *module, const char *name, fy_shape shape, const char *device,
                            fy_dtype dtype)
{
    fy_tensor *x = fy_empty_at(at, shape, (fy_opts){.device = device, .dtype = dtype, .name = name});
    fy_composed before = fy_compose((fy_composed){.on = true}); /* x is no argument */
    x = x ? fy_module_hold(at, module, FY_MEMBER_PARAMETER, name, fy_scope_take(x)) : NULL;
    fy_compose(before);
    return x;
}

/* The module, if all went well; else it is freed. */
static fy_module *finish(fy_site *at, void *module, bool ok)
{
    if (ok) return module;
    fy_module_release(at, module);
    return NULL;
}

static bool check_size(fy_site *at, const char *what, int64_t n)
{
    return n >= 0 || fy_fail(at, "shape", "a size is 0 or more",
                             "Trying to create tensor with negative dimension %lld: "
                             "%s",
                             (long long)n, what);
}

/* ---- Linear ---- */

static fy_tensor *run_linear(fy_site *at, fy_module *m, fy_tensor *x)
{
    linear *self = (linear *)m;
    return fy_linear_at(at, x, self->weight, self->bias);
}

/* Kaiming uniform with a = sqrt(5), as PyTorch's reset_parameters: both bounds are 1 / sqrt(in). */
fy_module *fy_nn_linear_at(fy_site *at, int64_t in, int64_t out, fy_linear_opts o)
{
    FY_CALL(at);
    bool with_bias = o.bias || !(o.fy_end_ & FY_BIAS_TOLD), ok = false;
    if (!check_size(at, "in", in) || !check_size(at, "out", out)) return NULL;
    double bound = in > 0 ? 1 / sqrt((double)in) : 0;
    linear *m = fy_module_make(at, sizeof *m, "Linear", run_linear);
    {
        FY_WITHOUT_GRAD;
        m->weight = parameter(at, m, "weight", (fy_shape){2, {out, in}}, o.device, o.dtype);
        m->bias = m->weight && with_bias ? parameter(at, m, "bias", (fy_shape){1, {out}}, o.device, o.dtype) : NULL;
        ok = m->weight && fy_uniform__at(at, m->weight, -bound, bound) &&
             (!with_bias || (m->bias && fy_uniform__at(at, m->bias, -bound, bound)));
    }
    return finish(at, m, ok);
}

/* ---- Embedding ---- */

static fy_tensor *run_embedding(fy_site *at, fy_module *m, fy_tensor *x)
{
    return fy_embedding_at(at, ((embedding *)m)->weight, x);
}

fy_module *fy_nn_embedding_at(fy_site *at, int64_t rows, int64_t n, fy_embedding_opts o)
{
    FY_CALL(at);
    bool ok = false;
    if (!check_size(at, "rows", rows) || !check_size(at, "n", n)) return NULL;
    embedding *m = fy_module_make(at, sizeof *m, "Embedding", run_embedding);
    {
        FY_WITHOUT_GRAD;
        m->weight = parameter(at, m, "weight", (fy_shape){2, {rows, n}}, o.device, o.dtype);
        ok = m->weight && fy_normal__at(at, m->weight, 0, 1);
    }
    return finish(at, m, ok);
}

/* ---- LayerNorm ---- */

static fy_tensor *run_layer_norm(fy_site *at, fy_module *m, fy_tensor *x)
{
    layer_norm *self = (layer_norm *)m;
    fy_layer_norm_with with = {.weight = self->weight, .bias = self->bias, .eps = self->eps, .fy_end_ = FY_EPS_TOLD};
    return fy_layer_norm_at(at, x, fy_geometry_of(self->weight).shape, with);
}

fy_module *fy_nn_layer_norm_at(fy_site *at, fy_shape shape, fy_layer_norm_opts o)
{
    FY_CALL(at);
    bool ok = false;
    layer_norm *m = fy_module_make(at, sizeof *m, "LayerNorm", run_layer_norm);
    m->eps = o.fy_end_ & FY_EPS_TOLD ? o.eps : 1e-5;
    {
        FY_WITHOUT_GRAD;
        m->weight = parameter(at, m, "weight", shape, o.device, o.dtype);
        m->bias = m->weight ? parameter(at, m, "bias", shape, o.device, o.dtype) : NULL;
        ok = m->bias && fy_fill__at(at, m->weight, fy_arg_real(1)) && fy_fill__at(at, m->bias, fy_arg_real(0));
    }
    return finish(at, m, ok);
}

/* ---- without parameters ---- */

static fy_tensor *run_dropout(fy_site *at, fy_module *m, fy_tensor *x)
{
    return m->base->training ? fy_dropout_at(at, x, ((dropout *)m)->p) : x;
}

fy_module *fy_nn_dropout_at(fy_site *at, double p)
{
    FY_CALL(at);
    if (!(p >= 0 && p <= 1))
        return fy_fail(at, "value", "p is the part of the elements that become 0: fy_nn_dropout(0.1)",
                       "dropout probability has to be between 0 and 1, but got %g", p);
    dropout *m = fy_module_make(at, sizeof *m, "Dropout", run_dropout);
    m->p = p;
    return &m->base;
}

static fy_tensor *run_relu(fy_site *at, fy_module *m, fy_tensor *x) { return (void)m, fy_relu_at(at, x); }
static fy_tensor *run_tanh(fy_site *at, fy_module *m, fy_tensor *x) { return (void)m, fy_tanh_at(at, x); }
static fy_tensor *run_sigmoid(fy_site *at, fy_module *m, fy_tensor *x) { return (void)m, fy_sigmoid_at(at, x); }
fy_module *fy_nn_relu_at(fy_site *at)
{
    FY_CALL(at);
    return fy_module_make(at, sizeof(fy_module), "ReLU", run_relu);
}
fy_module *fy_nn_tanh_at(fy_site *at)
{
    FY_CALL(at);
    return fy_module_make(at, sizeof(fy_module), "Tanh", run_tanh);
}
fy_module *fy_nn_sigmoid_at(fy_site *at)
{
    FY_CALL(at);
    return fy_module_make(at, sizeof(fy_module), "Sigmoid", run_sigmoid);
}
