/* add.cu: out = a + alpha * b, elementwise; sub is the same with -alpha. A broadcast operand has strides of 0; an
 * operand without data is a number. */
#include "kernel.h"
#include "list.h"

/* x + alpha * y, rounded once; integers wrap around. */
__device__ inline float sum(float x, float alpha, float y)
{
    return fmaf(alpha, y, x);
}
__device__ inline double sum(double x, double alpha, double y)
{
    return fma(alpha, y, x);
}
__device__ inline bool sum(bool x, bool alpha, bool y)
{
    return x || (alpha && y);
}
template <typename T> __device__ inline T sum(T x, T alpha, T y)
{
    using U = typename unsigned_of<T>::type;
    return (T)((U)x + (U)alpha * (U)y);
}

template <typename T, typename L>
__global__ void add(const T *a, PACKED(L) la, wide_of<T> a_number, const T *b, PACKED(L) lb, wide_of<T> b_number, wide_of<T> alpha, T *out,
                    PACKED(L) lo)
{
    int64_t i = thread_number();
    if (i >= lo.numel) return;
    auto x = wide_element(a, la, a_number, i), y = wide_element(b, lb, b_number, i);
    put(&out[at(lo, i)], sum(x, alpha, y));
}

template <typename T, typename L>
static void launch_on(fy_run_work *w, const char *name, wide_of<T> alpha, const L &la, const L &lb, const L &lo)
{
    dim3 grid = grid_for(w, name, lo.numel);
    constexpr auto *kernel = add<T, L>;
    LAUNCH(kernel, grid, FY_THREADS)
    ((const T *)w->in[0].data, la, wide_number_of<T>(w, 0), (const T *)w->in[1].data, lb, wide_number_of<T>(w, 1), alpha,
     (T *)w->out.data, lo);
}

template <typename T> static void launch(fy_run_work *w, const char *name, wide_of<T> alpha)
{
    dense all = {w->out.layout.numel};
    if (is_dense(w, 2)) launch_on<T>(w, name, alpha, all, all, all);
    else launch_on<T>(w, name, alpha, flat(w->in[0].layout), flat(w->in[1].layout), flat(w->out.layout));
}

template <typename T> static wide_of<T> minus(T x)
{
    using W = wide_of<T>;
    return (W)(0 - (typename unsigned_of<W>::type)wide(x));
}

namespace {

struct scaled_sum {
    template <typename T> MEMBER T of(T x, T y, T, T alpha) { return sum(x, alpha, y); }
};

} /* namespace */

LAUNCHER(add)
{
    FOR_LIST("add", launch_list<3, scaled_sum, T>(w, name, wide(number_of<T>(w, FY_ADD_alpha))))
    FOR_ALL("add", launch<T>(w, name, wide(number_of<T>(w, FY_ADD_alpha))))
}

LAUNCHER(sub)
{
    FOR_NUMBERS("sub", launch<T>(w, name, minus(number_of<T>(w, FY_SUB_alpha))))
}
