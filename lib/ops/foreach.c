/* foreach.c: an elementwise op of many tensors, as PyTorch's _foreach functions: as few launches as they fit into, in
 * place of one a tensor. Not recorded for gradients. */
#include <stdlib.h>

#include "dispatch.h"
#include "dtype.h"
#include "op.h"
#include "shape.h"
#include "storage.h"
#include "tensor.h"

bool fy_foreach_takes(const fy_tensor *x, const fy_tensor *like)
{
    fy_geometry g = fy_geometry_of(x);
    size_t sizes = (size_t)like->ndim * sizeof *like->shape;
    return x->storage->dev == like->storage->dev && x->dtype == like->dtype && fy_dtype_is_real(x->dtype) &&
           x->ndim == like->ndim && !memcmp(x->shape, like->shape, sizes) &&
           !memcmp(x->strides, like->strides, sizes) && fy_is_dense(&g);
}

/* A new tensor with the strides of `like`; NULL after an error. */
static fy_tensor *new_like(fy_site *at, const fy_tensor *like)
{
    fy_geometry g = fy_geometry_of(like);
    g.offset = 0;
    fy_storage *s = fy_storage_make(at, like->storage->dev, (size_t)fy_shape_numel(&g.shape) * like->element_size);
    return s ? fy_tensor_make(at, s, &g, NULL, 0, false) : NULL;
}

static bool make_all(fy_site *at, size_t n, fy_tensor *const *like, fy_tensor **made)
{
    for (size_t i = 0; i < n; i++) {
        made[i] = new_like(at, like[i]);
        if (made[i]) continue;
        while (i-- > 0) fy_tensor_release(at, made[i], FY_WORD_free);
        return false;
    }
    return true;
}

bool fy_foreach(fy_site *at, int op, size_t n, fy_tensor *const *const *in, const double *real, fy_tensor *const *out,
                fy_tensor **made)
{
    bool ok = true;
    if (!out && !make_all(at, n, in[0], made)) return false;
    for (size_t first = 0; ok && first < n; first += FY_MOST_ITEMS) {
        size_t left = n - first;
        fy_list l = {.at = at, .op = op, .n = left < FY_MOST_ITEMS ? (int)left : FY_MOST_ITEMS};
        l.out = (out ? out : made) + first;
        for (int k = 0; k < fy_ops[op].nin; k++) l.in[k] = in[k] ? in[k] + first : NULL;
        memcpy(l.real, real, sizeof l.real);
        ok = fy_perform_list(&l);
    }
    for (size_t i = 0; !ok && !out && i < n; i++) fy_tensor_release(at, made[i], FY_WORD_free);
    return ok;
}
