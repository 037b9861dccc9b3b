/* cat_stack.c: fy_cat and fy_stack. One result is allocated and each operand is written into its part of it by an op of
 * its own. Everything is checked before anything is allocated. */
#include <stdlib.h>

#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "op.h"
#include "session_hooks.h"
#include "shape.h"
#include "storage.h"
#include "tensor.h"
#include "transfer.h"

/* One call, and the result that it will make. */
typedef struct join {
    fy_site *at;
    size_t n;
    fy_tensor *const *x;
    int64_t dim;
    bool stack;       /* along a new dimension */
    fy_dev *dev;      /* of the result */
    fy_tensor *first; /* the first that is not skipped; NULL if all are */
    fy_geometry result;
} join;

/* An empty 1-D tensor joins with anything, as in PyTorch. */
static bool is_skipped(const fy_tensor *x) { return x->ndim == 1 && x->shape[0] == 0; }

static bool check_tensors(join *j)
{
    if (j->n == 0)
        return fy_fail(j->at, "value", "pass at least one tensor",
                       j->stack ? "stack expects a non-empty TensorList"
                                : "torch.cat(): expected a non-empty list of Tensors");
    for (size_t i = 0; i < j->n; i++)
        if (!fy_check(j->at, FY_IN_LIST + (int)i, j->x[i])) return false;
    return true;
}

/* The first GPU among the operands' devices, else the CPU. FERRY_POLICY=silent copies the other operands to it. */
static bool set_device(join *j)
{
    char words[FY_DEVICE_WORDS];
    fy_dev *first = j->x[0]->storage->dev, *other = first;
    for (size_t i = 1; i < j->n && other == first; i++) other = j->x[i]->storage->dev;
    j->dev = first->number ? first : other;
    if (other == first || fy_dev_copies_implicitly()) return true;
    return fy_fail(j->at, "device_mismatch",
                   fy_hint("copy the others to that device first: fy_to(x, \"%s\")", j->dev->name), "%s",
                   fy_device_words(first, other, &(fy_checked){"cat", "tensors"}, words, sizeof words));
}

static fy_dtype common_type(const join *j)
{
    fy_dtype dims = FY_DTYPE_UNSET, zero = FY_DTYPE_UNSET;
    for (size_t i = 0; i < j->n; i++) {
        fy_dtype *class = j->x[i]->ndim ? &dims : &zero;
        *class = fy_promote_types(*class, j->x[i]->dtype);
    }
    return dims == FY_DTYPE_UNSET ? zero : dims; /* either all operands are 0-dim (stack), or none is */
}

/* ---- the shapes ---- */

/* Does tensor i match the first, except in the joined dimension? */
static bool check_part(const join *j, size_t i)
{
    const fy_tensor *x = j->x[i], *first = j->first;
    if (x->ndim != first->ndim)
        return fy_fail(j->at, "shape", "fy_unsqueeze inserts a dimension of size 1",
                       "Tensors must have same number of dimensions: got %d and %d", first->ndim, x->ndim);
    for (int d = 0; d < x->ndim; d++)
        if (d != j->dim && x->shape[d] != first->shape[d])
            return fy_fail(j->at, "shape", "all sizes except that of the joined dimension must be equal",
                           "Sizes of tensors must match except in dimension %d. Expected size %lld but got size %lld "
                           "for tensor number %zu in the list.",
                           (int)j->dim, (long long)first->shape[d], (long long)x->shape[d], i);
    return true;
}

static bool plan_cat(join *j)
{
    fy_shape *s = &j->result.shape;
    for (size_t i = 0; i < j->n; i++) {
        if (j->x[i]->ndim == 0)
            return fy_fail(j->at, "shape", "fy_stack joins 0-dim tensors",
                           "zero-dimensional tensor (at position %zu) cannot be concatenated", i);
        if (!j->first && !is_skipped(j->x[i])) j->first = j->x[i];
    }
    if (!j->first) j->dim = 0; /* all are empty: any dim is accepted, as in PyTorch */
    if (j->first && !fy_wrap_dim(j->at, j->first, &j->dim)) return false;
    *s = fy_geometry_of(j->first ? j->first : j->x[0]).shape;
    s->dims[j->dim] = 0;
    for (size_t i = 0; i < j->n; i++) {
        if (is_skipped(j->x[i])) continue;
        if (!check_part(j, i)) return false;
        if (__builtin_add_overflow(s->dims[j->dim], j->x[i]->shape[j->dim], &s->dims[j->dim]))
            return fy_fail(j->at, "shape", "concatenate fewer tensors",
                           "the total size of the joined dimension overflows int64");
    }
    return true;
}

static bool plan_stack(join *j)
{
    const fy_tensor *first = j->x[0];
    char first_text[256], other_text[256];
    if (!fy_wrap_dim_of(j->at, j->x[0], first->ndim + 1, &j->dim)) return false;
    if (first->ndim == FY_MAX_DIMS)
        return fy_fail(j->at, "shape", "merge some dimensions first: fy_flatten", "a tensor has at most %d dimensions",
                       FY_MAX_DIMS);
    for (size_t i = 1; i < j->n; i++) {
        const fy_tensor *x = j->x[i];
        if (x->ndim == first->ndim && memcmp(x->shape, first->shape, (size_t)x->ndim * sizeof *x->shape) == 0) continue;
        return fy_fail(j->at, "shape", "fy_cat joins tensors of different sizes along an existing dimension",
                       "stack expects each tensor to be equal size, but got %s at entry 0 and %s at entry %zu",
                       fy_shape_text(first->shape, first->ndim, "[]", first_text, sizeof first_text),
                       fy_shape_text(x->shape, x->ndim, "[]", other_text, sizeof other_text), i);
    }

    fy_shape *s = &j->result.shape;
    s->ndim = first->ndim + 1;
    for (int d = 0; d < s->ndim; d++)
        s->dims[d] = d < j->dim ? first->shape[d] : d == j->dim ? (int64_t)j->n : first->shape[d - 1];
    return true;
}

/* ---- the layout ---- */

/* The operand's geometry; stacking behind its last dimension appends one of size 1. */
static fy_geometry operand(const join *j, const fy_tensor *x)
{
    fy_geometry g = fy_geometry_of(x);
    if (!j->stack || j->dim < x->ndim) return g;
    g.shape.dims[x->ndim] = g.strides[x->ndim] = 1;
    g.shape.ndim++;
    return g;
}

/* The i-th dimension of n in channels-last order, innermost first: 1, then the last down to 2, then 0. */
static int channels_last_dim(int i, int n) { return i == 0 ? 1 : i == n - 1 ? 0 : n - i; }

/* Is the channel dimension (1) of a 4-D or 5-D tensor innermost? Guessed from the strides, as PyTorch does. */
static bool is_channels_last(const fy_geometry *g)
{
    int64_t min_stride = 0;
    int n = g->shape.ndim;
    if ((n != 4 && n != 5) || g->strides[1] == 0) return false;
    for (int i = 0; i < n; i++) {
        int d = channels_last_dim(i, n);
        if (g->shape.dims[d] == 0 || g->strides[d] < min_stride || (d == 0 && min_stride == g->strides[1]))
            return false;
        min_stride = fy_saturating_mul(g->strides[d], g->shape.dims[d]);
    }
    return true;
}

/* Row-major, unless all operands are channels-last. */
static void set_strides(const join *j, const fy_shape *s, int64_t *strides)
{
    bool channels_last = true;
    for (size_t i = 0; i < j->n && channels_last; i++) {
        fy_geometry g = operand(j, j->x[i]);
        channels_last = is_channels_last(&g);
    }
    fy_shape_rows(s, strides);
    int64_t step = 1;
    for (int i = 0; i < s->ndim && channels_last; i++) {
        int d = channels_last_dim(i, s->ndim);
        strides[d] = step;
        step = fy_saturating_mul(step, s->dims[d] > 1 ? s->dims[d] : 1);
    }
}

/* PyTorch stacks by concatenating along an existing dimension and splitting that one afterwards; the strides follow. */
static void plan_strides(join *j)
{
    if (!j->stack || j->dim == j->x[0]->ndim) {
        set_strides(j, &j->result.shape, j->result.strides);
        return;
    }
    fy_shape s = fy_geometry_of(j->x[0]).shape;
    s.dims[j->dim] = fy_saturating_mul(s.dims[j->dim], (int64_t)j->n);
    fy_tensor joined = {.magic = FY_ALIVE, .ndim = s.ndim};
    memcpy(joined.shape, s.dims, sizeof joined.shape);
    set_strides(j, &s, joined.strides);
    fy_restride(&joined, &j->result.shape, j->result.strides);
}

/* ---- the writing ---- */

/* Writes operand i into its part of the result, which begins at `from` along the dimension. The part keeps the result's
 * id, so that the log shows the result itself being written part by part. */
static bool write_part(const join *j, const fy_tensor *result, size_t i, int64_t from)
{
    fy_tensor part = *result, *x = j->x[i], *copy = NULL;
    part.offset += from * result->strides[j->dim];
    if (j->stack) {
        part.ndim--;
        for (int d = (int)j->dim; d < part.ndim; d++) {
            part.shape[d] = result->shape[d + 1];
            part.strides[d] = result->strides[d + 1];
        }
    } else {
        part.shape[j->dim] = x->shape[j->dim];
    }

    if (x->storage->dev != j->dev) {
        copy = fy_copy_to(j->at, x, j->dev, x->dtype, &(fy_transfer_opts){.why = FY_WORD_policy}, NULL);
        if (!copy) return false;
        x = copy;
    }
    fy_part_of written = {j->dim, (int64_t)i, from};
    int op = x->dtype == result->dtype ? FY_OP_clone : FY_OP_cast;
    bool ok = fy_compute(&(fy_call){.at = j->at,
                                    .op = op,
                                    .in = {fy_arg_tensor(x)},
                                    .out = &part,
                                    .whole = result,
                                    .part = &written,
                                    .dtype = result->dtype});
    fy_tensor_release(j->at, copy, FY_WORD_free);
    return ok;
}

static fy_tensor *make(join *j)
{
    int64_t numel, from = 0;
    bool ok = true;
    j->result.dtype = common_type(j);
    if (!fy_shape_ok(j->at, &j->result.shape, j->result.dtype, &numel)) return NULL;
    plan_strides(j);
    fy_storage *s = fy_storage_make(j->at, j->dev, (size_t)numel * fy_dtype_size(j->result.dtype));
    if (!s) return NULL;

    fy_tensor *result = fy_tensor_make(j->at, s, &j->result, fy_name_for(j->at, NULL), 0, false);
    for (size_t i = 0; i < j->n && ok; i++) {
        ok = fy_tensor_numel(j->x[i]) == 0 || write_part(j, result, i, from);
        if (j->stack) from++;
        else if (!is_skipped(j->x[i])) from += j->x[i]->shape[j->dim];
    }
    if (ok) {
        fy_record_step(j->at, FY_NODE_JOIN, result, j->n, j->x, &(fy_shape){2, {j->dim, j->stack}}, false);
        return fy_scope_track(result);
    }
    fy_tensor_release(j->at, result, FY_WORD_free);
    return NULL;
}

fy_tensor *fy_cat_at(fy_site *at, size_t n, fy_tensor *const *x, int64_t dim)
{
    FY_CALL(at);
    join j = {.at = at, .n = n, .x = x, .dim = dim};
    fy_session_start();
    return check_tensors(&j) && set_device(&j) && plan_cat(&j) ? make(&j) : NULL;
}

fy_tensor *fy_stack_at(fy_site *at, size_t n, fy_tensor *const *x, int64_t dim)
{
    FY_CALL(at);
    join j = {.at = at, .n = n, .x = x, .dim = dim, .stack = true};
    fy_session_start();
    return check_tensors(&j) && set_device(&j) && plan_stack(&j) ? make(&j) : NULL;
}
