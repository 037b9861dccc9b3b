/* program.c: see program.h. */
#include <string.h>

#include "op.h"
#include "program.h"

#define API_CALL(name, kind, weight) {#name, kind, weight, (void (*)(void))fy_##name##_at},
/* clang-format off */
#define INDEX_CALLS /* of ferry_index.h */ \
    API_CALL(split, SPLIT, 4) API_CALL(chunk, SPLIT, 4) API_CALL(repeat, SHAPED, 6) API_CALL(index_select, BY_INDEX, 6) \
    API_CALL(embedding, BY_INDEX, 6) API_CALL(gather, BY_INDEX, 8) API_CALL(scatter_add_, BY_INDEX, 8) API_CALL(nonzero, SAME, 5) \
    API_CALL(masked_select, MASKED, 6) API_CALL(index, MASKED, 6) API_CALL(cumsum, ORDER, 6) API_CALL(sort, ORDER, 8) \
    API_CALL(argsort, ORDER, 3) API_CALL(topk, ORDER, 6)
#define TRAINING_CALLS /* what layers and their initial values take */ \
    API_CALL(uniform_, DRAW, 4) API_CALL(normal_, DRAW, 4) API_CALL(bernoulli_, CHANCE, 4) API_CALL(dropout, CHANCE, 4) \
    API_CALL(layer_norm, LAYER_NORM, 8)
const api_call api_calls[] = {
#define X(op) API_CALL(op, TWO, 4)
    FY_TWO_OPERAND_OPS(X) FY_TWO_OPERAND_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(op) API_CALL(op, THREE, 6)
    FY_THREE_OPERAND_OPS(X)
#undef X
#define X(op) API_CALL(op, VALUE, 5) API_CALL(op##_, VALUE, 3)
    FY_VALUE_OPS(X)
#undef X
#define X(op) API_CALL(op, ALPHA, 9)
    FY_ALPHA_OPS(X) FY_ALPHA_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(op) API_CALL(op, ONE, 3)
    FY_ONE_OPERAND_OPS(X) FY_ONE_OPERAND_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(op) API_CALL(op, TRIANGLE, 3)
    FY_TRIANGLE_OPS(X)
#undef X
#define X(op) API_CALL(op, REDUCE, 5)
    FY_REDUCTIONS(X)
#undef X
    API_CALL(masked_fill, MASK_FILL, 6) API_CALL(masked_fill_, MASK_FILL, 4) API_CALL(one_hot, ONE_HOT, 5)
    API_CALL(isclose, CLOSE, 5) API_CALL(allclose, PREDICATE, 3) API_CALL(equal, PREDICATE, 3)
    API_CALL(zeros, MAKE, 2) API_CALL(ones, MAKE, 2) API_CALL(empty, MAKE, 1) API_CALL(rand, MAKE, 3) API_CALL(randn, MAKE, 4)
    API_CALL(full, FULL, 4) API_CALL(arange, RANGE, 4) API_CALL(linspace, RANGE, 3) API_CALL(tensor, VALUES, 4) API_CALL(eye, EYE, 3)
    API_CALL(randint, RANDINT, 4) API_CALL(randperm, RANDPERM, 3)
    API_CALL(empty_like, SAME, 1) API_CALL(zeros_like, SAME, 1) API_CALL(ones_like, SAME, 1) API_CALL(full_like, FILL, 2)
    API_CALL(rand_like, SAME, 1) API_CALL(randn_like, SAME, 1) API_CALL(fill_, FILL, 4)
    API_CALL(softmax, ALONG, 6) API_CALL(log_softmax, ALONG, 6)
    API_CALL(matmul, PRODUCT, 16) API_CALL(mm, PRODUCT, 3) API_CALL(bmm, PRODUCT, 3) API_CALL(mv, PRODUCT, 3) API_CALL(dot, PRODUCT, 3)
    API_CALL(addmm, ADDMM, 8) API_CALL(linear, LINEAR, 6) API_CALL(cross_entropy, CROSS_ENTROPY, 10) API_CALL(mse_loss, MSE, 6)
    API_CALL(view, SHAPED, 8) API_CALL(reshape, SHAPED, 8) API_CALL(permute, SHAPED, 10) API_CALL(expand, SHAPED, 8)
    API_CALL(view_dtype, DTYPED, 4) API_CALL(flatten, PAIR, 4) API_CALL(transpose, PAIR, 8) API_CALL(select, PAIR, 8)
    API_CALL(squeeze, DIM, 4) API_CALL(unsqueeze, DIM, 5) API_CALL(narrow, NARROW, 8) API_CALL(slice, SLICE, 12)
    API_CALL(t, SAME, 4) API_CALL(contiguous, SAME, 5) API_CALL(clone, SAME, 5) API_CALL(detach, SAME, 2)
    API_CALL(cat, JOIN, 8) API_CALL(stack, JOIN, 8)
    API_CALL(to, TO, 30) API_CALL(cuda, CUDA, 4) API_CALL(cpu, SAME, 4) API_CALL(copy_, COPY, 12) API_CALL(pin_memory, SAME, 2)
    API_CALL(save_npy, NPY, 1) API_CALL(free, FREE, 10) API_CALL(item, ITEM, 3) API_CALL(cuda_set_device, DEVICE, 1)
    INDEX_CALLS TRAINING_CALLS
};
/* clang-format on */
const int api_call_count = sizeof api_calls / sizeof *api_calls;
_Static_assert(sizeof api_calls / sizeof *api_calls <= MAX_API_CALLS, "sites of run.c");

const char *const device_names[DEVICE_NAMES] = {"cpu",    "cuda",    "cuda:0",  "",      "gpu",   "CUDA",
                                                "cuda:7", "cuda:-1", "cuda:01", "cpu:1", "cuda:", "cuda:99999999999",
                                                "cuda 0", NULL};

const fy_dtype dtypes[DTYPES] = {FY_FLOAT32, FY_INT64, FY_FLOAT16, FY_BFLOAT16,
                                 FY_FLOAT64, FY_INT32, FY_UINT8,   FY_BOOL};

uint64_t rng_next(rng_state *r)
{
    uint64_t x = r->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

int64_t rng_below(rng_state *r, int64_t n) { return n > 0 ? (int64_t)(rng_next(r) % (uint64_t)n) : 0; }

int64_t rng_between(rng_state *r, int64_t low, int64_t high) { return low + rng_below(r, high - low + 1); }

bool rng_percent(rng_state *r, int n) { return rng_below(r, 100) < n; }

/* ---- properties of a step ---- */

const api_call *call_of(const step *s) { return &api_calls[s->call_index]; }

bool is_named(const step *s, const char *name) { return strcmp(call_of(s)->name, name) == 0; }

bool is_in_place(const step *s)
{
    const char *name = call_of(s)->name;
    return name[strlen(name) - 1] == '_';
}

int op_of(const step *s)
{
    const char *name = call_of(s)->name;
    size_t n = strlen(name) - (size_t)is_in_place(s);
    if (call_of(s)->kind == PRODUCT) return FY_OP_matmul;
    for (int op = 0; op < FY_OP_COUNT; op++)
        if (strlen(fy_ops[op].name) == n && strncmp(fy_ops[op].name, name, n) == 0) return op;
    return -1;
}

bool is_random(const step *s)
{
    if (is_named(s, "rand_like") || is_named(s, "randn_like")) return true;
    if (call_of(s)->kind == DRAW || call_of(s)->kind == CHANCE) return true;
    return is_named(s, "rand") || is_named(s, "randn") || is_named(s, "randint") || is_named(s, "randperm");
}

bool is_optional(const step *s, int i) { return call_of(s)->kind == LAYER_NORM && i > 0 && s->in[i] == NO_TENSOR; }

bool is_unset(const step *s) { return is_named(s, "empty_like") || is_named(s, "empty"); }
