/* loss.c: the losses. Each is several calls of the dispatcher, each of which shows in the log. */
#include "loss.h"

#include <stdio.h>
#include <string.h>

#include "autocast.h"
#include "dispatch.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "op.h"
#include "shape.h"
#include "tensor.h"

/* One op of a loss. The last one's result gets the variable's name; `used`, an operand, is released. */
static fy_tensor *step(fy_site *at, fy_call c, bool last, fy_tensor *used)
{
    c.at = at;
    if (last) c.name = fy_name_for(at, NULL);
    fy_tensor *out = fy_dispatch(&c);
    fy_tensor_release(at, used, FY_WORD_free);
    return out;
}

static fy_call of_one(int op, fy_tensor *x) { return (fy_call){.op = op, .in = {fy_arg_tensor(x)}}; }

static fy_call of_two(int op, fy_tensor *a, fy_arg b)
{
    return (fy_call){
        .op = op, .in = {fy_arg_tensor(a), b}, .real = {[FY_ADD_alpha] = 1}, .integer = {[FY_ADD_alpha] = 1}};
}

static bool check_call(fy_site *at, fy_call c)
{
    fy_plan p;
    c.at = at;
    return fy_plan_make(&c, &p);
}

/* Applies the reduction; takes over the reference to `loss`. */
static fy_tensor *finish(fy_site *at, fy_tensor *loss, fy_reduction how)
{
    if (!loss || how == FY_NONE) return fy_scope_track(loss);
    return fy_scope_track(step(at, of_one(how == FY_SUM ? FY_OP_sum : FY_OP_mean, loss), true, loss));
}

/* ---- mean squared error ---------------------------------------------------------------------------- */

/* x as it is subtracted: PyTorch expands both operands first, so a 0-dim one takes part in type promotion in full; a
 * mask is converted to numbers. Returns a new reference. */
static fy_tensor *promoted(fy_site *at, fy_tensor *x, fy_dtype common)
{
    fy_call c = of_one(FY_OP_cast, x);
    c.dtype = common;
    return x->dtype == FY_BOOL || (x->ndim == 0 && x->dtype != common) ? step(at, c, false, NULL) : fy_tensor_retain(x);
}

static fy_tensor *mse_loss(fy_site *at, fy_tensor *a, fy_tensor *b, fy_reduction reduction)
{
    fy_dtype common = fy_promote_types(a->dtype, b->dtype);
    fy_tensor *x = promoted(at, a, common), *y = x ? promoted(at, b, common) : NULL;
    fy_tensor *d = y ? step(at, of_two(FY_OP_sub, x, fy_arg_tensor(y)), false, x) : NULL;
    if (!y) fy_tensor_release(at, x, FY_WORD_free);
    fy_tensor_release(at, y, FY_WORD_free);
    if (!d) return NULL;
    return finish(at, step(at, of_two(FY_OP_mul, d, fy_arg_tensor(d)), reduction == FY_NONE, d), reduction);
}

/* As PyTorch: (64, 1) - (64) is (64, 64), which is hardly meant. */
static void warn_sizes_differ(fy_site *at, const fy_tensor *a, const fy_tensor *b)
{
    char of_a[100], of_b[100], name[200], fix[300] = "give both the same size";
    if (a->ndim == b->ndim && !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape)) return;
    fy_shape_text(a->shape, a->ndim, "()", of_a, sizeof of_a);
    fy_shape_text(b->shape, b->ndim, "()", of_b, sizeof of_b);
    if (fy_tensor_numel(a) == fy_tensor_numel(b))
        snprintf(fix, sizeof fix, "fy_view(%s, %s)", fy_argument_of(at, 1, b, name, sizeof name), of_a);
    fy_advise(
        at,
        "Using a target size %s that is different to the input size %s. This will likely lead to incorrect results "
        "due to broadcasting.\n  fix: %s",
        of_b, of_a, fix);
}

fy_tensor *fy_mse_loss_at(fy_site *at, fy_tensor *a, fy_tensor *b, fy_loss_opts o)
{
    FY_CALL(at);
    fy_shape both;
    fy_tensor *in[] = {a, b};
    if (!fy_check(at, 0, a) || !fy_check(at, 1, b) || !fy_broadcast(at, a, b, &both)) return NULL;
    if (!fy_loss_check_real(at, a, b) || !fy_loss_check_reduction(at, o.reduction)) return NULL;
    warn_sizes_differ(at, a, b);
    if (!fy_autocast_take(at, FY_CALL_mse_loss, 2, in)) return NULL;
    fy_tensor *out = fy_node_call(mse_loss(at, in[0], in[1], o.reduction), "MseLossBackward0");
    fy_autocast_release(at, 2, in);
    return out;
}

/* ---- cross entropy of classes ------------------------------------------------------------------------ */

static fy_call scores_call(fy_tensor *x)
{
    fy_call c = of_one(FY_OP_log_softmax, x);
    c.dims = (fy_shape){1, {x->ndim > 1}};
    return c;
}

/* The sum over the number of rows whose class is not FY_IGNORE_INDEX; 16-bit floats accumulate in float32. */
static fy_tensor *mean_of_rows(fy_site *at, fy_tensor *loss, fy_tensor *target)
{
    fy_dtype own = loss->dtype;
    bool narrow = loss->dtype == FY_FLOAT16 || loss->dtype == FY_BFLOAT16;
    fy_call total = of_one(FY_OP_sum, loss);
    if (narrow) total.dtype = FY_FLOAT32;
    fy_tensor *sum = step(at, total, false, loss);
    fy_tensor *kept = sum ? step(at, of_two(FY_OP_ne, target, fy_arg_int(FY_IGNORE_INDEX)), false, NULL) : NULL;
    fy_tensor *count = kept ? step(at, of_one(FY_OP_sum, kept), false, kept) : NULL;
    fy_tensor *mean = count ? step(at, of_two(FY_OP_div, sum, fy_arg_tensor(count)), !narrow, sum) : NULL;
    if (!count) fy_tensor_release(at, sum, FY_WORD_free);
    fy_tensor_release(at, count, FY_WORD_free);
    fy_call back = of_one(FY_OP_cast, mean);
    back.dtype = own;
    return fy_scope_track(mean && narrow ? step(at, back, true, mean) : mean);
}

/* PyTorch's name of the node: classes lie along dimension 1 of pictures, and whatever is not one is viewed as one. */
static const char *classes_grad_fn(const fy_tensor *x, const fy_loss_opts *o)
{
    if (o->label_smoothing > 0) return "AddBackward0";
    if (x->ndim < 3) return "NllLossBackward0";
    return x->ndim != 4 && o->reduction == FY_NONE ? "ViewBackward0" : "NllLoss2DBackward0";
}

static fy_tensor *cross_entropy_of_classes(fy_site *at, fy_tensor *x, fy_tensor *target, const fy_loss_opts *o)
{
    fy_call rows = of_two(FY_OP_nll_loss, x, fy_arg_tensor(target));
    rows.real[FY_NLL_LOSS_smoothing] = o->label_smoothing > 0 ? o->label_smoothing : 0;
    if (!check_call(at, scores_call(x)) || !fy_loss_check_rows(at, x, target) ||
        !fy_loss_check_smoothing(at, o->label_smoothing) || !check_call(at, rows) ||
        !fy_loss_check_classes(at, x, target))
        return NULL;
    fy_tensor *scores = step(at, scores_call(x), false, NULL);
    if (!scores) return NULL;
    rows.in[0] = fy_arg_tensor(scores);
    fy_tensor *loss = step(at, rows, o->reduction == FY_NONE, scores);
    loss = loss && o->reduction == FY_MEAN ? mean_of_rows(at, loss, target) : finish(at, loss, o->reduction);
    return fy_node_call(loss, classes_grad_fn(x, o));
}

/* ---- cross entropy of probabilities: a target of the scores' own shape ------------------------------------- */

/* target * (1 - smoothing) + smoothing / classes. Returns a new reference. */
static fy_tensor *smoothed(fy_site *at, fy_tensor *target, double smoothing, int64_t classes)
{
    if (!(smoothing > 0)) return fy_tensor_retain(target);
    fy_tensor *scaled = step(at, of_two(FY_OP_mul, target, fy_arg_real(1 - smoothing)), false, NULL);
    return scaled ? step(at, of_two(FY_OP_add, scaled, fy_arg_real(smoothing / (double)classes)), false, scaled) : NULL;
}

static fy_tensor *cross_entropy_of_probabilities(fy_site *at, fy_tensor *x, fy_tensor *target, const fy_loss_opts *o)
{
    if (!fy_loss_check_probabilities(at, target) || !check_call(at, scores_call(x)) ||
        !fy_loss_check_smoothing(at, o->label_smoothing) ||
        !check_call(at, of_two(FY_OP_mul, x, fy_arg_tensor(target))))
        return NULL;
    int64_t classes = x->ndim ? x->shape[x->ndim > 1] : 1, rows = classes ? fy_tensor_numel(x) / classes : 0;
    fy_tensor *scores = step(at, scores_call(x), false, NULL);
    fy_tensor *weights = scores ? smoothed(at, target, o->label_smoothing, classes) : NULL;
    fy_tensor *parts = weights ? step(at, of_two(FY_OP_mul, scores, fy_arg_tensor(weights)), false, weights) : NULL;
    fy_tensor_release(at, scores, FY_WORD_free);
    if (!parts) return NULL;
    fy_call sum = of_one(FY_OP_sum, parts);
    if (o->reduction == FY_NONE) sum.dims = scores_call(x).dims;
    fy_tensor *total = step(at, sum, false, parts);
    if (!total) return NULL;
    fy_call last = of_one(FY_OP_neg, total);
    if (o->reduction == FY_MEAN) last = of_two(FY_OP_div, total, fy_arg_real(-(double)rows));
    fy_tensor *loss = fy_scope_track(step(at, last, true, total));
    return o->reduction == FY_MEAN ? fy_node_call(loss, "DivBackward1") : loss; /* by a number of C++ */
}

/* A target of the scores' shape holds probabilities, any other holds classes. */
fy_tensor *fy_cross_entropy_at(fy_site *at, fy_tensor *x, fy_tensor *target, fy_loss_opts o)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x) || !fy_check(at, 1, target) || !fy_loss_check_reduction(at, o.reduction)) return NULL;
    bool same_shape =
        x->ndim == target->ndim && memcmp(x->shape, target->shape, (size_t)x->ndim * sizeof *x->shape) == 0;
    fy_tensor *in[] = {x, target};
    if (!fy_autocast_take(at, FY_CALL_cross_entropy, 2, in)) return NULL;
    fy_tensor *out = same_shape ? cross_entropy_of_probabilities(at, in[0], in[1], &o)
                                : cross_entropy_of_classes(at, in[0], in[1], &o);
    fy_autocast_release(at, 2, in);
    return out;
}
