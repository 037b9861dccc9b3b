/* shape.c: arithmetic of sizes and strides. */
#include "shape.h"

#include <stdio.h>

#include "dtype.h"
#include "error.h"
#include "run_work.h"
#include "tensor.h"

int64_t fy_shape_numel(const fy_shape *s)
{
    int64_t n = 1;
    for (int i = 0; i < s->ndim; i++)
        if (s->dims[i] == 0) return 0; /* however large the others are */
    for (int i = 0; i < s->ndim; i++) n = fy_saturating_mul(n, s->dims[i]);
    return n;
}

/* "[2, 3]" with ends "[]", "(2, 3)" with "()", "2x3" with "x". */
const char *fy_shape_text(const int64_t *dims, int n, const char *ends, char *buf, size_t room)
{
    bool by = ends[0] == 'x';
    size_t used = 0;
    buf[0] = 0;
    if (!by) used += (size_t)snprintf(buf, room, "%c", ends[0]);
    for (int i = 0; i < n && used < room; i++)
        used += (size_t)snprintf(buf + used, room - used, "%s%lld", i == 0 ? "" : by ? "x" : ", ", (long long)dims[i]);
    if (!by && used < room) snprintf(buf + used, room - used, "%c", ends[1]);
    return buf;
}

/* Rejects negative sizes, too many dimensions, and byte counts that overflow. */
bool fy_shape_ok(fy_site *at, const fy_shape *s, fy_dtype d, int64_t *numel)
{
    char text[256];
    int64_t bytes = (int64_t)fy_dtype_size(d);
    bool empty = false, huge = false;
    if (s->ndim < 0 || s->ndim > FY_MAX_DIMS)
        return fy_fail(at, "shape", fy_hint("merge some dimensions: at most %d are supported", FY_MAX_DIMS),
                       "a shape has at most %d dimensions", FY_MAX_DIMS);
    for (int i = 0; i < s->ndim; i++) {
        if (s->dims[i] < 0)
            return fy_fail(at, "shape", "use sizes of 0 or more",
                           "Trying to create tensor with negative dimension %lld: %s", (long long)s->dims[i],
                           fy_shape_text(s->dims, s->ndim, "[]", text, sizeof text));
        empty |= s->dims[i] == 0;
        huge |= __builtin_mul_overflow(bytes, s->dims[i] > 0 ? s->dims[i] : 1, &bytes);
    }
    if (huge && !empty)
        return fy_fail(at, "shape", "ask for fewer elements", "Storage size calculation overflowed with sizes=%s",
                       fy_shape_text(s->dims, s->ndim, "[]", text, sizeof text));
    *numel = empty ? 0 : fy_shape_numel(s);
    return true;
}

/* An empty tensor may have huge sizes beside a 0; their strides saturate at INT64_MAX. */
int64_t fy_saturating_mul(int64_t step, int64_t size)
{
    return __builtin_mul_overflow(step, size, &step) ? INT64_MAX : step;
}

/* A view of an empty tensor may have an offset that overflows; it is never used, so it stays as it was. */
int64_t fy_saturating_offset(int64_t offset, int64_t step, int64_t index)
{
    const int64_t max_offset = INT64_MAX / 16; /* so that the offset in bytes fits for any dtype */
    int64_t to;
    if (__builtin_mul_overflow(step, index, &to) || __builtin_add_overflow(offset, to, &to)) return offset;
    return to > max_offset ? offset : to;
}

/* The stride of the next outer dimension. */
static int64_t next_stride(int64_t step, int64_t size) { return fy_saturating_mul(step, size > 1 ? size : 1); }

void fy_shape_rows(const fy_shape *s, int64_t *strides)
{
    int64_t step = 1;
    for (int i = s->ndim - 1; i >= 0; i--) {
        strides[i] = step;
        step = next_stride(step, s->dims[i]);
    }
}

fy_geometry fy_geometry_of(const fy_tensor *x)
{
    fy_geometry g = {.dtype = x->dtype, .offset = x->offset, .shape.ndim = x->ndim};
    memcpy(g.shape.dims, x->shape, sizeof g.shape.dims);
    memcpy(g.strides, x->strides, sizeof g.strides);
    return g;
}

fy_layout fy_layout_of(const fy_geometry *g)
{
    fy_layout l = {.ndim = g->shape.ndim, .numel = fy_shape_numel(&g->shape)};
    memcpy(l.shape, g->shape.dims, sizeof l.shape);
    memcpy(l.strides, g->strides, sizeof l.strides);
    return l;
}

int64_t fy_span(const fy_geometry *g)
{
    int64_t last = 0;
    if (fy_shape_numel(&g->shape) == 0) return 0;
    for (int d = 0; d < g->shape.ndim; d++) last += (g->shape.dims[d] - 1) * g->strides[d];
    return last + 1;
}

/* From the smallest stride up, each stride must equal the number of elements inside it. */
bool fy_is_dense(const fy_geometry *g)
{
    bool used[FY_MAX_DIMS] = {0};
    int64_t expected = 1;
    if (fy_shape_numel(&g->shape) == 0) return true;
    for (int round = 0; round < g->shape.ndim; round++) {
        int next = -1;
        for (int i = 0; i < g->shape.ndim; i++) {
            if (used[i]) continue;
            if (g->shape.dims[i] == 1) used[i] = true;
            else if (next < 0 || g->strides[i] < g->strides[next]) next = i;
        }
        if (next < 0) return true;
        if (g->strides[next] != expected) return false;
        used[next] = true;
        expected *= g->shape.dims[next];
    }
    return true;
}

/* Does dimension a belong outside dimension b (1), inside (-1), or does no operand decide it (0)? */
static int compare(const fy_shape *s, int n, const fy_layout *in, int a, int b)
{
    for (int i = 0; i < n; i++) {
        int64_t sa = in[i].strides[a], sb = in[i].strides[b];
        if (sa == 0 || sb == 0) continue;
        if (sa != sb) return sa < sb ? -1 : 1;
        if (s->dims[a] > s->dims[b]) return 1;
    }
    return 0;
}

/* Row-major? A dimension of size 1 may have any stride. */
static bool is_rows(const fy_shape *s, const fy_layout *l)
{
    int64_t step = 1;
    for (int d = s->ndim - 1; d >= 0; d--) {
        if (s->dims[d] != 1 && l->strides[d] != step) return false;
        step = next_stride(step, s->dims[d]);
    }
    return true;
}

/* Operands that all have the result's shape: row-major if all are; their strides if they agree and are dense. */
static bool follow_alike(const fy_shape *s, int n, const fy_layout *in, int64_t *strides)
{
    bool rows = true, same = true;
    fy_geometry g = {.shape = *s};
    for (int i = 0; i < n; i++) {
        rows = rows && is_rows(s, &in[i]);
        same = same && memcmp(in[i].strides, in[0].strides, sizeof(int64_t) * (size_t)s->ndim) == 0;
    }
    memcpy(g.strides, in[0].strides, sizeof g.strides);
    if (rows || fy_shape_numel(s) == 0) fy_shape_rows(s, strides);
    else if (same && fy_is_dense(&g)) memcpy(strides, g.strides, sizeof g.strides);
    else return false;
    return true;
}

/* order: dimensions from the innermost out, sorted by the operands' strides (insertion sort, as in PyTorch, since
 * `compare` is no total order). False: the order is row-major. */
static bool sort_dims(const fy_shape *s, int n, const fy_layout *in, int *order)
{
    bool moved = false;
    for (int i = 0; i < s->ndim; i++) order[i] = s->ndim - 1 - i;
    for (int i = 1; i < s->ndim; i++) {
        int moving = i;
        for (int j = i - 1; j >= 0; j--) {
            int c = compare(s, n, in, order[j], order[moving]);
            if (c < 0) break;
            if (c == 0) continue;
            int swap = order[j];
            order[j] = order[moving];
            order[moving] = swap;
            moving = j;
        }
    }
    for (int i = 0; i < s->ndim; i++) moved = moved || order[i] != s->ndim - 1 - i;
    return moved;
}

void fy_shape_follow(const fy_shape *s, int n, const fy_layout *in, bool alike, int64_t *strides)
{
    int order[FY_MAX_DIMS];
    int64_t step = 1;
    if (n > 0 && alike && follow_alike(s, n, in, strides)) return;
    if (!sort_dims(s, n, in, order)) {
        fy_shape_rows(s, strides);
        return;
    }
    for (int i = 0; i < s->ndim; i++) {
        strides[order[i]] = step;
        step = fy_saturating_mul(step, s->dims[order[i]]);
    }
}
