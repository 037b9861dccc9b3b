/* random_in_place.c: random values written into a tensor: uniform_, normal_, bernoulli_; and dropout, which multiplies
 * by such values. */
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "graph.h"
#include "make.h"
#include "op.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"
#include "transfer.h"

/* The generators fill memory in its order. A tensor with holes, or in another order, takes its values row by row. */
static fy_tensor *draw_into(fy_call *c, fy_tensor *x)
{
    if (!fy_check_written(c->at, x, x) || !fy_graph_check_written(c->at, x, false)) return NULL;
    if (fy_is_contiguous_at(c->at, x)) {
        c->out = x;
        return fy_draw(c);
    }
    fy_tensor *rows = fy_draw(c);
    if (!rows) return NULL;
    fy_tensor *out = fy_copy__at(c->at, x, rows, (fy_copy_opts){0});
    fy_tensor_release(c->at, rows, FY_WORD_free);
    return out;
}

/* `on_card`: PyTorch's kernel there, where its name differs. */
static bool begin(fy_call *c, fy_tensor *x, const char *kernel, const char *on_card)
{
    fy_session_start();
    if (!fy_check(c->at, 0, x)) return false;
    c->shape = fy_geometry_of(x).shape;
    c->dtype = x->dtype;
    c->dev = x->storage->dev;
    return fy_draw_check(c, on_card && c->dev->number ? on_card : kernel);
}

static double rounded_to(fy_dtype d, double x)
{
    double element;
    fy_number_put(d, &element, 0, fy_arg_real(x));
    return fy_real_at(d, &element, 0);
}

/* The bounds and their distance must be in the dtype's range: nothing infinite is drawn. */
static bool check_bounds(fy_site *at, fy_dtype d, double low, double high)
{
    double most = fy_dtype_largest(d);
    bool from = low >= -most && low <= most, to = high >= -most && high <= most;
    if (!from || !to)
        return fy_fail(at, "value", fy_hint("%s holds %.6g to %.6g", fy_dtype_name(d), -most, most),
                       "%s is out of bounds for %s", from ? "to" : "from", fy_dtype_c(d));
    if (!(low <= high))
        return fy_fail(at, "value", "fy_uniform_(x, low, high): low is the smaller one",
                       "uniform_ expects to return a [from, to) range, but found from=%g > to=%g", low, high);
    if (high - low <= most) return true;
    return fy_fail(at, "value", "bounds closer to each other, or a wider dtype",
                   "uniform_ expects to-from <= std::numeric_limits<%s>::max(), but found to=%g and from=%g which "
                   "result in to-from to exceed the limit",
                   fy_dtype_torch(d), high, low);
}

fy_tensor *fy_uniform__at(fy_site *at, fy_tensor *x, double low, double high)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_uniform};
    if (!begin(&c, x, "check_uniform_bounds", NULL) || !check_bounds(at, x->dtype, low, high)) return NULL;
    c.real[FY_RANDOM_low] = rounded_to(x->dtype, low);
    c.real[FY_RANDOM_high] = rounded_to(x->dtype, high);
    return draw_into(&c, x);
}

fy_tensor *fy_normal__at(fy_site *at, fy_tensor *x, double mean, double std)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_normal, .real = {[FY_RANDOM_mean] = mean, [FY_RANDOM_std] = std}};
    if (!begin(&c, x, "normal_kernel_cpu", "normal_kernel_cuda")) return NULL;
    if (!(std >= 0))
        return fy_fail(at, "value", "the standard deviation is the square root of the variance",
                       "normal expects std >= 0.0, but found std %g", std);
    return draw_into(&c, x);
}

static bool check_probability(fy_site *at, double p, const char *words)
{
    return (p >= 0 && p <= 1) || fy_fail(at, "value", "0 is never, 1 is always", "%s%g", words, p);
}

fy_tensor *fy_bernoulli__at(fy_site *at, fy_tensor *x, double p)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_bernoulli, .real = {[FY_RANDOM_p] = p, [FY_RANDOM_value] = 1}};
    if (!begin(&c, x, "bernoulli", NULL) ||
        !check_probability(at, p, "bernoulli_ expects p to be in [0, 1], but got p="))
        return NULL;
    return draw_into(&c, x);
}

/* As in PyTorch the noise is drawn and scaled in x's dtype, and saved for the gradient. */
fy_tensor *fy_dropout_at(fy_site *at, fy_tensor *x, double p)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_bernoulli, .real = {[FY_RANDOM_p] = 1 - p}};
    if (!begin(&c, x, "bernoulli", NULL) ||
        !check_probability(at, p, "dropout probability has to be between 0 and 1, but got "))
        return NULL;
    if (p == 0) return fy_scope_track(fy_tensor_retain(x));
    if (p == 1) return fy_mul_at(at, fy_arg_tensor(x), fy_arg_real(0)); /* nothing is drawn */
    c.real[FY_RANDOM_value] = 1 / (1 - p);
    fy_tensor *noise = fy_draw(&c);
    if (!noise) return NULL;
    fy_tensor *out = fy_dispatch(&(fy_call){
        .at = at, .op = FY_OP_mul, .in = {fy_arg_tensor(x), fy_arg_tensor(noise)}, .name = fy_name_for(at, NULL)});
    fy_tensor_release(at, noise, FY_WORD_free);
    return fy_scope_track(out);
}
