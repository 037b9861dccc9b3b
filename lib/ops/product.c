/* product.c: plans matrix products: operands on one device and of one dtype, 1-D operands as rows or columns, batch
 * dimensions broadcast. */
#include <ctype.h>
#include <stdio.h>

#include "composed.h"
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "op.h"
#include "run_work.h"
#include "shape.h"
#include "tensor.h"

/* The factors: the last two operands. addmm's first operand is added to their product. */
static fy_tensor *left_of(const fy_call *c) { return c->in[fy_ops[c->op].nin - 2].tensor; }
static fy_tensor *right_of(const fy_call *c) { return c->in[fy_ops[c->op].nin - 1].tensor; }

/* Operands i and j by argument number, for an error that describes them. */
static void set_given(const fy_call *c, int i, int j, fy_tensor **given)
{
    memset(given, 0, FY_MAX_ARGUMENTS * sizeof *given);
    given[fy_argument_number(c, i)] = c->in[i].tensor;
    given[fy_argument_number(c, j)] = c->in[j].tensor;
}

static bool fail_device(const fy_call *c, int common, int stray, int beside, const fy_checked *by)
{
    char words[FY_DEVICE_WORDS];
    fy_tensor *given[FY_MAX_ARGUMENTS];
    const fy_dev *a = c->in[common].tensor->storage->dev, *b = c->in[stray].tensor->storage->dev;
    int left = beside < stray ? beside : stray, moved = left, other = beside + stray - left;
    if (c->in[left].tensor->storage->dev->number > 0) { /* suggest moving the CPU operand to the GPU */
        moved = other;
        other = left;
    }
    set_given(c, beside, stray, given);
    return fy_fail_about(c->at, "device_mismatch", fy_device_hint(c, moved, c->in[other].tensor->storage->dev),
                         FY_MAX_ARGUMENTS, given, "%s", fy_device_words(a, b, by, words, sizeof words));
}

/* The function of PyTorch that computes a matmul, by its operands' dimensions: a row times a matrix is a product of
 * matrices; batch @ matrix is folded into one tall matrix, and matrix @ batch into the transposed product if the matrix
 * requires grad. Sets which operand it checks first. */
static fy_checked matmul_function(const fy_call *c, int *first)
{
    int na = c->in[0].tensor->ndim, nb = c->in[1].tensor->ndim;
    bool is_transposed = na == 2 && nb > 2 && fy_needs_grad(c->in[0].tensor);
    *first = is_transposed || (na > 1 && nb == 1);
    if (na == 1 && nb == 1) return (fy_checked){"_dot", "tensor"};
    if (nb == 1 || (na == 1 && nb > 2)) return (fy_checked){"addmv_", "mat"};
    return (fy_checked){nb > 2 && !is_transposed ? "bmm" : "mm", "mat2"};
}

/* PyTorch checks addmm's first operand first. What the error is about are the factors, if they differ: a layer's input
 * and weight rather than its bias. */
bool fy_product_on_one_device(const fy_call *c)
{
    const fy_dev *dev[FY_MAX_INPUTS];
    int first = 0;
    for (int i = 0; i < fy_ops[c->op].nin; i++) dev[i] = c->in[i].tensor->storage->dev;
    if (c->op == FY_OP_matmul) {
        if (dev[0] == dev[1]) return true;
        fy_checked by = matmul_function(c, &first);
        return fail_device(c, first, !first, first, &by);
    }
    if (dev[0] == dev[1] && dev[0] == dev[2]) return true;
    int stray = dev[1] != dev[0] ? 1 : 2;
    return fail_device(c, 0, stray, dev[1] != dev[2] ? 3 - stray : 0,
                       &(fy_checked){"addmm", stray == 1 ? "mat1" : "mat2"});
}

static const char *inner_sizes_hint =
    "the last size of the first operand must equal the second-to-last of the second; fy_t transposes a matrix";

/* The product of x's sizes except one. */
static long long numel_without(const fy_tensor *x, int dim)
{
    long long n = 1;
    for (int d = 0; d < x->ndim; d++) n = d == dim ? n : fy_saturating_mul(n, x->shape[d]);
    return n;
}

static bool fail_vector(const fy_call *c, fy_tensor **x, long long rows, long long columns, long long vector)
{
    return fy_fail_about(c->at, "shape", inner_sizes_hint, 2, x,
                         "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)", rows, rows, columns, vector);
}

/* PyTorch folds batch @ matrix into one tall matrix, and matrix @ batch into the transposed product; its message shows
 * those sizes. A vector on the left counts as one row. */
static bool fail_inner(const fy_call *c, fy_tensor **x, const fy_shape *batch)
{
    const char *hint = inner_sizes_hint;
    int na = x[0]->ndim, nb = x[1]->ndim, inner = nb > 1 ? nb - 2 : 0;
    long long a = x[0]->shape[na - 1], b = x[1]->shape[inner], rows = numel_without(x[0], na - 1);
    long long columns = numel_without(x[1], inner);
    if (na == 1 && nb == 1)
        return fy_fail_about(c->at, "shape", hint, 2, x,
                             "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have the same number "
                             "of elements, but got %lld and %lld elements respectively",
                             a, b, a, b);
    if (nb == 1) return fail_vector(c, x, rows, a, b);
    if (na == 1 && nb > 2) return fail_vector(c, x, columns, b, a);
    if (na > 2 && nb > 2)
        return fy_fail_about(c->at, "shape", hint, 2, x,
                             "Expected size for first two dimensions of batch2 tensor to be: [%lld, %lld] but got: "
                             "[%lld, %lld].",
                             (long long)fy_shape_numel(batch), a, (long long)fy_shape_numel(batch), b);
    bool is_transposed = na == 2 && nb > 2;
    return fy_fail_about(
        c->at, "shape", hint, 2, x, "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
        is_transposed ? columns : rows, is_transposed ? b : a, is_transposed ? a : b, is_transposed ? rows : columns);
}

/* The hint if operands of a module's product differ: its input is converted. */
static const char *module_dtype_hint(const fy_call *c, const fy_tensor *x, const fy_tensor *y)
{
    char name[200], constant[16] = "";
    const fy_tensor *input = fy_composed_now.input;
    if (!fy_composed_now.on || !input) return NULL;
    if (x != input && y != input)
        return fy_hint("convert the module: fy_module_to(%s, FY_FLOAT32)", fy_argument(c->at, 0, name, sizeof name));
    const char *wanted = fy_dtype_name(x == input ? y->dtype : x->dtype);
    for (size_t i = 0; wanted[i] && i + 1 < sizeof constant; i++) constant[i] = (char)toupper((unsigned char)wanted[i]);
    return fy_hint("convert with fy_to(%s, FY_%s)", fy_argument(c->at, 1, name, sizeof name), constant);
}

/* Products do not promote. */
static bool check_types(const fy_call *c, int i, int j, const char *first, const char *second)
{
    char name[200], other[200];
    fy_tensor *given[FY_MAX_ARGUMENTS], *x = c->in[i].tensor, *y = c->in[j].tensor;
    if (x->dtype == y->dtype) return true;
    int stray = fy_dtype_is_real(x->dtype) && x->dtype != FY_FLOAT64 ? j : i;
    set_given(c, i, j, given);
    fy_operand_name(c, stray, name, sizeof name);
    fy_operand_name(c, stray == i ? j : i, other, sizeof other);
    const char *hint = (stray == i ? y : x)->dtype == FY_FLOAT32
                           ? fy_hint("convert with fy_to(%s, FY_FLOAT32)", name)
                           : fy_hint("convert with fy_to(%s, fy_dtype_of(%s))", name, other);
    const char *of_module = module_dtype_hint(c, x, y);
    if (of_module) hint = of_module;
    if (c->op == FY_OP_addmm)
        return fy_fail_about(c->at, "dtype", hint, FY_MAX_ARGUMENTS, given,
                             "%s and %s must have the same dtype, but got %s and %s", first, second,
                             fy_dtype_torch(x->dtype), fy_dtype_torch(y->dtype));
    if (x->ndim == 1 && y->ndim == 1)
        return fy_fail_about(c->at, "dtype", hint, FY_MAX_ARGUMENTS, given,
                             "dot : expected both vectors to have same dtype, but found %s and %s",
                             fy_dtype_torch(x->dtype), fy_dtype_torch(y->dtype));
    return fy_fail_about(c->at, "dtype", hint, FY_MAX_ARGUMENTS, given,
                         "expected %s and %s to have the same dtype, but got: %s != %s", first, second,
                         fy_dtype_c(x->dtype), fy_dtype_c(y->dtype));
}

/* As in PyTorch: integers only on the CPU, bool nowhere; an empty result needs no kernel. */
static bool check_supported(const fy_call *c, const fy_plan *p)
{
    char name[200];
    int first = fy_ops[c->op].nin - 2;
    fy_tensor *given[FY_MAX_ARGUMENTS];
    bool host = left_of(c)->storage->dev->number == 0;
    fy_dtype d = left_of(c)->dtype;
    if (fy_dtype_is_real(d) || (host && d != FY_BOOL) || fy_shape_numel(&p->result.shape) == 0) return true;
    set_given(c, first, first, given);
    fy_operand_name(c, first, name, sizeof name);
    return fy_fail_about(c->at, "dtype", fy_hint("convert with fy_to(%s, FY_FLOAT32)", name), FY_MAX_ARGUMENTS, given,
                         "\"addmm_%s\" not implemented for '%s'", host ? "impl_cpu_" : "cuda", fy_dtype_torch(d));
}

/* x as a batch of matrices, expanded to `batch`; a vector is a row on the left, a column on the right. */
static fy_layout as_matrices(const fy_tensor *x, const fy_shape *batch, bool left)
{
    fy_layout l = {.ndim = batch->ndim + 2};
    int own = x->ndim > 2 ? x->ndim - 2 : 0, row = batch->ndim, column = row + 1;
    for (int d = 0; d < batch->ndim; d++) {
        int mine = d - (batch->ndim - own);
        l.shape[d] = batch->dims[d];
        l.strides[d] = mine < 0 || x->shape[mine] == 1 ? 0 : x->strides[mine];
    }
    if (x->ndim == 1) {
        int along = left ? column : row, missing = left ? row : column;
        l.shape[along] = x->shape[0];
        l.strides[along] = x->strides[0];
        l.shape[missing] = 1;
        l.strides[missing] = left ? x->shape[0] : 1;
    }
    for (int d = 0; x->ndim > 1 && d < 2; d++) {
        l.shape[row + d] = x->shape[own + d];
        l.strides[row + d] = x->strides[own + d];
    }
    fy_shape all = {.ndim = l.ndim};
    memcpy(all.dims, l.shape, sizeof all.dims);
    l.numel = fy_shape_numel(&all);
    return l;
}

static bool plan_product(const fy_call *c, fy_plan *p)
{
    int first = fy_ops[c->op].nin - 2;
    fy_tensor *x[] = {left_of(c), right_of(c)}, a = fy_tensor_described(x[0]), b = fy_tensor_described(x[1]);
    fy_shape batch = {0}, *s = &p->result.shape;
    a.ndim = a.ndim > 2 ? a.ndim - 2 : 0; /* the batch: all but the last two dimensions */
    b.ndim = b.ndim > 2 ? b.ndim - 2 : 0;
    if (!fy_broadcast(c->at, &a, &b, &batch)) return false;
    if (x[0]->shape[x[0]->ndim - 1] != x[1]->shape[x[1]->ndim > 1 ? x[1]->ndim - 2 : 0])
        return fail_inner(c, x, &batch);

    p->dev = x[0]->storage->dev;
    p->in[first] = as_matrices(x[0], &batch, true);
    p->in[first + 1] = as_matrices(x[1], &batch, false);
    fy_shape full = batch;
    full.dims[full.ndim++] = p->in[first].shape[batch.ndim];
    full.dims[full.ndim++] = p->in[first + 1].shape[batch.ndim + 1];
    *s = batch;
    if (x[0]->ndim > 1) s->dims[s->ndim++] = full.dims[batch.ndim];
    if (x[1]->ndim > 1) s->dims[s->ndim++] = full.dims[batch.ndim + 1];
    fy_shape_rows(s, p->result.strides);
    fy_geometry g = {.shape = full};
    fy_shape_rows(&full, g.strides);
    p->out = fy_layout_of(&g);
    return true;
}

/* addmm's first operand: broadcast to the product's shape, which it must not enlarge. */
static bool plan_added(const fy_call *c, fy_plan *p)
{
    const char *hint = "the added tensor must broadcast to the product's shape";
    fy_tensor *x = c->in[0].tensor, *given[FY_MAX_ARGUMENTS];
    const fy_shape *s = &p->result.shape;
    char target[256], sizes[256];
    set_given(c, 0, 0, given);
    if (x->ndim > s->ndim)
        return fy_fail_about(c->at, "shape", hint, FY_MAX_ARGUMENTS, given,
                             "expand: the number of sizes provided (%d) must be greater or equal to the number of "
                             "dimensions in the tensor (%d)",
                             s->ndim, x->ndim);
    for (int i = 1; i <= x->ndim; i++) {
        int64_t own = x->shape[x->ndim - i], there = s->dims[s->ndim - i];
        if (own == there || own == 1) continue;
        return fy_fail_about(c->at, "shape", hint, FY_MAX_ARGUMENTS, given,
                             "The expanded size of the tensor (%lld) must match the existing size (%lld) at "
                             "non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                             (long long)there, (long long)own, s->ndim - i,
                             fy_shape_text(s->dims, s->ndim, "[]", target, sizeof target),
                             fy_shape_text(x->shape, x->ndim, "[]", sizes, sizeof sizes));
    }
    p->in[0] = fy_layout_broadcast(x, s);
    return true;
}

/* addmm's mat1 or mat2. */
static bool check_matrix(const fy_call *c, int i)
{
    fy_tensor *given[FY_MAX_ARGUMENTS];
    int ndim = c->in[i].tensor->ndim;
    if (ndim == 2) return true;
    set_given(c, i, i, given);
    return fy_fail_about(c->at, "shape", "fy_matmul takes operands of any dimensions", FY_MAX_ARGUMENTS, given,
                         "mat%d must be a matrix, got %d-D tensor", i, ndim);
}

/* PyTorch does not compare the dtypes of operands whose product has no elements. Which one it gives depends on the
 * kernel that it would have called, mv, bmm or mm. */
static int dtype_of_nothing(const fy_tensor *a, const fy_tensor *b) { return a->ndim != 1 && b->ndim != 2; }

static bool plan_matmul(const fy_call *c, fy_plan *p)
{
    fy_tensor *x[] = {left_of(c), right_of(c)};
    bool host = x[0]->storage->dev->number == 0, vectors = x[0]->ndim == 1 && x[1]->ndim == 1;
    const char *first = host ? "m1" : "mat1", *second = host ? "m2" : "mat2";
    if (x[0]->ndim == 0 || x[1]->ndim == 0)
        return fy_fail_about(
            c->at, "shape", "multiply by a number with fy_mul, or give the operand a dimension with fy_view", 2, x,
            "both arguments to matmul need to be at least 1D, but they are %dD and %dD", x[0]->ndim, x[1]->ndim);
    if (!fy_product_on_one_device(c)) return false;
    if (vectors && !check_types(c, 0, 1, first, second)) return false; /* dot checks dtypes before shapes */
    if (!plan_product(c, p)) return false;
    if (fy_shape_numel(&p->result.shape) > 0) return check_types(c, 0, 1, first, second);
    p->dtype = p->result.dtype = x[dtype_of_nothing(x[0], x[1])]->dtype;
    return true;
}

bool fy_plan_product(const fy_call *c, fy_plan *p)
{
    if (c->op == FY_OP_matmul) return plan_matmul(c, p) && check_supported(c, p);
    return fy_product_on_one_device(c) && check_types(c, 0, 2, "self", "mat2") &&
           check_types(c, 1, 2, "mat1", "mat2") && check_matrix(c, 1) && check_matrix(c, 2) && plan_product(c, p) &&
           plan_added(c, p) && check_supported(c, p);
}
