/* product.c: matmul's own rules: both operands on one device and of one type, 1-D operands made 2-D. */
#include <stdio.h>

#include "tensor.h"

static bool check_dims(const fy_call *c, fy_tensor **x)
{
    int a = x[0]->ndim, b = x[1]->ndim;
    if (a == 0 || b == 0)
        return fy_fail_about(c->at, "shape",
                             "multiply by a number with fy_mul, or give the operand a dimension with fy_view", 2, x,
                             "both arguments to matmul need to be at least 1D, but they are %dD and %dD", a, b);
    if (a > 2 || b > 2)
        return fy_fail_about(c->at, "shape", "take the matrices one by one with fy_select(x, 0, i)", 2, x,
                             "matmul takes operands of 1 and 2 dimensions here, but they are %dD and %dD", a, b);
    return true;
}

/* PyTorch's words, without the method of its own that they end with. */
static bool check_device(const fy_call *c, fy_tensor **x)
{
    char name[200];
    const fy_dev *a = x[0]->storage->dev, *b = x[1]->storage->dev;
    if (a == b) return true;
    int stray = a->number == 0 ? 0 : 1; /* what is on the CPU goes to the card */
    const fy_dev *other = stray ? a : b;
    const char *to = other->number == 1 ? "cuda" : other->name;
    fy_argument(c->at, stray, name, sizeof name);
    return fy_fail_about(
        c->at, "device_mismatch",
        fy_hint("bring %s over with fy_to(%s, \"%s\"), or make it there with .device = \"%s\"", name, name, to, to), 2,
        x, "Expected all tensors to be on the same device, but found at least two devices, %s and %s!", a->name,
        b->name);
}

static bool fail_inner(const fy_call *c, fy_tensor **x)
{
    const int64_t *a = x[0]->shape, *b = x[1]->shape;
    long long a0 = a[0], a1 = x[0]->ndim == 2 ? a[1] : 0, b0 = b[0], b1 = x[1]->ndim == 2 ? b[1] : 0;
    const char *hint =
        fy_hint("the last size of the first must equal the first size of the second; fy_t turns a matrix round");
    if (x[1]->ndim == 2)
        return fy_fail_about(c->at, "shape", hint, 2, x,
                             "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                             x[0]->ndim == 2 ? a0 : 1, x[0]->ndim == 2 ? a1 : a0, b0, b1);
    if (x[0]->ndim == 2)
        return fy_fail_about(c->at, "shape", hint, 2, x, "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)",
                             a0, a0, a1, b0);
    return fy_fail_about(c->at, "shape", hint, 2, x,
                         "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have the same number of "
                         "elements, but got %lld and %lld elements respectively",
                         a0, b0, a0, b0);
}

static bool check_types(const fy_call *c, fy_tensor **x)
{
    char name[200];
    bool host = x[0]->storage->dev->number == 0;
    int stray = x[0]->dtype == FY_INT64 ? 0 : 1;
    const char *hint = fy_hint("convert with fy_to(%s, FY_FLOAT32)", fy_argument(c->at, stray, name, sizeof name));
    if (x[0]->dtype != x[1]->dtype)
        return fy_fail_about(c->at, "dtype", hint, 2, x, "expected %s and %s to have the same dtype, but got: %s != %s",
                             host ? "m1" : "mat1", host ? "m2" : "mat2", fy_dtype_c(x[0]->dtype),
                             fy_dtype_c(x[1]->dtype));
    if (x[0]->dtype == FY_INT64 && !host)
        return fy_fail_about(c->at, "dtype", "convert both with fy_to(x, FY_FLOAT32)", 2, x,
                             "\"addmm_cuda\" not implemented for 'Long'");
    return true;
}

/* x as a matrix: a vector is one row on the left, one column on the right. */
static fy_layout as_matrix(const fy_tensor *x, bool left)
{
    fy_layout l = {.ndim = 2};
    int own = x->ndim == 2 ? 0 : left ? 1 : 0, missing = left ? 0 : 1;
    for (int i = 0; i < x->ndim; i++) {
        l.shape[own + i] = x->shape[i];
        l.strides[own + i] = x->strides[i];
    }
    if (x->ndim == 1) {
        l.shape[missing] = 1;
        l.strides[missing] = left ? x->shape[0] : 1;
    }
    l.numel = l.shape[0] * l.shape[1];
    return l;
}

bool fy_plan_product(const fy_call *c, fy_plan *p)
{
    fy_tensor *x[] = {c->in[0].tensor, c->in[1].tensor};
    if (!check_dims(c, x) || !check_device(c, x)) return false;
    if (x[0]->shape[x[0]->ndim - 1] != x[1]->shape[0]) return fail_inner(c, x);
    if (!check_types(c, x)) return false;
    fy_shape full = {.ndim = 2}, *s = &p->result.shape;
    p->dev = x[0]->storage->dev;
    p->in[0] = as_matrix(x[0], true);
    p->in[1] = as_matrix(x[1], false);
    full.dims[0] = p->in[0].shape[0];
    full.dims[1] = p->in[1].shape[1];
    if (x[0]->ndim == 2) s->dims[s->ndim++] = full.dims[0];
    if (x[1]->ndim == 2) s->dims[s->ndim++] = full.dims[1];
    fy_shape_rows(s, p->result.strides);
    fy_geometry g = {.shape = full};
    fy_shape_rows(&full, g.strides);
    p->out = fy_layout_of(&g);
    return true;
}
