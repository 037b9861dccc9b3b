/* ferry_index.h: parts of a tensor, indexing, sorting. Included by ferry.h.
 *
 * An index is an int64 tensor on the same device; fy_index_select and fy_embedding also take int32 and convert it.
 * Indices start at 0; negative ones are errors. An index out of range fails the call on the CPU; on a GPU an assertion
 * in the kernel fails, which the program learns at its next synchronization, as in PyTorch. */
#ifndef FERRY_INDEX_H
#define FERRY_INDEX_H

/* ---- splitting and repeating ------------------------------------------------------------------ */

#define FY_MOST_PARTS 64

/* fy_tensors p = fy_chunk(x, 3, 0);  for (int i = 0; i < p.n; i++) fy_print(p.at[i]);  The first is named p.at[0]. */
typedef struct fy_tensors {
    int n;
    fy_tensor *at[FY_MOST_PARTS]; /* the caller frees each; NULL from n on */
} fy_tensors;

#define fy_split(x, size, dim)   FY_SPLIT("fy_split", #x ", " #size ", " #dim, x, size, dim)
                                 /* fy_split(x, 2, 0): views of 2 rows each, the last may have fewer; fy_split(x, (1, 2,
                                  * 3), 0): of 1, 2 and 3 rows. As in PyTorch one of several views is not
                                  * written in place where gradients are recorded; fy_narrow gives a part that may be */
#define fy_chunk(x, chunks, dim) fy_chunk_at(FY_AT("fy_chunk", #x ", " #chunks ", " #dim), x, chunks, dim)
                                 /* at most `chunks` views of equal size; the last may be smaller */
#define fy_repeat(x, ...)        FY_RESHAPE(repeat, "(2, 3)", #x ", " #__VA_ARGS__, x, __VA_ARGS__)
                                 /* fy_repeat(x, (2, 3)): a copy; x (n, m) gives (2 * n, 3 * m) */

/* ---- indexing -------------------------------------------------------------------------------------- */

#define fy_index_select(x, dim, index) \
    fy_index_select_at(FY_AT("fy_index_select", #x ", " #dim ", " #index), x, dim, index)
                                 /* a copy of the slices of dim that a 1-D index selects: x (n, m), index (k) along 0
                                  * gives (k, m) */
#define fy_embedding(weight, index) fy_embedding_at(FY_AT("fy_embedding", #weight ", " #index), weight, index)
                                 /* the row of the 2-D weight for each index: weight (n, d), index (2, 3) gives (2, 3,
                                  * d) */
#define fy_gather(x, dim, index) fy_gather_at(FY_AT("fy_gather", #x ", " #dim ", " #index), x, dim, index)
                                 /* along dim 1: out[i][j] = x[i][index[i][j]]; out has the index's shape */
#define fy_scatter_add_(x, dim, index, src) \
    fy_scatter_add__at(FY_AT("fy_scatter_add_", #x ", " #dim ", " #index ", " #src), x, dim, index, src)
                                 /* along dim 1: x[i][index[i][j]] += src[i][j]; returns x. Each line along dim is added
                                  * in index order by one thread, on a real GPU too: results are deterministic. PyTorch
                                  * uses atomics there, so its last digits vary between runs */

/* ---- sorting: NaN is larger than all numbers; stable, on the CPU and on a GPU ----------------- */

#define fy_cumsum(...)           FY_CUMSUM("fy_cumsum", #__VA_ARGS__, __VA_ARGS__)
                                 /* fy_cumsum(x, 0): running sum along dim; int64 for integers; .dtype */
#define fy_sort(...)             FY_SORT(sort, #__VA_ARGS__, __VA_ARGS__)
                                 /* fy_sort(x[, dim]): along dim, default the last; .descending = true, .indices = &i */
#define fy_argsort(...)          FY_SORT(argsort, #__VA_ARGS__, __VA_ARGS__) /* only the indices, int64 */
#define fy_topk(...)             FY_TOPK("fy_topk", #__VA_ARGS__, __VA_ARGS__)
                                 /* fy_topk(x, 3[, dim]): the 3 largest along dim in descending order; .smallest = true,
                                  * .indices = &i */

/* ---- selection by a mask. The result's size depends on values: on a GPU the count must be copied to the host, which
 * waits for all earlier work. A hidden synchronization, like fy_item's ---- */

#define fy_nonzero(x)            fy_nonzero_at(FY_AT("fy_nonzero", #x), x)
                                 /* int64 (n, x's dimensions): the indices of the n nonzero elements, row by row */
#define fy_masked_select(x, mask) fy_masked_select_at(FY_AT("fy_masked_select", #x ", " #mask), x, mask)
                                 /* 1-D: the elements where mask is true; x and mask broadcast */
#define fy_index(x, mask)        fy_index_at(FY_AT("fy_index", #x ", " #mask), x, mask)
                                 /* x[mask]: mask has the shape of x's first dimensions; the result is (n, x's other
                                  * dimensions). A CPU mask is copied to x's GPU, as in PyTorch */

/* Options of fy_cumsum, fy_sort and fy_topk. */
typedef struct fy_cumsum_opts {
    const struct fy_options_by_name *fy_begin_;
    fy_dtype dtype; /* convert to it first */
    int fy_end_;
} fy_cumsum_opts;

typedef struct fy_sort_opts {
    const struct fy_options_by_name *fy_begin_;
    bool descending;
    bool stable;         /* accepted for PyTorch's signature: sorting is always stable */
    fy_tensor **indices; /* receives the original indices, int64; you own it */
    int fy_end_;
} fy_sort_opts;

typedef struct fy_topk_opts {
    const struct fy_options_by_name *fy_begin_;
    bool smallest;       /* PyTorch's largest=False */
    fy_tensor **indices; /* receives the original indices, int64; you own it */
    int fy_end_;
} fy_topk_opts;

/* ---- how the macros are made --------------------------------------------------------------------- */

#define FY_SPLIT(call, text, x, size, dim) FY_CAT(FY_SPLIT_, FY_IS_PAREN(size))(call, text, x, size, dim)
#define FY_SPLIT_0(call, text, x, size, dim) fy_split_at(FY_AT(call, text), x, size, dim)
#define FY_SPLIT_1(call, text, x, sizes, dim) fy_split_sizes_at(FY_AT(call, text), x, FY_LIST sizes, dim)
#define FY_CUMSUM(call, text, ...) \
    fy_cumsum_at(FY_AT(call, text), FY_FIRST(__VA_ARGS__), FY_SECOND_OR(FY_TOO_FEW(call, "(x, dim)"), __VA_ARGS__), \
                 FY_AFTER_DIM(fy_cumsum_opts, "fy_cumsum(x, 0, .dtype = FY_FLOAT64)", __VA_ARGS__))
#define FY_SORT(op, text, ...) \
    fy_##op##_at(FY_AT("fy_" #op, text), FY_FIRST(__VA_ARGS__), FY_SECOND_OR(-1, __VA_ARGS__), \
                 FY_AFTER_DIM(fy_sort_opts, "fy_" #op "(x, -1, .descending = true)", __VA_ARGS__))
#define FY_TOPK(call, text, ...) \
    fy_topk_at(FY_AT(call, text), FY_FIRST(__VA_ARGS__), FY_SECOND_OR(FY_TOO_FEW(call, "(x, k)"), __VA_ARGS__), \
               FY_THIRD_OR(-1, __VA_ARGS__), \
               FY_OPTIONS(fy_topk_opts, "fy_topk(x, 3, -1, .smallest = true)", \
                          FY_CAT(FY_TOPK_OPTS_, FY_ALONE(FY_REST(__VA_ARGS__)))(__VA_ARGS__)))
#define FY_TOPK_OPTS_1(...) .fy_end_ = 0
#define FY_TOPK_OPTS_0(...) FY_REST(FY_REST(FY_REST(__VA_ARGS__, .fy_end_ = 0)))
#define FY_AFTER_DIM(type, form, ...) \
    FY_OPTIONS(type, form, FY_CAT(FY_REDUCE_OPTS_, FY_ALONE(__VA_ARGS__))(__VA_ARGS__))

fy_tensors fy_split_at(fy_site *at, fy_tensor *x, int64_t size, int64_t dim);
fy_tensors fy_split_sizes_at(fy_site *at, fy_tensor *x, size_t n, const fy_arg *sizes, int64_t dim);
fy_tensors fy_chunk_at(fy_site *at, fy_tensor *x, int64_t chunks, int64_t dim);
fy_tensor *fy_repeat_at(fy_site *at, fy_tensor *x, fy_shape times);
fy_tensor *fy_index_select_at(fy_site *at, fy_tensor *x, int64_t dim, fy_tensor *index);
fy_tensor *fy_embedding_at(fy_site *at, fy_tensor *weight, fy_tensor *index);
fy_tensor *fy_gather_at(fy_site *at, fy_tensor *x, int64_t dim, fy_tensor *index);
fy_tensor *fy_scatter_add__at(fy_site *at, fy_tensor *x, int64_t dim, fy_tensor *index, fy_tensor *src);
fy_tensor *fy_cumsum_at(fy_site *at, fy_tensor *x, int64_t dim, fy_cumsum_opts o);
fy_tensor *fy_sort_at(fy_site *at, fy_tensor *x, int64_t dim, fy_sort_opts o);
fy_tensor *fy_argsort_at(fy_site *at, fy_tensor *x, int64_t dim, fy_sort_opts o);
fy_tensor *fy_topk_at(fy_site *at, fy_tensor *x, int64_t k, int64_t dim, fy_topk_opts o);
fy_tensor *fy_nonzero_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_masked_select_at(fy_site *at, fy_tensor *x, fy_tensor *mask);
fy_tensor *fy_index_at(fy_site *at, fy_tensor *x, fy_tensor *mask);

#endif
