/* cpu_reduce.c: reductions on the host.
 *
 * The operand's dimensions are those that are kept, then those gone through. Each result has a part, what
 * came of the elements gone through so far. The walk hands the fold of the op and type (cpu_fold.h) tiles
 * of up to FY_TILE neighbouring results by up to FY_TILE elements; the float sum of a tile is made in the
 * element's own type, in strands, and tiles are added up in double: the error stays that of a tile. */
#include <math.h>

#include "half.h"
#include "tensor.h"

enum { FY_TILE = 256, LANES = 32 };

/* What came of a result's elements so far; the fold says which fields count. */
typedef struct fy_part {
    double real, mean;
    int64_t whole, place;
} fy_part;

/* Element i of result k lies at data + k * kept_step + i * step; it is number first + i of its result. */
typedef struct fy_tile {
    const void *data;
    int64_t kept, kept_step, n, step, first;
    bool across; /* results lie closer together than a result's elements */
} fy_tile;

typedef void (*fy_fold)(fy_part *part, const fy_tile *t);

#define WRAP_ADD(a, x) (int64_t)((uint64_t)(a) + (uint64_t)(x))
#define WRAP_MUL(a, x) (int64_t)((uint64_t)(a) * (uint64_t)(x))
#define PLAIN_ADD(a, x) ((a) + (x))
#define PLAIN_MUL(a, x) ((a) * (x))
#define NEVER_NAN(x) false
#define SAME(x) (x)

#define T fy_half
#define W float
#define READ fy_half_float
#define IS_NAN isnan
#define ADD PLAIN_ADD
#define MUL PLAIN_MUL
#define PART real
#define NAME(f) f##_f16
#define LEAST (-INFINITY)
#define MOST INFINITY
#include "cpu_fold.h"

#define T fy_bfloat
#define W float
#define READ fy_bfloat_float
#define IS_NAN isnan
#define ADD PLAIN_ADD
#define MUL PLAIN_MUL
#define PART real
#define NAME(f) f##_bf16
#define LEAST (-INFINITY)
#define MOST INFINITY
#include "cpu_fold.h"

#define T float
#define W float
#define READ SAME
#define IS_NAN isnan
#define ADD PLAIN_ADD
#define MUL PLAIN_MUL
#define PART real
#define NAME(f) f##_f32
#define LEAST (-INFINITY)
#define MOST INFINITY
#include "cpu_fold.h"

#define T double
#define W double
#define READ SAME
#define IS_NAN isnan
#define ADD PLAIN_ADD
#define MUL PLAIN_MUL
#define PART real
#define NAME(f) f##_f64
#define LEAST (-(double)INFINITY)
#define MOST (double)INFINITY
#include "cpu_fold.h"

#define T int32_t
#define W int64_t
#define READ SAME
#define IS_NAN NEVER_NAN
#define ADD WRAP_ADD
#define MUL WRAP_MUL
#define PART whole
#define NAME(f) f##_i32
#define LEAST INT64_MIN
#define MOST INT64_MAX
#include "cpu_fold.h"

#define T int64_t
#define W int64_t
#define READ SAME
#define IS_NAN NEVER_NAN
#define ADD WRAP_ADD
#define MUL WRAP_MUL
#define PART whole
#define NAME(f) f##_i64
#define LEAST INT64_MIN
#define MOST INT64_MAX
#include "cpu_fold.h"

/* uint8, and bool, whose bytes are 0 and 1. */
#define T uint8_t
#define W int64_t
#define READ SAME
#define IS_NAN NEVER_NAN
#define ADD WRAP_ADD
#define MUL WRAP_MUL
#define PART whole
#define NAME(f) f##_u8
#define LEAST INT64_MIN
#define MOST INT64_MAX
#include "cpu_fold.h"

static const fy_fold *const folds[] = {
    [FY_FLOAT16] = folds_f16, [FY_BFLOAT16] = folds_bf16, [FY_FLOAT32] = folds_f32, [FY_FLOAT64] = folds_f64,
    [FY_INT32] = folds_i32,   [FY_INT64] = folds_i64,     [FY_UINT8] = folds_u8,    [FY_BOOL] = folds_u8};

/* Dimensions, outermost first; steps in elements. */
typedef struct dims {
    int ndim;
    int64_t numel, shape[FY_MAX_DIMS], step[FY_MAX_DIMS];
} dims;

/* Two neighbouring dimensions that can be walked as one are one. */
static dims collected(const fy_layout *l, int from, int to)
{
    dims d = {.numel = 1};
    for (int i = from; i < to; i++) {
        int64_t size = l->shape[i], step = l->strides[i];
        int last = d.ndim - 1;
        d.numel *= size;
        if (size == 1) continue;
        if (last >= 0 && d.step[last] == step * size) {
            d.shape[last] *= size;
            d.step[last] = step;
            continue;
        }
        d.shape[d.ndim] = size;
        d.step[d.ndim++] = step;
    }
    if (d.ndim == 0) d.shape[d.ndim++] = 1;
    return d;
}

static int64_t offset_of(const dims *d, int64_t i)
{
    int64_t offset = 0;
    for (int k = d->ndim - 1; k >= 0; k--) {
        offset += i % d->shape[k] * d->step[k];
        i /= d->shape[k];
    }
    return offset;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* One reduction: what is walked, and what is made of it. */
typedef struct reduction {
    const fy_run_work *w;
    dims kept, gone;
    size_t size; /* of an element */
    fy_fold fold;
} reduction;

/* Results k to k + count, all in one innermost row of the kept dimensions; each goes through all elements. */
static void go_through(const reduction *r, int64_t k, int64_t count, fy_part *part)
{
    const dims *kept = &r->kept, *gone = &r->gone;
    int64_t inner = gone->shape[gone->ndim - 1];
    fy_tile t = {.kept = count, .kept_step = kept->step[kept->ndim - 1], .step = gone->step[gone->ndim - 1]};
    t.across = count > 1 && t.kept_step < t.step;
    const char *start = (const char *)r->w->in[0].data + offset_of(kept, k) * (int64_t)r->size;
    for (int64_t i = 0; i < gone->numel; i += t.n) {
        t.data = start + offset_of(gone, i) * (int64_t)r->size;
        t.n = smaller(inner - i % inner, FY_TILE);
        t.first = i;
        r->fold(part, &t);
    }
}

static void begin(const fy_run_work *w, fy_part *part, int64_t count)
{
    bool product = w->op == FY_OP_prod || w->op == FY_OP_all, max = w->op == FY_OP_max, min = w->op == FY_OP_min;
    fy_part first = {.real = product ? 1
                             : max   ? -(double)INFINITY
                             : min   ? (double)INFINITY
                                     : 0,
                     .whole = product ? 1
                              : max   ? INT64_MIN
                              : min   ? INT64_MAX
                                      : 0,
                     .place = -1};
    for (int64_t k = 0; k < count; k++) part[k] = first;
}

/* The sum as the type would hold it, over the count: divided in float unless the type is double. */
static double mean_of(const fy_run_work *w, double sum, int64_t count)
{
    return w->dtype == FY_FLOAT64 ? sum / (double)count : (double)((float)sum / (float)count);
}

static fy_arg value_of(const reduction *r, const fy_part *part)
{
    const fy_run_work *w = r->w;
    bool real = fy_dtype_is_real(w->dtype);
    switch (w->op) {
    case FY_OP_mean: return fy_arg_real(mean_of(w, part->real, r->gone.numel));
    case FY_OP_var: return fy_arg_real(part->real / fmax(0, (double)r->gone.numel - w->real[0]));
    case FY_OP_argmax:
    case FY_OP_argmin: return fy_arg_int(part->place);
    case FY_OP_any:
    case FY_OP_all: return fy_arg_int(real ? part->real != 0 : part->whole != 0);
    default: return real ? fy_arg_real(part->real) : fy_arg_int(part->whole);
    }
}

/* The variance needs the mean first. */
static void find_means(const reduction *r, int64_t k, int64_t count, fy_part *part)
{
    reduction sum = *r;
    sum.fold = folds[r->w->dtype][0];
    go_through(&sum, k, count, part);
    for (int64_t i = 0; i < count; i++) part[i] = (fy_part){.mean = part[i].real / (double)r->gone.numel};
}

static void reduce_tile(const reduction *r, const dims *out, int64_t k, int64_t count)
{
    fy_part part[FY_TILE];
    begin(r->w, part, count);
    if (r->w->op == FY_OP_var) find_means(r, k, count, part);
    go_through(r, k, count, part);
    for (int64_t i = 0; i < count; i++)
        fy_number_put(r->w->out.dtype, r->w->out.data, offset_of(out, k + i), value_of(r, &part[i]));
}

static void reduce(fy_run_work *w)
{
    const fy_layout *l = &w->in[0].layout;
    int kept = l->ndim - w->reduced;
    reduction r = {.w = w, .kept = collected(l, 0, kept), .gone = collected(l, kept, l->ndim)};
    dims out = collected(&w->out.layout, 0, w->out.layout.ndim);
    r.size = fy_dtype_size(w->dtype);
    r.fold = folds[w->dtype][w->op - FY_OP_sum];
    int64_t inner = r.kept.shape[r.kept.ndim - 1];
    for (int64_t k = 0, count; k < r.kept.numel; k += count) {
        count = smaller(inner - k % inner, FY_TILE);
        reduce_tile(&r, &out, k, count);
    }
}

#define HOST(op) \
    void fy_host_##op(fy_run_work *w) { reduce(w); }
HOST(sum)
HOST(prod)
HOST(mean)
HOST(var)
HOST(max)
HOST(min)
HOST(argmax)
HOST(argmin)
HOST(any)
HOST(all)
