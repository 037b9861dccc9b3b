/* op.c: the op table, and the cost of a call. */
#include "op.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

#include "dtype.h"
#include "run_work.h"

const fy_op fy_ops[FY_OP_COUNT] = {
#define X(name, nin, types, dtype, shape, flops, gradient, scalars, words) \
    {#name, nin, types, dtype, shape, flops, #gradient},
    FY_OPS(X)
#undef X
};

bool fy_op_takes_numbers(int op) { return fy_ops[op].shape == FY_BROADCAST && fy_ops[op].dtype != FY_MASKED; }

bool fy_op_takes(int op, fy_dtype dtype)
{
    switch (fy_ops[op].types) {
    case FY_ALL_TYPES: return true;
    case FY_NOT_BOOL: return dtype != FY_BOOL;
    case FY_INDICES: return dtype == FY_INT64;
    case FY_REALS: break;
    }
    return fy_dtype_is_real(dtype);
}

/* Bytes that an operand's traversal accesses; a dimension of stride 0 counts once. */
static int64_t bytes_of(const fy_operand *x)
{
    if (!x->data || x->layout.numel == 0) return 0;
    int64_t n = 1;
    for (int i = 0; i < x->layout.ndim; i++)
        if (x->layout.strides[i] != 0 || x->layout.shape[i] == 0) n *= x->layout.shape[i];
    return n * (int64_t)fy_dtype_size(x->dtype);
}

/* An indexed operand is touched only at the selected elements: as many as `selected` has. */
static int64_t bytes_named(const fy_operand *x, const fy_operand *selected)
{
    return selected->layout.numel * (int64_t)fy_dtype_size(x->dtype);
}

void fy_op_cost(fy_run_work *w)
{
    const fy_op *op = &fy_ops[w->op];
    int64_t steps = w->out.layout.numel; /* each of op->flops operations */
    if (op->shape == FY_MATRIX_PRODUCT) {
        const fy_layout *left = &w->in[w->nin - 2].layout;
        steps *= left->shape[left->ndim - 1]; /* the summed dimension */
    } else if (op->shape == FY_REDUCED) {
        steps = w->in[0].layout.numel;
    } else if (op->shape == FY_SCATTERED) {
        steps = w->in[1].layout.numel;
    }
    w->flops = op->flops * steps;

    bool scatters = op->shape == FY_SCATTERED;
    bool named = scatters || op->shape == FY_INDEXED || op->shape == FY_GATHERED;
    const fy_operand *told = scatters ? &w->in[1] : &w->out;
    w->bytes = scatters ? bytes_named(&w->out, told) : bytes_of(&w->out);
    for (int i = 0; i < w->nin; i++) w->bytes += named && i == 0 ? bytes_named(&w->in[0], told) : bytes_of(&w->in[i]);
}

fy_arithmetic fy_op_arithmetic(int op, fy_dtype result)
{
    if (result == FY_FLOAT64) return FY_DOUBLE;
    bool product = op >= 0 && fy_ops[op].shape == FY_MATRIX_PRODUCT;
    return product && (result == FY_FLOAT16 || result == FY_BFLOAT16) ? FY_TENSOR : FY_SINGLE;
}

int fy_op_named(const char *name, size_t length)
{
    for (int op = 0; op < FY_OP_COUNT; op++)
        if (strlen(fy_ops[op].name) == length && memcmp(fy_ops[op].name, name, length) == 0) return op;
    return -1;
}

/* ---- the gradient's expressions, as text: "(OP(mul, g, b), OP(mul, g, a))" ---- */

/* The i-th expression, and its length; NULL: there is none. */
static const char *expression(int op, int i, size_t *n)
{
    const char *from = fy_ops[op].gradient + 1, *to = from;
    for (int depth = 0;; to++) {
        if (depth == 0 && (*to == ',' || *to == ')')) {
            if (i-- == 0) break;
            if (*to == ')') return NULL;
            from = to + 1;
        }
        depth += (*to == '(') - (*to == ')');
    }
    while (*from == ' ') from++;
    *n = (size_t)(to - from);
    return *n ? from : NULL;
}

static unsigned reads_of(const char *text, size_t n)
{
    unsigned reads = 0;
    for (size_t k = 0, end; k < n; k = end) {
        for (end = k; end < n && (isalnum((unsigned char)text[end]) || text[end] == '_'); end++) {
        }
        if (end - k == 1 && text[k] >= 'a' && text[k] <= 'c') reads |= 1u << (text[k] - 'a');
        if (end - k == 1 && text[k] == 'r') reads |= 1u << FY_READS_RESULT;
        if (end == k) end++;
    }
    return reads;
}

enum { MOST_OPERANDS = 3, DIFFERENTIABLE = 1 << 8 };
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint16_t gradients[FY_OP_COUNT][MOST_OPERANDS];

static void read_gradients(void)
{
    size_t n;
    for (int op = 0; op < FY_OP_COUNT; op++)
        for (int i = 0; i < MOST_OPERANDS; i++) {
            const char *text = expression(op, i, &n);
            if (text && !(n == 4 && !memcmp(text, "NONE", 4)))
                gradients[op][i] = (uint16_t)(DIFFERENTIABLE | reads_of(text, n));
        }
}

static unsigned gradient_of(int op, int i)
{
    pthread_once(&once, read_gradients);
    return i < MOST_OPERANDS ? gradients[op][i] : 0;
}

bool fy_op_refuses_gradient(int op) { return strstr(fy_ops[op].gradient, "REFUSED"); }
bool fy_op_is_differentiable(int op, int i) { return gradient_of(op, i) & DIFFERENTIABLE; }
unsigned fy_op_gradient_reads(int op, int i) { return gradient_of(op, i) & (DIFFERENTIABLE - 1); }
