/* ternary.cu: ternary elementwise ops. An operand without data is a number. */
#include "kernel.h"
#include "list.h"

/* A: the first operand's type, if it differs from the others'. */
template <typename Op, typename A, typename T>
__global__ void ternary(const A *a, fy_layout_arg la, A a_number, const T *b, fy_layout_arg lb, T b_number, const T *c,
                        fy_layout_arg lc, T c_number, T *out, fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i >= lo.numel) return;
    put(&out[at(lo, i)], Op::of(wide(element(a, la, a_number, i)), wide(element(b, lb, b_number, i)),
                                wide(element(c, lc, c_number, i))));
}

template <typename Op, typename A, typename T> static void launch(fy_run_work *w, const char *name)
{
    fy_operand *a = &w->in[0], *b = &w->in[1], *c = &w->in[2], *out = &w->out;
    dim3 grid = grid_for(w, name, out->layout.numel);
    constexpr auto *kernel = ternary<Op, A, T>;
    LAUNCH(kernel, grid, FY_THREADS)
    ((const A *)a->data, flat(a->layout), number_of<A>(w, 0), (const T *)b->data, flat(b->layout), number_of<T>(w, 1),
     (const T *)c->data, flat(c->layout), number_of<T>(w, 2), (T *)out->data, flat(out->layout));
}

namespace {

struct choice {
    template <typename T> MEMBER T of(bool condition, T x, T y) { return condition ? x : y; }
};

/* NaN if any is; the upper bound where they cross. */
struct limited {
    template <typename T> MEMBER T of(T x, T low, T high)
    {
        T raised = x != x || x >= low ? x : low;
        return raised != raised || raised <= high ? raised : high;
    }
};

} /* namespace */

LAUNCHER(where)
{
    FOR_ALL("where", launch<choice, bool, T>(w, name))
}
LAUNCHER(clamp)
{
    FOR_NUMBERS("clamp", launch<limited, T, T>(w, name))
}

/* The condition comes second, and the value is a number of the call. */
template <typename T> static void launch_masked(fy_run_work *w, const char *name)
{
    fy_operand *x = &w->in[0], *mask = &w->in[1], *out = &w->out;
    dim3 grid = grid_for(w, name, out->layout.numel);
    constexpr auto *kernel = ternary<choice, bool, T>;
    LAUNCH(kernel, grid, FY_THREADS)
    ((const bool *)mask->data, flat(mask->layout), number_of<bool>(w, 1), (const T *)NULL, fy_layout{},
     number_of<T>(w, FY_MASKED_FILL_value), (const T *)x->data, flat(x->layout), number_of<T>(w, 0), (T *)out->data,
     flat(out->layout));
}

LAUNCHER(masked_fill)
{
    FOR_ALL("masked_fill", launch_masked<T>(w, name))
}

/* ---- with a number that is not rounded to 16 bits ---------------------------------------------------- */

__device__ inline float fused(float a, float b, float c)
{
    return fmaf(a, b, c);
}
__device__ inline double fused(double a, double b, double c)
{
    return fma(a, b, c);
}
template <typename T> __device__ inline T fused(T a, T b, T c)
{
    using U = typename unsigned_of<T>::type;
    return (T)((U)a * (U)b + (U)c);
}

/* Op::of(x, y, z, number); the number takes the third operand's place where that has no data. */
template <typename Op, typename T>
__global__ void with_number(const T *a, fy_layout_arg la, T a_number, const T *b, fy_layout_arg lb, T b_number, const T *c,
                            fy_layout_arg lc, T c_number, wide_of<T> number, T *out, fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i >= lo.numel) return;
    put(&out[at(lo, i)], Op::of(wide(element(a, la, a_number, i)), wide(element(b, lb, b_number, i)),
                                wide(element(c, lc, c_number, i)), number));
}

template <typename Op, typename T> static void launch_with(fy_run_work *w, const char *name, wide_of<T> number)
{
    fy_operand *a = &w->in[0], *b = &w->in[1], *c = &w->in[2], *out = &w->out;
    dim3 grid = grid_for(w, name, out->layout.numel);
    constexpr auto *kernel = with_number<Op, T>;
    LAUNCH(kernel, grid, FY_THREADS)
    ((const T *)a->data, flat(a->layout), number_of<T>(w, 0), (const T *)b->data, flat(b->layout), number_of<T>(w, 1),
     (const T *)c->data, flat(c->layout), number_of<T>(w, 2), number, (T *)out->data, flat(out->layout));
}

namespace {

/* From the nearer end. */
struct between {
    template <typename T> MEMBER T of(T x, T y, T weight, T)
    {
        return fabs(weight) < (T)0.5 ? fused(weight, y - x, x) : fused(x - y, 1 - weight, y);
    }
};
struct between_by_number {
    template <typename T> MEMBER T of(T x, T y, T, T weight) { return between::of(x, y, weight, weight); }
};

struct plus_product {
    template <typename T> MEMBER T of(T x, T y, T z, T value)
    {
        using U = typename unsigned_of<T>::type;
        return fused((T)((U)value * (U)y), z, x);
    }
};
struct plus_quotient {
    template <typename T> MEMBER T of(T x, T y, T z, T value) { return x + value * y / z; }
};

} /* namespace */

LAUNCHER(lerp)
{
    if (w->in[2].data) {
        FOR_REALS("lerp", launch_with<between, T>(w, name, 0))
    } else {
        FOR_REALS("lerp", launch_with<between_by_number, T>(w, name, (wide_of<T>)w->real[2]))
    }
}
LAUNCHER(addcmul)
{
    FOR_LIST("addcmul", launch_list<3, plus_product, T>(w, name, (wide_of<T>)w->real[FY_ADDCMUL_value]))
    FOR_REALS("addcmul", launch_with<plus_product, T>(w, name, (wide_of<T>)w->real[FY_ADDCMUL_value]))
    FOR_INTEGERS("addcmul", launch_with<plus_product, T>(w, name, (T)w->integer[FY_ADDCMUL_value]))
}
LAUNCHER(addcdiv)
{
    FOR_LIST("addcdiv", launch_list<3, plus_quotient, T>(w, name, (wide_of<T>)w->real[FY_ADDCDIV_value]))
    FOR_REALS("addcdiv", launch_with<plus_quotient, T>(w, name, (wide_of<T>)w->real[FY_ADDCDIV_value]))
}
