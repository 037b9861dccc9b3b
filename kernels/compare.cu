/* compare.cu: elementwise comparisons of two operands; the result is bool. */
#include "kernel.h"

template <typename Op, typename T>
__global__ void compare(const T *a, fy_layout_arg la, T a_number, const T *b, fy_layout_arg lb, T b_number, bool *out,
                        fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i >= lo.numel) return;
    out[at(lo, i)] = Op::of(wide(element(a, la, a_number, i)), wide(element(b, lb, b_number, i)));
}

template <typename Op, typename T> static void launch(fy_run_work *w, const char *name)
{
    fy_operand *a = &w->in[0], *b = &w->in[1], *out = &w->out;
    dim3 grid = grid_for(w, name, out->layout.numel);
    constexpr auto *kernel = compare<Op, T>;
    LAUNCH(kernel, grid, FY_THREADS)
    ((const T *)a->data, flat(a->layout), number_of<T>(w, 0), (const T *)b->data, flat(b->layout), number_of<T>(w, 1),
     (bool *)out->data, flat(out->layout));
}

#define QUESTION(op, ...) \
    namespace { \
    struct is_##op { \
        template <typename T> MEMBER bool of(T x, T y) { return __VA_ARGS__; } \
    }; \
    } \
    LAUNCHER(op) { FOR_ALL(#op, launch<is_##op, T>(w, name)) }

QUESTION(eq, x == y)
QUESTION(ne, x != y)
QUESTION(lt, x < y)
QUESTION(le, x <= y)
QUESTION(gt, x > y)
QUESTION(ge, x >= y)
QUESTION(logical_and, x != 0 && y != 0)
QUESTION(logical_or, x != 0 || y != 0)

/* ---- isclose: floats are rounded to their type at each step, as if each were an op; integers are compared as floats
 * ---- */

template <typename T> struct held_apart_as {
    using type = float;
};
template <> struct held_apart_as<double> {
    using type = double;
};

template <typename T, typename W> __device__ inline W rounded(W x)
{
    if constexpr (is_real<T>) {
        T element;
        put(&element, x);
        return wide(element);
    } else return x;
}

template <typename T, typename W>
__global__ void isclose(const T *a, fy_layout_arg la, T a_number, const T *b, fy_layout_arg lb, T b_number, W rtol, W atol,
                        bool near, bool nans, bool *out, fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i >= lo.numel) return;
    auto own = wide(element(a, la, a_number, i)), other = wide(element(b, lb, b_number, i));
    W x = (W)own, y = (W)other, share = rounded<T>(rtol * y), apart = fabs(rounded<T>(x - y));
    W allowed = rounded<T>(atol + (W)fabs(share));
    bool both_nan = x != x && y != y;
    out[at(lo, i)] = own == other || (nans && both_nan) || (near && apart < (W)INFINITY && apart <= allowed);
}

template <typename T> static void launch_isclose(fy_run_work *w, const char *name)
{
    using W = typename held_apart_as<T>::type;
    fy_operand *a = &w->in[0], *b = &w->in[1], *out = &w->out;
    double rtol = w->real[FY_ISCLOSE_rtol], atol = w->real[FY_ISCLOSE_atol];
    dim3 grid = grid_for(w, name, out->layout.numel);
    constexpr auto *kernel = isclose<T, W>;
    LAUNCH(kernel, grid, FY_THREADS)
    ((const T *)a->data, flat(a->layout), number_of<T>(w, 0), (const T *)b->data, flat(b->layout), number_of<T>(w, 1),
     (W)rtol, (W)atol, rtol != 0 || atol != 0, w->integer[FY_ISCLOSE_equal_nan] != 0, (bool *)out->data,
     flat(out->layout));
}

LAUNCHER(isclose)
{
    FOR_ALL("isclose", launch_isclose<T>(w, name))
}
