/* cpu_walk.c: walking strided operands row by row, and the table of host ops. */
#include "cpu.h"

typedef struct walk {
    int ndim;
    int64_t shape[FY_MAX_DIMS];                   /* innermost first */
    int64_t step[FY_MAX_INPUTS + 1][FY_MAX_DIMS]; /* bytes */
} walk;

static int64_t size_of(const fy_operand *x) { return (int64_t)fy_dtype_size(x->dtype); }

/* Dimensions from the result's smallest stride up, so that it is written in the order of memory. */
static void sort_dims(const fy_layout *l, int *order)
{
    for (int i = 0; i < l->ndim; i++) {
        int d = l->ndim - 1 - i, j = i;
        for (; j > 0 && l->strides[d] < l->strides[order[j - 1]]; j--) order[j] = order[j - 1];
        order[j] = d;
    }
}

/* Can dimension d be walked as a continuation of the one collected last? */
static bool continues(const walk *k, int count, const fy_operand *const *x, int d)
{
    int last = k->ndim - 1;
    for (int i = 0; i < count; i++)
        if (x[i]->data && x[i]->layout.strides[d] * size_of(x[i]) != k->step[i][last] * k->shape[last]) return false;
    return true;
}

static void collect(walk *k, int count, const fy_operand *const *x)
{
    const fy_layout *l = &x[0]->layout;
    int order[FY_MAX_DIMS];
    sort_dims(l, order);
    for (int n = 0; n < l->ndim; n++) {
        int d = order[n];
        if (l->shape[d] == 1) continue;
        if (k->ndim > 0 && continues(k, count, x, d)) {
            k->shape[k->ndim - 1] *= l->shape[d];
            continue;
        }
        for (int i = 0; i < count; i++) k->step[i][k->ndim] = x[i]->data ? x[i]->layout.strides[d] * size_of(x[i]) : 0;
        k->shape[k->ndim++] = l->shape[d];
    }
    if (k->ndim == 0) k->shape[k->ndim++] = 1;
}

void fy_walk(int count, const fy_operand *const *x, const void *const *numbers, fy_row row, void *context)
{
    walk k = {0};
    char *p[FY_MAX_INPUTS + 1];
    int64_t step[FY_MAX_INPUTS + 1], at[FY_MAX_DIMS] = {0};
    collect(&k, count, x);
    if (x[0]->layout.numel == 0) return;
    for (int i = 0; i < count; i++) {
        p[i] = x[i]->data ? x[i]->data : (char *)(uintptr_t)numbers[i];
        step[i] = k.step[i][0];
    }
    for (int d = 0; d < k.ndim;) { /* count up the outer dimensions like an odometer */
        row(k.shape[0], p, step, context);
        for (d = 1; d < k.ndim; d++) {
            for (int i = 0; i < count; i++) p[i] += k.step[i][d];
            if (++at[d] < k.shape[d]) break;
            for (int i = 0; i < count; i++) p[i] -= k.step[i][d] * k.shape[d];
            at[d] = 0;
        }
    }
}

#define X(name, ...) void fy_host_##name(fy_run_work *w) __attribute__((weak));
FY_OPS(X)
#undef X

/* The first ops, a function a type: until each has its one function. */
static const fy_host_op by_dtype[FY_OP_COUNT][2] = {
#define X(name) [FY_OP_##name] = {fy_host_##name##_f32, fy_host_##name##_i64},
    FY_HOST_OPS(X)
#undef X
        [FY_OP_randn] = {fy_host_randn_f32, NULL},
};
static void old(fy_run_work *w) { by_dtype[w->op][w->dtype == FY_INT64](w); }

fy_host_op fy_host_op_find(int op)
{
    static const fy_host_op table[FY_OP_COUNT] = {
#define X(name, ...) fy_host_##name,
        FY_OPS(X)
#undef X
    };
    return table[op] ? table[op] : by_dtype[op][0] ? old : NULL;
}
