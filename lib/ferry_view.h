/* ferry_view.h: views, reshaping and concatenation. Included by ferry.h.
 *
 * A view shares its tensor's storage and copies nothing: writes to either are visible in the other. Dimensions count
 * from 0; negative ones from the end. */
#ifndef FERRY_TENSOR_VIEW_H
#define FERRY_TENSOR_VIEW_H

#define FY_END INT64_MAX /* to the end of the dimension */

#define fy_view(x, ...)          FY_VIEW("fy_view", #x ", " #__VA_ARGS__, x, __VA_ARGS__)
                                 /* fy_view(x, (2, 3)): same elements, other shape; one size may be -1 (inferred).
                                    fy_view(x, FY_INT32): same bytes, other dtype */
#define fy_reshape(x, ...)       FY_RESHAPE(reshape, "(2, 3)", #x ", " #__VA_ARGS__, x, __VA_ARGS__)
                                 /* fy_reshape(x, (2, 3)): a view if possible, else a copy */
#define fy_flatten(...)          FY_FLATTEN("fy_flatten", #__VA_ARGS__, __VA_ARGS__)
                                 /* fy_flatten(x[, first, last]): merges dimensions first to last; like fy_reshape */
#define fy_transpose(x, d0, d1)  fy_transpose_at(FY_AT("fy_transpose", #x ", " #d0 ", " #d1), x, d0, d1)
                                 /* swaps two dimensions */
#define fy_t(x)                  fy_t_at(FY_AT("fy_t", #x), x)   /* transposes a matrix; at most 2-D */
#define fy_permute(x, ...)       FY_RESHAPE(permute, "(1, 0)", #x ", " #__VA_ARGS__, x, __VA_ARGS__)
                                 /* fy_permute(x, (2, 0, 1)): reorders dimensions; here dimension 2 becomes the first */
#define fy_expand(x, ...)        FY_RESHAPE(expand, "(2, 3)", #x ", " #__VA_ARGS__, x, __VA_ARGS__)
                                 /* fy_expand(x, (2, 3)): broadcasts dimensions of size 1, no copy; -1 keeps a size */
#define fy_squeeze(...)          FY_SQUEEZE("fy_squeeze", #__VA_ARGS__, __VA_ARGS__)
                                 /* fy_squeeze(x): removes dimensions of size 1; fy_squeeze(x, dim): only that one */
#define fy_unsqueeze(x, dim)     fy_unsqueeze_at(FY_AT("fy_unsqueeze", #x ", " #dim), x, dim)
                                 /* inserts a dimension of size 1 before dim */
#define fy_select(x, dim, index) fy_select_at(FY_AT("fy_select", #x ", " #dim ", " #index), x, dim, index)
                                 /* the part at one index of dim, without that dimension: (2, 3) gives (3) or (2) */
#define fy_narrow(x, dim, start, length) \
    fy_narrow_at(FY_AT("fy_narrow", #x ", " #dim ", " #start ", " #length), x, dim, start, length)
                                 /* indices start to start + length - 1 of dim; start + length <= its size */
#define fy_slice(x, dim, start, end, step) \
    fy_slice_at(FY_AT("fy_slice", #x ", " #dim ", " #start ", " #end ", " #step), x, dim, start, end, step)
                                 /* indices start, start + step ... < end of dim; start and end are clamped to its
                                    size; FY_END: to the end */
#define fy_contiguous(x)         fy_contiguous_at(FY_AT("fy_contiguous", #x), x) /* x if row-major, else a copy */
#define fy_clone(x)              fy_clone_at(FY_AT("fy_clone", #x), x)           /* a copy, in a new storage */
#define fy_detach(x)             fy_detach_at(FY_AT("fy_detach", #x), x)         /* a view; as in PyTorch, without gradient */
#define fy_cat(...)              FY_JOIN(cat, #__VA_ARGS__, __VA_ARGS__)
                                 /* fy_cat((a, b, c), 0): concatenates along dim; a new tensor */
#define fy_stack(...)            FY_JOIN(stack, #__VA_ARGS__, __VA_ARGS__)
                                 /* likewise, along a new dimension */
#define fy_same_storage(a, b)    fy_same_storage_at(FY_AT("fy_same_storage", #a ", " #b), a, b)
#define fy_storage_offset(x) fy_storage_offset_at(FY_AT("fy_storage_offset", #x), x) /* int64_t, elements from the
                                      storage's start to element 0; 0 for NULL */

/* ---- implementation of the macros ---------------------------------------------------------------- */

#define FY_RESHAPE(op, form, text, x, ...) \
    fy_##op##_at(((void)FY_DEMAND(FY_COUNT32(__VA_ARGS__) == 1, FY_LOOSE(op, form)), FY_AT("fy_" #op, text)), x, \
                 FY_SHAPE_IN(FY_LOOSE(op, form), FY_FIRST(__VA_ARGS__)))
#define FY_LOOSE(op, form) "the list needs parentheses of its own: fy_" #op "(x, " form ")"
#define FY_JOIN(op, text, ...) \
    FY_CAT(FY_JOIN_, FY_IS_PAREN(FY_FIRST(__VA_ARGS__)))(op, text, __VA_ARGS__)
#define FY_JOIN_0(op, text, ...) fy_##op##_at(FY_AT("fy_" #op, text), FY_TENSORS_0("fy_" #op "((a, b), 0)", ), 0)
#define FY_JOIN_1(op, text, ...) \
    fy_##op##_at((FY_AT_MOST(2, "fy_" #op, "((a, b), 0)", __VA_ARGS__), FY_AT("fy_" #op, text)), \
                 FY_TENSORS_1(, FY_FIRST(__VA_ARGS__)), FY_SECOND_OR(FY_TOO_FEW("fy_" #op, "((a, b), 0)"), __VA_ARGS__))
#define FY_TENSORS_1(call, list) FY_TENSOR_COUNT list, FY_TENSOR_ARRAY list
#define FY_TENSORS_0(form, list) FY_REFUSE("the tensors need parentheses of their own: " form), 0
#define FY_TENSOR_COUNT(...) (sizeof((fy_tensor *[]){__VA_ARGS__}) / sizeof(fy_tensor *))
#define FY_TENSOR_ARRAY(...) (__extension__(fy_tensor *[]){__VA_ARGS__})
#define FY_VIEW(call, text, x, ...) FY_CAT(FY_VIEW_, FY_IS_PAREN(FY_FIRST(__VA_ARGS__)))(call, text, x, __VA_ARGS__)
#define FY_VIEW_1(call, text, x, dims) fy_view_at(FY_AT(call, text), x, FY_DIMS dims)
#define FY_VIEW_0(call, text, x, ...) \
    fy_view_dtype_at(FY_AT(call, text), x, FY_DTYPE_OF_VIEW(FY_FIRST(__VA_ARGS__)))
#define FY_DTYPE_OF_VIEW(x) \
    (FY_HOLDS(_Generic((x), fy_dtype: 1, default: 0), "the shape needs parentheses of its own: fy_view(x, (2, 3))"), (x))
#define FY_FLATTEN(call, text, ...) \
    fy_flatten_at((FY_AT_MOST(3, call, "(x, first, last)", __VA_ARGS__), FY_AT(call, text)), \
                  FY_FIRST(__VA_ARGS__), FY_SECOND_OR(0, __VA_ARGS__), FY_THIRD_OR(-1, __VA_ARGS__))
#define FY_SQUEEZE(call, text, ...) \
    fy_squeeze_at((FY_AT_MOST(2, call, "(x, dim)", __VA_ARGS__), FY_AT(call, text)), FY_FIRST(__VA_ARGS__), \
                  FY_SECOND_OR(FY_END, __VA_ARGS__))

fy_tensor *fy_view_at(fy_site *at, fy_tensor *x, fy_shape shape);
fy_tensor *fy_view_dtype_at(fy_site *at, fy_tensor *x, fy_dtype dtype);
fy_tensor *fy_reshape_at(fy_site *at, fy_tensor *x, fy_shape shape);
fy_tensor *fy_flatten_at(fy_site *at, fy_tensor *x, int64_t first, int64_t last);
fy_tensor *fy_transpose_at(fy_site *at, fy_tensor *x, int64_t d0, int64_t d1);
fy_tensor *fy_t_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_permute_at(fy_site *at, fy_tensor *x, fy_shape dims);
fy_tensor *fy_expand_at(fy_site *at, fy_tensor *x, fy_shape shape);
fy_tensor *fy_squeeze_at(fy_site *at, fy_tensor *x, int64_t dim); /* FY_END: every size of 1 */
fy_tensor *fy_unsqueeze_at(fy_site *at, fy_tensor *x, int64_t dim);
int64_t fy_storage_offset_at(fy_site *at, const fy_tensor *x);
fy_tensor *fy_select_at(fy_site *at, fy_tensor *x, int64_t dim, int64_t index);
fy_tensor *fy_narrow_at(fy_site *at, fy_tensor *x, int64_t dim, int64_t start, int64_t length);
fy_tensor *fy_slice_at(fy_site *at, fy_tensor *x, int64_t dim, int64_t start, int64_t end, int64_t step);
fy_tensor *fy_contiguous_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_clone_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_detach_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_cat_at(fy_site *at, size_t n, fy_tensor *const *x, int64_t dim);
fy_tensor *fy_stack_at(fy_site *at, size_t n, fy_tensor *const *x, int64_t dim);
bool fy_same_storage_at(fy_site *at, fy_tensor *a, fy_tensor *b);

#endif
