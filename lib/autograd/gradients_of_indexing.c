/* gradients_of_indexing.c: gradients of repeat, indexing and selection: each element goes back to where it was taken
 * from, and adds up there. */
#include "dispatch.h"
#include "error.h"
#include "gradients.h"
#include "shape.h"

static int64_t wrapped(int64_t dim, int ndim) { return dim < 0 ? dim + ndim : dim; }

/* Dimension by dimension: (before, times, size * after) summed over the times. */
fy_arg fy_gradient_sum_of_copies(const fy_node *n, fy_arg g)
{
    const fy_shape *own = &n->next[0]->is.shape, *times = &n->dims;
    fy_tensor *x = g.tensor;
    fy_shape sizes = n->is.shape; /* the sizes left */
    for (int d = 0; x && d < times->ndim; d++) {
        int mine = d - (times->ndim - own->ndim);
        fy_shape split = {3, {1, times->dims[d], 1}};
        if (times->dims[d] == 1) continue;
        sizes.dims[d] = mine < 0 ? 1 : own->dims[mine];
        for (int k = 0; k < d; k++) split.dims[0] *= sizes.dims[k];
        for (int k = d; k < times->ndim; k++) split.dims[2] *= sizes.dims[k];
        x = fy_algebra_sum(fy_algebra_reshape(x, &split), &(fy_shape){1, {1}}, false);
    }
    return fy_arg_tensor(fy_algebra_reshape(x, own));
}

static fy_arg scattered(const fy_shape *into, int64_t dim, fy_tensor *index, fy_tensor *g)
{
    fy_tensor *all = fy_algebra_zeros(g, into);
    if (!all || !index || !g) return fy_arg_tensor(NULL);
    return fy_arg_tensor(fy_scatter_add__at(fy_algebra_site, all, dim, index, g));
}

/* The index's dimensions are made one, and it is expanded to the gradient's shape. */
fy_arg fy_gradient_add_rows(const fy_node *n, fy_arg g, fy_arg b)
{
    const fy_shape *own = &n->next[0]->is.shape;
    int64_t dim = n->op == FY_OP_embedding ? 0 : wrapped(n->dims.dims[0], own->ndim ? own->ndim : 1);
    fy_shape whole = own->ndim ? *own : (fy_shape){1, {1}}, rows = whole, flat = {whole.ndim, {0}};
    if (!g.tensor || !b.tensor) return fy_arg_tensor(NULL);
    for (int d = 0; d < whole.ndim; d++) flat.dims[d] = 1;
    rows.dims[dim] = flat.dims[dim] = fy_tensor_numel(b.tensor);
    fy_arg index = b.tensor->dtype == FY_INT64
                       ? b
                       : fy_arg_tensor(fy_to_at(fy_algebra_site, b.tensor, fy_target_dtype(FY_INT64), (fy_to_opts){0}));
    fy_tensor *wide = fy_algebra_reshape(index.tensor, &flat);
    if (wide) wide = fy_expand_at(fy_algebra_site, wide, rows);
    fy_arg sum = scattered(&whole, dim, wide, fy_algebra_reshape(g.tensor, &rows));
    return fy_arg_tensor(fy_algebra_reshape(sum.tensor, own));
}

fy_arg fy_gradient_add_elements(const fy_node *n, fy_arg g, fy_arg b)
{
    return g.tensor ? scattered(&n->next[0]->is.shape, n->dims.dims[0], b.tensor, g.tensor) : g;
}

/* As in PyTorch, there is no gradient for a source of which the index used only a part. */
static bool check_source(fy_tensor *taken, const fy_shape *source)
{
    char got[256], want[256];
    fy_shape index = fy_geometry_of(taken).shape;
    if (fy_shape_numel(&index) == fy_shape_numel(source)) return true;
    return fy_fail_about(fy_algebra_site, "grad",
                         "give fy_scatter_add_ the part that the index uses: fy_narrow(src, dim, 0, index's size)", 1,
                         &taken,
                         "Function ScatterAddBackward0 returned an invalid gradient at index 1 - got %s but expected "
                         "shape compatible with %s",
                         fy_shape_text(index.dims, index.ndim, "[]", got, sizeof got),
                         fy_shape_text(source->dims, source->ndim, "[]", want, sizeof want));
}

fy_arg fy_gradient_take_elements(const fy_node *n, fy_arg g, fy_arg b)
{
    fy_shape source = n->next[2]->is.shape;
    if (!g.tensor || !b.tensor) return fy_arg_tensor(NULL);
    fy_tensor *taken = fy_gather_at(fy_algebra_site, g.tensor, n->dims.dims[0], b.tensor);
    return fy_arg_tensor(taken && check_source(taken, &source) ? taken : NULL);
}

/* b counts the selected elements up to each one: where it grows, that element was selected, and became number b - 1. */
fy_arg fy_gradient_put_selected(const fy_node *n, fy_arg g, fy_arg b)
{
    (void)n;
    fy_tensor *counts = b.tensor;
    if (!g.tensor || !counts) return fy_arg_tensor(NULL);
    fy_shape mask = fy_geometry_of(counts).shape, flat = {1, {fy_tensor_numel(counts)}}, all = mask, column = mask;
    int64_t selected = g.tensor->shape[0];
    for (int d = 1; d < g.tensor->ndim; d++) all.dims[all.ndim++] = g.tensor->shape[d], column.dims[column.ndim++] = 1;
    if (selected == 0) return fy_arg_tensor(fy_algebra_zeros(g.tensor, &all));
    fy_arg one = fy_arg_int(1), up_to = fy_arg_tensor(fy_algebra_reshape(counts, &flat));
    fy_tensor *first = fy_algebra_zeros(counts, &(fy_shape){1, {1}});
    fy_tensor *rest = up_to.tensor ? fy_narrow_at(fy_algebra_site, up_to.tensor, 0, 0, flat.dims[0] - 1) : NULL;
    if (!first || !rest) return fy_arg_tensor(NULL);
    fy_arg before = fy_arg_tensor(fy_cat_at(fy_algebra_site, 2, (fy_tensor *[]){first, rest}, 0));
    fy_arg number = OP(clamp_min, OP(sub, up_to, one), fy_arg_int(0)), grows = OP(gt, up_to, before);
    if (!number.tensor || !grows.tensor) return fy_arg_tensor(NULL);
    fy_tensor *taken = fy_index_select_at(fy_algebra_site, g.tensor, 0, number.tensor);
    return WHERE(fy_arg_tensor(fy_algebra_reshape(grows.tensor, &column)),
                 fy_arg_tensor(fy_algebra_reshape(taken, &all)));
}
