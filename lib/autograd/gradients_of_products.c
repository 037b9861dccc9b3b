/* gradients_of_products.c: gradients of matmul and addmm: for matrices left = g @ right.t(), right = left.t() @ g. A
 * vector counts as a row on the left and as a column on the right; batches broadcast. */
#include "gradients.h"
#include "shape.h"

static fy_tensor *product(fy_tensor *x, fy_tensor *y) { return x && y ? fy_matmul_at(fy_algebra_site, x, y) : NULL; }

/* A matrix whose columns are contiguous: the weight of fy_linear. */
static bool is_transposed(const fy_geometry *g)
{
    int n = g->shape.ndim;
    return n == 2 && g->strides[0] == 1 && g->shape.dims[1] > 1 && g->strides[1] >= g->shape.dims[0];
}

/* x @ y, with the strides of the operand that it is the gradient of, so that no copy is needed to store it. */
static fy_arg product_like(fy_tensor *x, fy_tensor *y, const fy_geometry *operand)
{
    if (!x || !y || x->ndim != 2 || y->ndim != 2 || !is_transposed(operand)) return fy_arg_tensor(product(x, y));
    return fy_arg_tensor(fy_algebra_transposed(product(fy_algebra_transposed(y), fy_algebra_transposed(x))));
}

static fy_tensor *with_dim(fy_tensor *x, int64_t dim) { return x ? fy_unsqueeze_at(fy_algebra_site, x, dim) : NULL; }

/* g with the dimensions that a vector operand lacks. */
static fy_tensor *as_matrices(fy_tensor *g, int left_ndim, int right_ndim)
{
    if (right_ndim == 1) g = with_dim(g, -1);
    return left_ndim == 1 ? with_dim(g, -2) : g;
}

/* The extra dimension of a vector's gradient goes; batch dimensions are summed, too (by the caller). */
static fy_arg as_vector(fy_arg x, int ndim, int64_t dim)
{
    return ndim == 1 && x.tensor ? fy_arg_tensor(fy_squeeze_at(fy_algebra_site, x.tensor, dim)) : x;
}

fy_arg fy_gradient_left_factor(const fy_node *n, fy_arg g, fy_arg right)
{
    if (!g.tensor || !right.tensor) return fy_arg_tensor(NULL);
    int left_ndim = n->next[n->n - 2]->is.shape.ndim, right_ndim = right.tensor->ndim;
    fy_tensor *matrices = as_matrices(g.tensor, left_ndim, right_ndim);
    fy_tensor *transposed = right_ndim == 1 ? with_dim(right.tensor, 0) : fy_algebra_transposed(right.tensor);
    return as_vector(product_like(matrices, transposed, &n->next[n->n - 2]->is), left_ndim, -2);
}

fy_arg fy_gradient_right_factor(const fy_node *n, fy_arg g, fy_arg left)
{
    if (!g.tensor || !left.tensor) return fy_arg_tensor(NULL);
    int left_ndim = left.tensor->ndim, right_ndim = n->next[n->n - 1]->is.shape.ndim;
    fy_tensor *matrices = as_matrices(g.tensor, left_ndim, right_ndim);
    fy_tensor *transposed = left_ndim == 1 ? with_dim(left.tensor, 1) : fy_algebra_transposed(left.tensor);
    return as_vector(product_like(transposed, matrices, &n->next[n->n - 1]->is), right_ndim, -1);
}
