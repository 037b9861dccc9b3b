/* program.c: see program.h. */
#include <string.h>

#include "op.h"
#include "program.h"

#define DEED(name, kind, weight) {#name, kind, weight, (void (*)(void))fy_##name##_at},
/* clang-format off */
#define INDEX_DEEDS /* of ferry_index.h */ \
    DEED(split, CUT, 4) DEED(chunk, CUT, 4) DEED(repeat, SHAPED, 6) DEED(index_select, BY_INDEX, 6) \
    DEED(embedding, BY_INDEX, 6) DEED(gather, BY_INDEX, 8) DEED(scatter_add_, BY_INDEX, 8) DEED(nonzero, SAME, 5) \
    DEED(masked_select, MASKED, 6) DEED(index, MASKED, 6) DEED(cumsum, ORDER, 6) DEED(sort, ORDER, 8) \
    DEED(argsort, ORDER, 3) DEED(topk, ORDER, 6)
const deed deeds[] = {
#define X(op) DEED(op, TWO, 4)
    FY_TWO_OPERAND_OPS(X) FY_TWO_OPERAND_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(op) DEED(op, THREE, 6)
    FY_THREE_OPERAND_OPS(X)
#undef X
#define X(op) DEED(op, VALUE, 5) DEED(op##_, VALUE, 3)
    FY_VALUE_OPS(X)
#undef X
#define X(op) DEED(op, ALPHA, 9)
    FY_ALPHA_OPS(X) FY_ALPHA_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(op) DEED(op, ONE, 3)
    FY_ONE_OPERAND_OPS(X) FY_ONE_OPERAND_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(op) DEED(op, TRIANGLE, 3)
    FY_TRIANGLE_OPS(X)
#undef X
#define X(op) DEED(op, REDUCE, 5)
    FY_REDUCTIONS(X)
#undef X
    DEED(masked_fill, MASK_FILL, 6) DEED(masked_fill_, MASK_FILL, 4) DEED(one_hot, ONE_HOT, 5)
    DEED(isclose, CLOSE, 5) DEED(allclose, ASK, 3) DEED(equal, ASK, 3)
    DEED(zeros, MAKE, 2) DEED(ones, MAKE, 2) DEED(empty, MAKE, 1) DEED(rand, MAKE, 3) DEED(randn, MAKE, 4)
    DEED(full, FULL, 4) DEED(arange, RANGE, 4) DEED(linspace, RANGE, 3) DEED(tensor, VALUES, 4) DEED(eye, EYE, 3)
    DEED(randint, RANDINT, 4) DEED(randperm, RANDPERM, 3)
    DEED(empty_like, SAME, 1) DEED(zeros_like, SAME, 1) DEED(ones_like, SAME, 1) DEED(full_like, FILL, 2)
    DEED(rand_like, SAME, 1) DEED(randn_like, SAME, 1) DEED(fill_, FILL, 4)
    DEED(softmax, ALONG, 6) DEED(log_softmax, ALONG, 6)
    DEED(matmul, PRODUCT, 16) DEED(mm, PRODUCT, 3) DEED(bmm, PRODUCT, 3) DEED(mv, PRODUCT, 3) DEED(dot, PRODUCT, 3)
    DEED(addmm, ADDMM, 8) DEED(linear, LINEAR, 6) DEED(cross_entropy, CROSS_ENTROPY, 10) DEED(mse_loss, MSE, 6)
    DEED(view, SHAPED, 8) DEED(reshape, SHAPED, 8) DEED(permute, SHAPED, 10) DEED(expand, SHAPED, 8)
    DEED(view_dtype, DTYPED, 4) DEED(flatten, PAIR, 4) DEED(transpose, PAIR, 8) DEED(select, PAIR, 8)
    DEED(squeeze, DIM, 4) DEED(unsqueeze, DIM, 5) DEED(narrow, NARROW, 8) DEED(slice, SLICE, 12)
    DEED(t, SAME, 4) DEED(contiguous, SAME, 5) DEED(clone, SAME, 5) DEED(detach, SAME, 2)
    DEED(cat, JOIN, 8) DEED(stack, JOIN, 8)
    DEED(to, TO, 30) DEED(cuda, CUDA, 4) DEED(cpu, SAME, 4) DEED(copy_, COPY, 12) DEED(pin_memory, SAME, 2)
    DEED(save_npy, NPY, 1) DEED(free, FREE, 10) DEED(item, ITEM, 3) DEED(cuda_set_device, DEVICE, 1)
    INDEX_DEEDS
};
/* clang-format on */
const int deed_count = sizeof deeds / sizeof *deeds;
_Static_assert(sizeof deeds / sizeof *deeds <= MOST_DEEDS, "sites of run.c");

const char *const places[PLACES] = {"cpu",    "cuda",    "cuda:0",  "",      "gpu",   "CUDA",
                                    "cuda:7", "cuda:-1", "cuda:01", "cpu:1", "cuda:", "cuda:99999999999",
                                    "cuda 0", NULL};

const fy_dtype dtypes[DTYPES] = {FY_FLOAT32, FY_INT64, FY_FLOAT16, FY_BFLOAT16,
                                 FY_FLOAT64, FY_INT32, FY_UINT8,   FY_BOOL};

uint64_t draw(chance *r)
{
    uint64_t x = r->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

int64_t below(chance *r, int64_t n) { return n > 0 ? (int64_t)(draw(r) % (uint64_t)n) : 0; }

int64_t between(chance *r, int64_t low, int64_t high) { return low + below(r, high - low + 1); }

bool percent(chance *r, int n) { return below(r, 100) < n; }

/* ---- what a step is ---- */

const deed *deed_of(const step *s) { return &deeds[s->deed]; }

bool is_named(const step *s, const char *name) { return strcmp(deed_of(s)->name, name) == 0; }

bool is_in_place(const step *s)
{
    const char *name = deed_of(s)->name;
    return name[strlen(name) - 1] == '_';
}

int op_of(const step *s)
{
    const char *name = deed_of(s)->name;
    size_t n = strlen(name) - (size_t)is_in_place(s);
    if (deed_of(s)->kind == PRODUCT) return FY_OP_matmul;
    for (int op = 0; op < FY_OP_COUNT; op++)
        if (strlen(fy_ops[op].name) == n && strncmp(fy_ops[op].name, name, n) == 0) return op;
    return -1;
}

bool is_random(const step *s)
{
    if (is_named(s, "rand_like") || is_named(s, "randn_like")) return true;
    return is_named(s, "rand") || is_named(s, "randn") || is_named(s, "randint") || is_named(s, "randperm");
}

bool is_unset(const step *s) { return is_named(s, "empty_like") || is_named(s, "empty"); }
