/* random_factories.c: rand, randn, randint, randperm. The host's generator is host_random.c, the GPU's
 * kernels/random.cu. */
#include <stdlib.h>

#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "frame.h"
#include "make.h"
#include "op.h"
#include "random.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"

/* Counters to reserve: those of the busiest thread, as PyTorch counts them; randperm needs more to break ties. A
 * counter has 128 bits: 2 elements of 64 bits, or 4. */
static uint64_t counters(const fy_call *c, int64_t blocks, int64_t numel)
{
    bool integers = c->op == FY_OP_randint || c->op == FY_OP_randperm;
    uint64_t range = (uint64_t)c->integer[FY_RANDOM_high] - (uint64_t)c->integer[FY_RANDOM_low];
    int64_t each = (integers ? range >= FY_LONG_RANGE : c->dtype == FY_FLOAT64) ? 2 : 4;
    int64_t needed = (numel + FY_RANDOM_THREADS - 1) / FY_RANDOM_THREADS;
    int64_t threads = (needed < blocks ? needed : blocks) * FY_RANDOM_THREADS;
    if (numel == 0) return 0;
    int64_t n = (numel - 1) / (threads * each) + 1;
    return (uint64_t)(c->op == FY_OP_randperm ? n + (numel + 3) / 4 : n);
}

fy_tensor *fy_draw(fy_call *c)
{
    int64_t numel;
    if (!fy_shape_ok(c->at, &c->shape, c->dtype, &numel)) return NULL;
    if (c->dev->number == 0) return fy_dispatch(c);
    int64_t blocks = c->dev->threads / FY_RANDOM_THREADS;
    uint64_t n = counters(c, blocks, numel);
    fy_philox p = fy_random_take(c->dev->number, n);
    c->integer[FY_RANDOM_blocks] = blocks;
    c->integer[FY_RANDOM_seed] = (int64_t)p.seed;
    c->integer[FY_RANDOM_counter] = (int64_t)p.offset;
    fy_tensor *out = fy_dispatch(c);
    if (!out) fy_random_give(c->dev->number, p, n);
    return out;
}

static fy_tensor *draw(fy_call *c) { return fy_make_result(c, fy_draw(c)); }

bool fy_draw_check(const fy_call *c, const char *kernel)
{
    if (fy_dtype_is_real(c->dtype)) return true;
    return fy_fail(c->at, "dtype", "leave .dtype out, and convert with fy_to(x, FY_INT64) if need be",
                   "\"%s\" not implemented for '%s'", kernel, fy_dtype_torch(c->dtype));
}

fy_tensor *fy_rand_at(fy_site *at, fy_shape shape, fy_opts o)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_rand, .shape = shape};
    if (!fy_make_begin(&c, &o, FY_FLOAT32) || !fy_draw_check(&c, "check_uniform_bounds")) return NULL;
    return draw(&c);
}

fy_tensor *fy_randn_at(fy_site *at, fy_shape shape, fy_opts o)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_randn, .shape = shape};
    if (!fy_make_begin(&c, &o, FY_FLOAT32)) return NULL;
    return fy_draw_check(&c, c.dev->number ? "normal_kernel_cuda" : "normal_kernel_cpu") ? draw(&c) : NULL;
}

/* ---- like another tensor: same strides, values drawn in memory order ---- */

static fy_tensor *draw_like(fy_site *at, int op, fy_tensor *x)
{
    fy_session_start();
    if (!fy_check(at, 0, x)) return NULL;
    fy_geometry g = fy_geometry_like(x);
    fy_call c = {.at = at, .op = op, .shape = g.shape, .strides = g.strides, .dtype = g.dtype, .dev = x->storage->dev};
    const char *normal = c.dev->number ? "normal_kernel_cuda" : "normal_kernel_cpu";
    c.name = fy_name_for(at, NULL);
    return fy_draw_check(&c, op == FY_OP_randn ? normal : "check_uniform_bounds") ? draw(&c) : NULL;
}

fy_tensor *fy_rand_like_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    return draw_like(at, FY_OP_rand, x);
}
fy_tensor *fy_randn_like_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    return draw_like(at, FY_OP_randn, x);
}

/* ---- randint ---- */

typedef struct bounds {
    int64_t low, high; /* high excluded */
} bounds;

/* Bits of the significand, the implicit one included. */
static int significand_bits(fy_dtype d)
{
    return d == FY_FLOAT16 ? 11 : d == FY_BFLOAT16 ? 8 : d == FY_FLOAT32 ? 24 : 53;
}

/* x rounded to the dtype and back. */
static int64_t round_trip(fy_dtype d, int64_t x)
{
    double element;
    fy_number_put(d, &element, 0, fy_arg_int(x));
    return fy_integer_at(d, &element, 0);
}

/* The spacing of the float type's numbers at x. */
static int64_t spacing(fy_dtype d, int64_t x)
{
    int n = 0;
    for (uint64_t rest = (uint64_t)llabs(x); rest >>= 1;) n++;
    return n < significand_bits(d) ? 0 : (int64_t)1 << (n - significand_bits(d) + 1);
}

/* Narrows bounds beyond the float type's precision, so that no drawn value rounds out of them. */
static bool tighten(fy_site *at, fy_dtype d, bounds *b)
{
    int64_t from = round_trip(d, b->low + 1), to = round_trip(d, b->high - 1);
    if (from < b->low) b->low = from + spacing(d, b->low + 1);
    if (to >= b->high) b->high = to - spacing(d, b->high - 1);
    if (b->low < b->high) return true;
    return fy_fail(at, "value", "use wider bounds, or .dtype = FY_INT64",
                   "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from=%lld >= "
                   "to=%lld",
                   (long long)b->low, (long long)b->high);
}

/* Is the bound in the dtype's range? */
static bool check_bound(fy_site *at, fy_dtype d, const char *what, int64_t value)
{
    double max = d == FY_FLOAT16 ? 65504 : 1e19;
    bool in = d == FY_UINT8   ? value >= 0 && value <= UINT8_MAX
              : d == FY_BOOL  ? value >= 0 && value <= 1
              : d == FY_INT32 ? value >= INT32_MIN && value <= INT32_MAX
                              : (double)value <= max && (double)value >= -max;
    if (in) return true;
    return fy_fail(at, "value", fy_hint("use bounds in the range of %s, or .dtype = FY_INT64", fy_dtype_name(d)),
                   "%s is out of bounds for %s", what, fy_dtype_c(d));
}

fy_tensor *fy_randint_at(fy_site *at, size_t n, const fy_arg *range, fy_shape shape, fy_opts o)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_randint, .shape = shape};
    bool ints;
    if (n < 1 || n > 2)
        return fy_fail(at, "value", "fy_randint((low, high), (2, 3)), or ((high), (2, 3))",
                       "bounds are 1 or 2 numbers, not %zu", n);
    if (!fy_make_numbers(at, "the bounds must be numbers, not tensors", n, range, &ints)) return NULL;
    if (!ints) return fy_fail(at, "value", "fy_randint((0, 10), (2, 3))", "the bounds must be whole numbers");
    if (!fy_make_begin(&c, &o, FY_INT64)) return NULL;
    bounds b = {n > 1 ? range[0].integer : 0, range[n - 1].integer};
    if (b.low >= b.high)
        return fy_fail(at, "value", "fy_randint((low, high), (2, 3)): low is included, high is not",
                       "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld", (long long)b.low,
                       (long long)b.high);
    if (fy_dtype_is_real(c.dtype) && !tighten(at, c.dtype, &b)) return NULL;
    if (!check_bound(at, c.dtype, "from", b.low) || !check_bound(at, c.dtype, "to - 1", b.high - 1)) return NULL;
    c.integer[FY_RANDOM_low] = b.low;
    c.integer[FY_RANDOM_high] = b.high;
    return draw(&c);
}

/* ---- randperm ---- */

fy_tensor *fy_randperm_at(fy_site *at, fy_shape shape, fy_opts o)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_randperm, .shape = shape};
    int64_t n = shape.dims[0], numel;
    if (shape.ndim != 1)
        return fy_fail(at, "shape", "fy_randperm((5))", "a permutation has one size, not %d", shape.ndim);
    if (!fy_make_begin(&c, &o, FY_INT64) || !fy_shape_ok(at, &shape, c.dtype, &numel)) return NULL;
    if (c.dtype == FY_BOOL) return fy_fail(at, "dtype", "leave .dtype out", "\"randperm\" not implemented for 'Bool'");
    if (n > 0 && !fy_fits(at, c.dtype, fy_arg_int(n - 1), fy_dtype_scalar(c.dtype))) return NULL;
    /* Above these a float type cannot represent every integer. */
    const char *max = c.dtype == FY_FLOAT16 && n > 2049              ? "2049 for Half"
                      : c.dtype == FY_FLOAT32 && n > (1 << 24) + 1   ? "2^24+1 for Float"
                      : c.dtype == FY_FLOAT64 && n > (1LL << 53) + 1 ? "2^53+1 for Double"
                                                                     : NULL;
    if (max) return fy_fail(at, "value", "leave .dtype out", "n cannot be greater than %s type.", max);
    c.integer[FY_RANDOM_low] = INT32_MIN;
    c.integer[FY_RANDOM_high] = INT32_MAX; /* the range of the sort keys on a GPU */
    return draw(&c);
}
