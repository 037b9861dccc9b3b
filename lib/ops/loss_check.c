/* loss_check.c: what can be wrong in a call of a loss, in PyTorch's words. */
#include "dtype.h"
#include "error.h"
#include "loss.h"
#include "op.h"
#include "shape.h"
#include "tensor.h"

bool fy_loss_check_real(fy_site *at, fy_tensor *a, fy_tensor *b)
{
    fy_tensor *x[] = {a, b};
    fy_dtype d = fy_promote_types(a->dtype, b->dtype);
    if (fy_dtype_is_real(d)) return true;
    return fy_fail_about(at, "dtype", "convert one of them first: fy_to(x, FY_FLOAT32)", 2, x,
                         "\"mse_%s\" not implemented for '%s'", a->storage->dev->number ? "cuda" : "cpu",
                         fy_dtype_torch(d));
}

static const char *const how_rows_meet =
    "scores (N, C) take classes (N); scores (N, C, d1, ...) take (N, d1, ...); scores (C) of one row take ()";

/* The sizes that the target should have. */
static fy_shape rows_of(const fy_tensor *x)
{
    fy_shape s = {0};
    for (int d = 0; d < x->ndim; d++)
        if (d != 1 && x->ndim > 1) s.dims[s.ndim++] = x->shape[d];
    return s;
}

static bool has_shape(const fy_tensor *x, const fy_shape *s)
{
    return x->ndim == s->ndim && memcmp(x->shape, s->dims, (size_t)s->ndim * sizeof *s->dims) == 0;
}

static bool fail_batch(fy_site *at, fy_tensor **x)
{
    return fy_fail_about(at, "shape", how_rows_meet, 2, x,
                         "Expected input batch_size (%lld) to match target batch_size (%lld).",
                         (long long)x[0]->shape[0], (long long)(x[1]->ndim ? x[1]->shape[0] : 0));
}

/* Scores without further dimensions. */
static bool fail_plain(fy_site *at, fy_tensor **x, const char *given, const char *told)
{
    if (x[1]->ndim > 1)
        return fy_fail_about(at, "shape", how_rows_meet, 2, x,
                             "0D or 1D target tensor expected, multi-target not supported");
    return fy_fail_about(at, "shape", how_rows_meet, 2, x, "size mismatch (got input: %s, target: %s)", given, told);
}

/* Scores of the points of a picture. */
static bool fail_picture(fy_site *at, fy_tensor **x, const char *given, const char *told)
{
    if (x[1]->ndim != 3)
        return fy_fail_about(at, "shape", how_rows_meet, 2, x,
                             "only batches of spatial targets supported (3D tensors) but got targets of dimension: %d",
                             x[1]->ndim);
    return fy_fail_about(at, "shape", how_rows_meet, 2, x, "size mismatch (got input: %s , target: %s", given, told);
}

/* PyTorch's words differ with the number of dimensions. */
bool fy_loss_check_rows(fy_site *at, fy_tensor *x, fy_tensor *target)
{
    char given[200], told[200], wanted[200];
    fy_tensor *both[] = {x, target};
    fy_shape rows = rows_of(x);
    if (has_shape(target, &rows)) return true;
    if (x->ndim > 1 && (target->ndim == 0 || x->shape[0] != target->shape[0])) return fail_batch(at, both);
    fy_shape_text(x->shape, x->ndim, "[]", given, sizeof given);
    fy_shape_text(target->shape, target->ndim, "[]", told, sizeof told);
    if (x->ndim <= 2) return fail_plain(at, both, given, told);
    if (x->ndim == 4) return fail_picture(at, both, given, told);
    return fy_fail_about(at, "shape", how_rows_meet, 2, both, "Expected target size %s, got %s",
                         fy_shape_text(rows.dims, rows.ndim, "[]", wanted, sizeof wanted), told);
}

/* Where element i of x lies, in elements from its first. */
static int64_t place_of(const fy_tensor *x, int64_t i)
{
    int64_t place = x->offset;
    for (int d = x->ndim - 1; d >= 0; d--) {
        place += i % x->shape[d] * x->strides[d];
        i /= x->shape[d];
    }
    return place;
}

/* On the host every class is looked at before anything runs; a card finds it out by itself. */
bool fy_loss_check_classes(fy_site *at, fy_tensor *x, fy_tensor *target)
{
    int64_t classes = x->shape[x->ndim > 1 ? 1 : 0];
    if (target->storage->dev->number > 0) return true;
    for (int64_t i = 0, n = fy_numel(target); i < n; i++) {
        int64_t class = fy_integer_at(target->dtype, target->storage->data, place_of(target, i));
        if ((class >= 0 && class < classes) || class == FY_IGNORE_INDEX) continue;
        return fy_fail_about(at, "index", "classes count from 0; -100 leaves a row out", 2, (fy_tensor *[]){x, target},
                             "Target %lld is out of bounds.", (long long)class);
    }
    return true;
}

bool fy_loss_check_smoothing(fy_site *at, double smoothing)
{
    if (!(smoothing > 1)) return true;
    return fy_fail(at, "value", "0 for none; 0.1 is usual", "label_smoothing must be between 0.0 and 1.0. Got: %g",
                   smoothing);
}

bool fy_loss_check_probabilities(fy_site *at, fy_tensor *target)
{
    if (fy_dtype_is_real(target->dtype)) return true;
    return fy_fail_about(at, "dtype", "a target of the scores' shape holds probabilities; classes lack that dimension",
                         1, &target, "Expected floating point type for target with class probabilities, got %s",
                         fy_dtype_torch(target->dtype));
}

bool fy_loss_check_reduction(fy_site *at, fy_reduction how)
{
    if (how == FY_MEAN || how == FY_SUM || how == FY_NONE) return true;
    return fy_fail(at, "value", "say FY_MEAN, FY_SUM or FY_NONE", "%d is not a valid value for reduction", (int)how);
}
