/* accessors.c: properties of a tensor: device, dtype, sizes, strides. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "frame.h"
#include "shape.h"
#include "tensor.h"

/* Getters accept NULL without an error. */
static bool alive(fy_site *at, const fy_tensor *x) { return x && (x->magic == FY_ALIVE || fy_check(at, 0, x)); }

const char *fy_device_at(fy_site *at, const fy_tensor *x)
{
    FY_CALL(at);
    return alive(at, x) ? x->storage->dev->name : "none";
}
bool fy_is_cuda_at(fy_site *at, const fy_tensor *x)
{
    FY_CALL(at);
    return alive(at, x) && x->storage->dev->number > 0;
}
fy_dtype fy_dtype_of_at(fy_site *at, const fy_tensor *x)
{
    FY_CALL(at);
    return alive(at, x) ? x->dtype : FY_DTYPE_UNSET;
}
int fy_dim_at(fy_site *at, const fy_tensor *x)
{
    FY_CALL(at);
    return alive(at, x) ? x->ndim : 0;
}

fy_shape fy_shape_of_at(fy_site *at, const fy_tensor *x)
{
    FY_CALL(at);
    return alive(at, x) ? fy_geometry_of(x).shape : (fy_shape){0};
}

static int wrapped(fy_site *at, const fy_tensor *x, int dim)
{
    if (!alive(at, x) || dim < -x->ndim || dim >= x->ndim) return -1;
    return dim < 0 ? dim + x->ndim : dim;
}

int64_t fy_size_at(fy_site *at, const fy_tensor *x, int dim)
{
    FY_CALL(at);
    int d = wrapped(at, x, dim);
    return d < 0 ? -1 : x->shape[d];
}

int64_t fy_stride_at(fy_site *at, const fy_tensor *x, int dim)
{
    FY_CALL(at);
    int d = wrapped(at, x, dim);
    return d < 0 ? -1 : x->strides[d];
}

int64_t fy_tensor_numel(const fy_tensor *x)
{
    fy_shape s = fy_geometry_of(x).shape;
    return fy_shape_numel(&s);
}

int64_t fy_numel_at(fy_site *at, const fy_tensor *x)
{
    FY_CALL(at);
    return alive(at, x) ? fy_tensor_numel(x) : 0;
}

bool fy_is_contiguous_at(fy_site *at, const fy_tensor *x)
{
    FY_CALL(at);
    if (!alive(at, x)) return false;
    fy_geometry g = fy_geometry_of(x);
    int64_t rows[FY_MAX_DIMS];
    if (fy_shape_numel(&g.shape) == 0) return true;
    fy_shape_rows(&g.shape, rows);
    for (int i = 0; i < x->ndim; i++)
        if (x->shape[i] != 1 && x->strides[i] != rows[i]) return false;
    return true;
}

int64_t fy_storage_offset_at(fy_site *at, const fy_tensor *x)
{
    FY_CALL(at);
    return alive(at, x) ? x->offset : 0;
}

bool fy_same_storage_at(fy_site *at, fy_tensor *a, fy_tensor *b)
{
    FY_CALL(at);
    return fy_check(at, 0, a) && fy_check(at, 1, b) && a->storage == b->storage;
}

void *fy_first_element(const fy_tensor *x)
{
    if (!x->storage->data) return NULL;
    return (char *)x->storage->data + x->offset * x->element_size;
}
