/* list.h: one launch for many tensors, elementwise, as PyTorch's multi_tensor_apply: the pointers and sizes of all of
 * them are an argument of the kernel. Each tensor has blocks of its own. */
#ifndef FERRY_LIST_H
#define FERRY_LIST_H

#include "kernel.h"

namespace {

template <typename T> struct list_of {
    const T *in[FY_ITEM_INPUTS][FY_MOST_ITEMS]; /* NULL: a number */
    T *out[FY_MOST_ITEMS];
    int64_t numel[FY_MOST_ITEMS];
    unsigned first[FY_MOST_ITEMS]; /* the first block of each */
    int n;
};

} /* namespace */

static_assert(sizeof(list_of<double>) + 4 * sizeof(double) <= 4096, "what a kernel's arguments may take");

/* The tensor that this block is for: the last whose first block is not after it, by bisection. */
template <typename T> __device__ inline int own_tensor(const list_of<T> &l)
{
    int k = 0;
    for (int step = FY_MOST_ITEMS / 2; step > 0; step /= 2)
        if (k + step < l.n && l.first[k + step] <= blockIdx.x) k += step;
    return k;
}

template <typename T>
__device__ inline wide_of<T> element_of(const list_of<T> &l, int operand, int tensor, wide_of<T> number, int64_t i)
{
    const T *data = l.in[operand][tensor];
    return data ? wide(load(&data[i])) : number;
}

/* Op::of of 1, 2, or 3 operands and the call's number. */
template <int operands, typename Op, typename T>
__global__ void each_of_list(PACKED(list_of<T>) l, wide_of<T> a_number, wide_of<T> b_number, wide_of<T> c_number,
                             wide_of<T> number)
{
    int k = own_tensor(l);
    int64_t i = (int64_t)(blockIdx.x - l.first[k]) * FY_THREADS + threadIdx.x;
    if (i >= l.numel[k]) return;
    auto x = element_of(l, 0, k, a_number, i);
    if constexpr (operands == 1) put(&l.out[k][i], Op::of(x));
    else {
        auto y = element_of(l, 1, k, b_number, i);
        if constexpr (operands == 2) put(&l.out[k][i], Op::of(x, y));
        else put(&l.out[k][i], Op::of(x, y, element_of(l, 2, k, c_number, i), number));
    }
}

template <int operands, typename Op, typename T>
static void launch_list(fy_run_work *w, const char *name, wide_of<T> number = wide_of<T>())
{
    list_of<T> l;
    int64_t blocks = 0;
    l.n = w->nitems;
    for (int k = 0; k < l.n; k++) {
        for (int i = 0; i < FY_ITEM_INPUTS; i++) l.in[i][k] = (const T *)w->items[k].in[i];
        l.out[k] = (T *)w->items[k].out;
        l.numel[k] = w->items[k].numel;
        l.first[k] = (unsigned)blocks;
        blocks += (l.numel[k] + FY_THREADS - 1) / FY_THREADS;
    }
    dim3 grid = grid_for(w, name, blocks * FY_THREADS);
    constexpr auto *kernel = each_of_list<operands, Op, T>;
    LAUNCH(kernel, grid, FY_THREADS)(l, wide_number_of<T>(w, 0), wide_number_of<T>(w, 1), wide_number_of<T>(w, 2), number);
}

/* Begins a launcher: FOR_LIST("sqrt", launch_list<1, sqrt_of, T>(w, name)) */
#define FOR_LIST(op, ...) \
    if (w->items) { \
        FOR_REALS("foreach_" op, __VA_ARGS__) \
        return; \
    }

#endif
