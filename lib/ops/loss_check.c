/* loss_check.c: the losses' argument checks, with PyTorch's messages. */
#include "dtype.h"
#include "error.h"
#include "loss.h"
#include "offset.h"
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

/* The target of classes has x's shape without the class dimension. PyTorch's message depends on x's dimensions. */
bool fy_loss_check_rows(fy_site *at, fy_tensor *x, fy_tensor *target)
{
    const char *hint =
        "scores (N, C) take classes (N); scores (N, C, d1, ...) take (N, d1, ...); scores (C) of one row take ()";
    char input_text[200], target_text[200], expected[200];
    fy_tensor *both[] = {x, target};
    fy_shape rows = {0};
    for (int d = 0; d < x->ndim; d++)
        if (d != 1 && x->ndim > 1) rows.dims[rows.ndim++] = x->shape[d];
    if (target->ndim == rows.ndim && !memcmp(target->shape, rows.dims, (size_t)rows.ndim * sizeof *rows.dims))
        return true;

    fy_shape_text(x->shape, x->ndim, "[]", input_text, sizeof input_text);
    fy_shape_text(target->shape, target->ndim, "[]", target_text, sizeof target_text);
    if (x->ndim > 1 && (target->ndim == 0 || x->shape[0] != target->shape[0]))
        return fy_fail_about(at, "shape", hint, 2, both,
                             "Expected input batch_size (%lld) to match target batch_size (%lld).",
                             (long long)x->shape[0], (long long)(target->ndim ? target->shape[0] : 0));
    if (x->ndim <= 2 && target->ndim > 1)
        return fy_fail_about(at, "shape", hint, 2, both, "0D or 1D target tensor expected, multi-target not supported");
    if (x->ndim <= 2)
        return fy_fail_about(at, "shape", hint, 2, both, "size mismatch (got input: %s, target: %s)", input_text,
                             target_text);
    if (x->ndim == 4 && target->ndim != 3)
        return fy_fail_about(at, "shape", hint, 2, both,
                             "only batches of spatial targets supported (3D tensors) but got targets of dimension: %d",
                             target->ndim);
    if (x->ndim == 4)
        return fy_fail_about(at, "shape", hint, 2, both, "size mismatch (got input: %s , target: %s", input_text,
                             target_text);
    return fy_fail_about(at, "shape", hint, 2, both, "Expected target size %s, got %s",
                         fy_shape_text(rows.dims, rows.ndim, "[]", expected, sizeof expected), target_text);
}

/* On the host every class is checked before anything runs; on a GPU the kernel's assertion does it. */
bool fy_loss_check_classes(fy_site *at, fy_tensor *x, fy_tensor *target)
{
    int64_t classes = x->shape[x->ndim > 1 ? 1 : 0];
    if (target->storage->dev->number > 0) return true;
    fy_geometry g = fy_geometry_of(target);
    fy_layout l = fy_layout_of(&g);
    for (int64_t i = 0; i < l.numel; i++) {
        int64_t class = fy_integer_at(target->dtype, fy_first_element(target), fy_offset_of(&l, l.ndim, i));
        if ((class >= 0 && class < classes) || class == FY_IGNORE_INDEX) continue;
        return fy_fail_about(at, "index", "classes are numbered from 0; -100 ignores a row", 2,
                             (fy_tensor *[]){x, target}, "Target %lld is out of bounds.", (long long)class);
    }
    return true;
}

bool fy_loss_check_smoothing(fy_site *at, double smoothing)
{
    if (!(smoothing > 1)) return true;
    return fy_fail(at, "value", "use 0 for no smoothing; 0.1 is common",
                   "label_smoothing must be between 0.0 and 1.0. Got: %g", smoothing);
}

bool fy_loss_check_probabilities(fy_site *at, fy_tensor *target)
{
    if (fy_dtype_is_real(target->dtype)) return true;
    return fy_fail_about(at, "dtype",
                         "a target with the scores' shape must hold probabilities (floats); a target of class numbers "
                         "has no class dimension",
                         2, (fy_tensor *[]){NULL, target},
                         "Expected floating point type for target with class probabilities, got %s",
                         fy_dtype_torch(target->dtype));
}

bool fy_loss_check_reduction(fy_site *at, fy_reduction how)
{
    if (how == FY_MEAN || how == FY_SUM || how == FY_NONE) return true;
    return fy_fail(at, "value", "use FY_MEAN, FY_SUM or FY_NONE", "%d is not a valid value for reduction", (int)how);
}
