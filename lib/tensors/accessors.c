/* accessors.c: what a tensor is: device, dtype, sizes, strides. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dtype.h"
#include "shape.h"
#include "tensor.h"

/* Getters have no call site: a dead handle is reported without a line, NULL reads as nothing. */
static bool alive(const fy_tensor *x) { return x && (x->magic == FY_ALIVE || fy_check(NULL, 0, x)); }

const char *fy_device(const fy_tensor *x) { return alive(x) ? x->storage->dev->name : "none"; }
bool fy_is_cuda(const fy_tensor *x) { return alive(x) && x->storage->dev->number > 0; }
fy_dtype fy_dtype_of(const fy_tensor *x) { return alive(x) ? x->dtype : FY_DTYPE_UNSET; }
fy_shape fy_shape_of(const fy_tensor *x) { return alive(x) ? fy_geometry_of(x).shape : (fy_shape){0}; }
int fy_dim(const fy_tensor *x) { return alive(x) ? x->ndim : 0; }

static int wrapped(const fy_tensor *x, int dim)
{
    if (!alive(x) || dim < -x->ndim || dim >= x->ndim) return -1;
    return dim < 0 ? dim + x->ndim : dim;
}

int64_t fy_size(const fy_tensor *x, int dim)
{
    int d = wrapped(x, dim);
    return d < 0 ? -1 : x->shape[d];
}

int64_t fy_stride(const fy_tensor *x, int dim)
{
    int d = wrapped(x, dim);
    return d < 0 ? -1 : x->strides[d];
}

int64_t fy_numel(const fy_tensor *x)
{
    fy_shape s = fy_shape_of(x);
    return alive(x) ? fy_shape_numel(&s) : 0;
}

bool fy_is_contiguous(const fy_tensor *x)
{
    if (!alive(x)) return false;
    fy_geometry g = fy_geometry_of(x);
    int64_t rows[FY_MAX_DIMS];
    if (fy_shape_numel(&g.shape) == 0) return true;
    fy_shape_rows(&g.shape, rows);
    for (int i = 0; i < x->ndim; i++)
        if (x->shape[i] != 1 && x->strides[i] != rows[i]) return false;
    return true;
}

int64_t fy_storage_offset(const fy_tensor *x) { return alive(x) ? x->offset : 0; }

bool fy_same_storage_at(fy_site *at, fy_tensor *a, fy_tensor *b)
{
    return fy_check(at, 0, a) && fy_check(at, 1, b) && a->storage == b->storage;
}

void *fy_first_element(const fy_tensor *x)
{
    if (!x->storage->data) return NULL;
    return (char *)x->storage->data + x->offset * (int64_t)fy_dtype_size(x->dtype);
}
