/* cpu_reduce.c: reductions on the host.
 *
 * The operand's dimensions are the kept ones, then the reduced ones ("gone"). Each result has a part, which accumulates
 * its elements. The fold of the op and type (reduce_template.h) processes tiles: some neighbouring results by some
 * elements of each. Floats are summed in float within a tile, in several lanes, and in double across tiles: the error
 * does not grow with the number of tiles. */
#include <math.h>
#include <stdlib.h>

#include "cpu.h"
#include "dtype.h"
#include "half.h"
#include "thread_pool.h"
#include "op.h"
#include "run_work.h"

enum {
    FY_TILE = 256,  /* results of a tile, and elements of each where there are several */
    LONGEST = 4096, /* elements of one result */
    LANES = 32,
    DOUBLES = 16,
    CHUNK = 1 << 16, /* elements per task of a thread */
};
#define ALWAYS __attribute__((always_inline))

/* A result's accumulator; the fold decides which fields it uses. */
typedef struct fy_part {
    double real, mean;
    int64_t whole, place;
} fy_part;

/* Element i of result k lies at data + k * kept_step + i * step; it is number first + i of its result. */
typedef struct fy_tile {
    const void *data;
    int64_t kept, kept_step, n, step, first;
    bool across; /* results lie closer together than a result's elements */
    double p;    /* of a norm that is no other fold */
} fy_tile;

typedef void (*fy_fold)(fy_part *part, const fy_tile *t);

#define WRAP_ADD(a, x) (int64_t)((uint64_t)(a) + (uint64_t)(x))
#define WRAP_MUL(a, x) (int64_t)((uint64_t)(a) * (uint64_t)(x))
#define PLAIN_ADD(a, x) ((a) + (x))
#define PLAIN_MUL(a, x) ((a) * (x))
#define NEVER_NAN(x) false
#define TRUTH(x) ((x) != 0)
#define SAME(x) (x)

#define T fy_half
#define W float
#define READ fy_half_float
#define IS_NAN isnan
#define ADD PLAIN_ADD
#define MUL PLAIN_MUL
#define PART real
#define NAME(f) f##_f16
#define FLOATS
#define LEAST (-INFINITY)
#define MOST INFINITY
#include "reduce_template.h"

#define T fy_bfloat
#define W float
#define READ fy_bfloat_float
#define IS_NAN isnan
#define ADD PLAIN_ADD
#define MUL PLAIN_MUL
#define PART real
#define NAME(f) f##_bf16
#define FLOATS
#define LEAST (-INFINITY)
#define MOST INFINITY
#include "reduce_template.h"

#define T float
#define W float
#define READ SAME
#define IS_NAN isnan
#define ADD PLAIN_ADD
#define MUL PLAIN_MUL
#define PART real
#define NAME(f) f##_f32
#define FLOATS
#define LEAST (-INFINITY)
#define MOST INFINITY
#include "reduce_template.h"

#define T double
#define W double
#define READ SAME
#define IS_NAN isnan
#define ADD PLAIN_ADD
#define MUL PLAIN_MUL
#define PART real
#define NAME(f) f##_f64
#define FLOATS
#define LEAST (-(double)INFINITY)
#define MOST (double)INFINITY
#include "reduce_template.h"

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
#include "reduce_template.h"

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
#include "reduce_template.h"

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
#include "reduce_template.h"

/* A bool is a byte; nonzero is true. */
#define T uint8_t
#define W int64_t
#define READ TRUTH
#define IS_NAN NEVER_NAN
#define ADD WRAP_ADD
#define MUL WRAP_MUL
#define PART whole
#define NAME(f) f##_bool
#define LEAST INT64_MIN
#define MOST INT64_MAX
#include "reduce_template.h"

static const fy_fold *const folds[] = {
    [FY_FLOAT16] = folds_f16, [FY_BFLOAT16] = folds_bf16, [FY_FLOAT32] = folds_f32, [FY_FLOAT64] = folds_f64,
    [FY_INT32] = folds_i32,   [FY_INT64] = folds_i64,     [FY_UINT8] = folds_u8,    [FY_BOOL] = folds_bool};

/* Dimensions, outermost first; strides in elements. */
typedef struct dims {
    int ndim;
    int64_t numel, shape[FY_MAX_DIMS], step[FY_MAX_DIMS];
} dims;

/* The op that joins the partial results of a norm. */
static int joined_as(const fy_run_work *w)
{
    double p = w->real[FY_NORM_p];
    return w->op != FY_OP_norm ? w->op : !isinf(p) ? FY_OP_sum : p > 0 ? FY_OP_max : FY_OP_min;
}

/* Sorts dimensions from..to by decreasing stride: memory order. */
static void sort_dims(fy_layout *l, int from, int to)
{
    for (int i = from + 1; i < to; i++)
        for (int j = i; j > from && l->strides[j] > l->strides[j - 1]; j--) {
            int64_t size = l->shape[j], step = l->strides[j];
            l->shape[j] = l->shape[j - 1];
            l->strides[j] = l->strides[j - 1];
            l->shape[j - 1] = size;
            l->strides[j - 1] = step;
        }
}

/* Merges neighbouring dimensions that are contiguous. */
static dims collected(const fy_layout *l, int from, int to)
{
    dims d = {.numel = 1};
    for (int i = from; i < to; i++)
        if (l->shape[i] == 0) return (dims){.ndim = 1}; /* empty */
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

/* One reduction. */
typedef struct reduction {
    const fy_run_work *w;
    dims kept, gone, out;
    size_t size; /* of an element */
    fy_fold fold;
} reduction;

static void begin(const fy_run_work *w, fy_part *part, int64_t count)
{
    bool product = w->op == FY_OP_prod || w->op == FY_OP_all, max = w->op == FY_OP_max, min = joined_as(w) == FY_OP_min;
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

/* Some results, next to each other in one innermost row of the kept dimensions, and their parts. */
typedef struct batch {
    const reduction *r;
    const char *start; /* the first result's element 0 */
    int64_t count, chunk;
    fy_part *part; /* of each chunk, `count` */
} batch;

/* Elements from..to of each result. */
static void go_through(const batch *b, int64_t from, int64_t to, fy_part *part)
{
    const dims *kept = &b->r->kept, *gone = &b->r->gone;
    int64_t inner = gone->shape[gone->ndim - 1];
    fy_tile t = {.kept = b->count, .kept_step = kept->step[kept->ndim - 1], .step = gone->step[gone->ndim - 1]};
    t.p = b->r->w->real[FY_NORM_p];
    t.across = b->count > 1 && t.kept_step < t.step;
    for (int64_t i = from; i < to; i += t.n) {
        t.data = b->start + offset_of(gone, i) * (int64_t)b->r->size;
        t.n = smaller(smaller(inner - i % inner, t.across ? FY_TILE : LONGEST), to - i);
        t.first = i;
        b->r->fold(part, &t);
    }
}

static void go_through_chunks(int64_t from, int64_t to, void *context)
{
    const batch *b = context;
    for (int64_t i = from; i < to; i++)
        go_through(b, i * b->chunk, smaller((i + 1) * b->chunk, b->r->gone.numel), b->part + i * b->count);
}

/* Joins a later part of a result into an earlier one. */
static void join(const fy_run_work *w, fy_part *to, const fy_part *from)
{
    bool real = fy_dtype_is_real(w->dtype), more = real ? from->real > to->real : from->whole > to->whole;
    bool less = real ? from->real < to->real : from->whole < to->whole, nan = real && isnan(from->real);
    bool stays = real && isnan(to->real);
    switch (joined_as(w)) {
    case FY_OP_prod:
    case FY_OP_all: /* of 0 and 1 */
        to->real *= from->real;
        to->whole = WRAP_MUL(to->whole, from->whole);
        break;
    case FY_OP_max:
    case FY_OP_argmax:
        if (!stays && (more || nan)) *to = *from;
        break;
    case FY_OP_min:
    case FY_OP_argmin:
        if (!stays && (less || nan)) *to = *from;
        break;
    default: to->real += from->real; to->whole = WRAP_ADD(to->whole, from->whole);
    }
}

/* Few results of many elements: in chunks, in parallel. The chunks, and so the order of additions, depend on the sizes
 * only. If out of memory for the parts: sequentially into one part. */
static void go_through_all(batch *b, fy_part *part)
{
    int64_t n = b->r->gone.numel, chunks;
    b->chunk = (CHUNK / b->count + LONGEST - 1) / LONGEST * LONGEST;
    chunks = (n + b->chunk - 1) / b->chunk;
    b->part = chunks > 1 ? malloc((size_t)(chunks * b->count) * sizeof *b->part) : NULL;
    if (!b->part) {
        go_through(b, 0, n, part);
        return;
    }
    for (int64_t i = 0; i < chunks; i++) memcpy(b->part + i * b->count, part, (size_t)b->count * sizeof *part);
    fy_thread_pool_run(chunks, 1, go_through_chunks, b);
    for (int64_t i = 0; i < chunks; i++)
        for (int64_t k = 0; k < b->count; k++)
            if (i == 0) part[k] = b->part[k];
            else join(b->r->w, &part[k], &b->part[i * b->count + k]);
    free(b->part);
}

/* Computed in the dtype itself, as on a GPU. */
static double root_of(const fy_run_work *w, double all)
{
    double p = w->real[FY_NORM_p];
    bool wide = w->dtype == FY_FLOAT64;
    if (p == 0 || p == 1 || isinf(p)) return all;
    if (p == 2) return wide ? sqrt(all) : (double)sqrtf((float)all);
    return wide ? pow(all, 1 / p) : (double)powf((float)all, 1 / (float)p);
}

static fy_arg value_of(const reduction *r, const fy_part *part)
{
    const fy_run_work *w = r->w;
    bool real = fy_dtype_is_real(w->dtype);
    double n = (double)r->gone.numel;
    switch (w->op) {
    case FY_OP_mean: /* in float unless the dtype is double */
        return fy_arg_real(w->dtype == FY_FLOAT64 ? part->real / n
                                                  : (double)((float)part->real / (float)r->gone.numel));
    case FY_OP_var: return fy_arg_real(part->real / fmax(0, n - w->real[FY_VAR_correction]));
    case FY_OP_norm: return fy_arg_real(root_of(w, part->real));
    case FY_OP_argmax:
    case FY_OP_argmin: return fy_arg_int(part->place);
    case FY_OP_any:
    case FY_OP_all: return fy_arg_int(real ? part->real != 0 : part->whole != 0);
    default: return real ? fy_arg_real(part->real) : fy_arg_int(part->whole);
    }
}

/* Results k to k + count. */
static void reduce_some(const reduction *r, int64_t k, int64_t count)
{
    fy_part part[FY_TILE];
    batch b = {.r = r, .count = count};
    b.start = (const char *)r->w->in[0].data + offset_of(&r->kept, k) * (int64_t)r->size;
    begin(r->w, part, count);
    if (r->w->op == FY_OP_var) { /* needs the mean first */
        reduction sum = *r;
        sum.fold = folds[r->w->dtype][0];
        b.r = &sum;
        go_through_all(&b, part);
        b.r = r;
        for (int64_t i = 0; i < count; i++) part[i] = (fy_part){.mean = part[i].real / (double)r->gone.numel};
    }
    go_through_all(&b, part);
    for (int64_t i = 0; i < count; i++)
        fy_number_put(r->w->out.dtype, r->w->out.data, offset_of(&r->out, k + i), value_of(r, &part[i]));
}

/* Results from..to, in stretches of one innermost row. */
static void reduce_from_to(int64_t from, int64_t to, void *context)
{
    const reduction *r = context;
    int64_t inner = r->kept.shape[r->kept.ndim - 1];
    for (int64_t k = from, count; k < to; k += count) {
        count = smaller(smaller(inner - k % inner, FY_TILE), to - k);
        reduce_some(r, k, count);
    }
}

/* Threads share the results, or, if there are few, the elements (go_through_all). */
static void reduce(fy_run_work *w)
{
    static fy_fold (*const norms[])(double p) = {[FY_FLOAT16] = norm_fold_f16,
                                                 [FY_BFLOAT16] = norm_fold_bf16,
                                                 [FY_FLOAT32] = norm_fold_f32,
                                                 [FY_FLOAT64] = norm_fold_f64};
    fy_layout l = w->in[0].layout;
    int kept = l.ndim - w->reduced;
    if (w->op != FY_OP_argmax && w->op != FY_OP_argmin) sort_dims(&l, kept, l.ndim); /* those need the logical order */
    reduction r = {.w = w, .kept = collected(&l, 0, kept), .gone = collected(&l, kept, l.ndim)};
    r.out = collected(&w->out.layout, 0, w->out.layout.ndim);
    r.size = fy_dtype_size(w->dtype);
    r.fold = w->op == FY_OP_norm ? norms[w->dtype](w->real[FY_NORM_p]) : folds[w->dtype][w->op - FY_OP_sum];
    int64_t grain = (CHUNK / (r.gone.numel > 0 ? r.gone.numel : 1) + FY_TILE) / FY_TILE * FY_TILE;
    fy_thread_pool_run(r.kept.numel, grain, reduce_from_to, &r);
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
HOST(norm)
