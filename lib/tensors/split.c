/* split.c: a tensor cut into parts along a dimension: several views from one call, each named by its index. */
#include <stdio.h>

#include "error.h"
#include "frame.h"
#include "shape.h"
#include "tensor.h"

static const fy_tensors none = {.n = 0};

static bool can_split(fy_site *at, fy_tensor *x, const char *call, int64_t *dim)
{
    if (!fy_check(at, 0, x)) return false;
    if (x->ndim == 0)
        return fy_fail_about(at, "shape", "fy_view(x, (1)) makes it 1-D", 1, &x,
                             "%s expects at least a 1-dimensional tensor", call);
    return fy_wrap_dim(at, x, dim);
}

/* size[i] elements of dim each. by_sizes: the program named them. */
static fy_tensors parts_of(fy_site *at, fy_tensor *x, int64_t dim, int n, const int64_t *size, bool by_sizes)
{
    fy_tensors parts = {.n = n};
    fy_geometry g = fy_geometry_of(x);
    const char *whole = fy_name_for(at, NULL);
    int64_t from = 0;
    for (int i = 0; i < n; i++) {
        g.shape.dims[dim] = size[i];
        g.offset = fy_saturating_offset(x->offset, x->strides[dim], from);
        const fy_shape part = {5, {dim, from, 1, i, by_sizes}};
        from += size[i];
        char name[80]; /* "p.at[0]", as in the program */
        bool fits = whole && *whole && snprintf(name, sizeof name, "%s.at[%d]", whole, i) < (int)sizeof name;
        parts.at[i] = fy_view_named(at, x, &g, FY_NODE_PART, &part, fits ? fy_name_intern(name) : whole);
    }
    fy_returned(at, n, parts.at);
    return parts;
}

static bool check_count(fy_site *at, fy_tensor *x, int64_t n)
{
    if (n <= FY_MOST_PARTS) return true;
    return fy_fail_about(at, "value", "fy_narrow takes one part at a time", 1, &x,
                         "%lld parts are too many: an fy_tensors holds at most %d", (long long)n, FY_MOST_PARTS);
}

/* Parts of `size` each, the last perhaps smaller; an empty dimension gives one part. */
static fy_tensors equal_parts(fy_site *at, fy_tensor *x, int64_t dim, int64_t size)
{
    int64_t whole = x->shape[dim], list[FY_MOST_PARTS], n = whole ? (whole - 1) / size + 1 : 1;
    if (!check_count(at, x, n)) return none;
    for (int64_t i = 0; i < n; i++) list[i] = size < whole - i * size ? size : whole - i * size;
    return parts_of(at, x, dim, (int)n, list, false);
}

fy_tensors fy_split_at(fy_site *at, fy_tensor *x, int64_t size, int64_t dim)
{
    FY_CALL(at);
    if (!can_split(at, x, "split", &dim)) return none;
    if (size < 0) {
        fy_fail_about(at, "value", "use a size of 1 or more", 1, &x,
                      "split expects split_size be non-negative, but got split_size=%lld", (long long)size);
        return none;
    }
    if (size == 0 && x->shape[dim] > 0) {
        fy_fail_about(at, "value", "use a size of 1 or more", 1, &x,
                      "split_size can only be 0 if dimension size is 0, but got dimension size of %lld",
                      (long long)x->shape[dim]);
        return none;
    }
    return equal_parts(at, x, dim, size);
}

/* None is negative, and they add up to the size of the dimension. */
static bool check_sizes(fy_site *at, fy_tensor *x, int64_t dim, int n, const int64_t *size)
{
    char text[FY_MOST_PARTS * 22];
    int64_t sum = 0;
    fy_shape_text(size, n, "[]", text, sizeof text);
    for (int i = 0; i < n; i++) {
        if (size[i] < 0)
            return fy_fail_about(at, "value", "use sizes of 0 or more", 1, &x,
                                 "split_with_sizes expects split_sizes have only non-negative entries, but got "
                                 "split_sizes=%s",
                                 text);
        if (__builtin_add_overflow(sum, size[i], &sum)) sum = INT64_MAX;
    }
    if (sum == x->shape[dim]) return true;
    return fy_fail_about(
        at, "value", "the sizes must add up to the size of the dimension", 1, &x,
        "split_with_sizes expects split_sizes to sum exactly to %lld (input tensor's size at dimension "
        "%d), but got split_sizes=%s",
        (long long)x->shape[dim], (int)dim, text);
}

fy_tensors fy_split_sizes_at(fy_site *at, fy_tensor *x, size_t n, const fy_arg *sizes, int64_t dim)
{
    FY_CALL(at);
    int64_t size[FY_MOST_PARTS];
    if (!can_split(at, x, "split", &dim) || !check_count(at, x, (int64_t)n)) return none;
    for (size_t i = 0; i < n; i++) {
        if (sizes[i].is_tensor || !sizes[i].is_int) {
            fy_fail(at, "value", "write whole numbers: fy_split(x, (1, 2, 3), 0)",
                    "the sizes of the parts must be whole numbers");
            return none;
        }
        if (!fy_number_ok(at, &sizes[i])) return none;
        size[i] = sizes[i].integer;
    }
    return check_sizes(at, x, dim, (int)n, size) ? parts_of(at, x, dim, (int)n, size, true) : none;
}

/* May give fewer parts than requested, as in PyTorch: 6 elements in 4 chunks are three parts of 2. */
fy_tensors fy_chunk_at(fy_site *at, fy_tensor *x, int64_t chunks, int64_t dim)
{
    FY_CALL(at);
    int64_t nothing[FY_MOST_PARTS] = {0};
    if (!can_split(at, x, "chunk", &dim)) return none;
    if (chunks <= 0) {
        fy_fail_about(at, "value", "ask for 1 chunk or more", 1, &x,
                      "chunk expects `chunks` to be greater than 0, got: %lld", (long long)chunks);
        return none;
    }
    if (x->shape[dim] > 0) return equal_parts(at, x, dim, (x->shape[dim] - 1) / chunks + 1);
    return check_count(at, x, chunks) ? parts_of(at, x, dim, (int)chunks, nothing, true) : none;
}
