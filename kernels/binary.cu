/* binary.cu: binary elementwise arithmetic except add.cu's. An operand without data is a number. */
#include "kernel.h"
#include "list.h"

template <typename Op, typename T, typename L>
__global__ void binary(const T *a, PACKED(L) la, wide_of<T> a_number, const T *b, PACKED(L) lb, wide_of<T> b_number, T *out, PACKED(L) lo)
{
    int64_t i = thread_number();
    if (i >= lo.numel) return;
    put(&out[at(lo, i)], Op::of(wide_element(a, la, a_number, i), wide_element(b, lb, b_number, i)));
}

template <typename Op, typename T, typename L>
static void launch_on(fy_run_work *w, const char *name, const L &la, const L &lb, const L &lo)
{
    dim3 grid = grid_for(w, name, lo.numel);
    constexpr auto *kernel = binary<Op, T, L>;
    LAUNCH(kernel, grid, FY_THREADS)
    ((const T *)w->in[0].data, la, wide_number_of<T>(w, 0), (const T *)w->in[1].data, lb, wide_number_of<T>(w, 1),
     (T *)w->out.data, lo);
}

template <typename Op, typename T> static void launch(fy_run_work *w, const char *name)
{
    launch_on<Op, T>(w, name, flat(w->in[0].layout), flat(w->in[1].layout), flat(w->out.layout));
}

namespace {

/* Integers wrap around; of two bool it is "and". */
struct product {
    template <typename T> MEMBER T of(T x, T y)
    {
        if constexpr (is_real<T>) return x * y;
        else return (T)((typename unsigned_of<T>::type)x * y);
    }
};

struct quotient {
    template <typename T> MEMBER T of(T x, T y) { return x / y; }
};

/* Rounded toward minus infinity. fmod is exact, so (x - rest) / y is an integer except for the rounding of the
 * division. An integer divided by 0 gives -1, all bits set. */
struct floor_quotient {
    template <typename T> MEMBER T of(T x, T y)
    {
        if constexpr (is_real<T>) {
            if (y == 0) return x / y;
            T rest = fmod(x, y), q = (x - rest) / y;
            if (rest != 0 && (rest < 0) != (y < 0)) q -= 1;
            if (q == 0) return copysign((T)0, x / y);
            T whole = floor(q);
            return q - whole > (T)0.5 ? whole + 1 : whole;
        } else {
            using U = typename unsigned_of<T>::type;
            if (y == 0) return (T)-1;
            if (y == (T)-1 && is_negative(y)) return (T)(0 - (U)x); /* the smallest by -1 wraps around */
            T q = (T)(x / y);
            return (T)(q - (x % y != 0 && is_negative(x) != is_negative(y)));
        }
    }
};

/* Has the divisor's sign. An integer modulo 0 gives -1. */
struct modulus {
    template <typename T> MEMBER T of(T x, T y)
    {
        if constexpr (is_real<T>) {
            T rest = fmod(x, y);
            return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
        } else {
            if (y == 0) return (T)-1;
            if (y == (T)-1 && is_negative(y)) return 0;
            T rest = (T)(x % y);
            return (T)(rest != 0 && is_negative(rest) != is_negative(y) ? rest + y : rest);
        }
    }
};

/* An integer to a negative power is 1 / x^n truncated: 0, except for 1 and -1. */
struct power {
    template <typename T> MEMBER T of(T x, T y)
    {
        if constexpr (is_real<T>) return pow(x, y);
        else {
            if (is_negative(y)) return (T)(x == 1 ? 1 : x == (T)-1 ? (y % 2 ? -1 : 1) : 0);
            typename unsigned_of<T>::type r = 1, base = x, n = y;
            for (; n; n >>= 1, base = (decltype(base))(base * base))
                if (n & 1) r = (decltype(r))(r * base);
            return (T)r;
        }
    }
};

/* NaN if either is. */
struct larger {
    template <typename T> MEMBER T of(T x, T y) { return x != x || x >= y ? x : y; }
};
struct smaller {
    template <typename T> MEMBER T of(T x, T y) { return x != x || x <= y ? x : y; }
};

/* Gradients: x is that of the result y. */
struct through_threshold {
    template <typename T> MEMBER T of(T x, T y) { return y <= 0 ? (T)0 : x; }
};
struct through_tanh {
    template <typename T> MEMBER T of(T x, T y) { return x * (1 - y * y); }
};
struct through_sigmoid {
    template <typename T> MEMBER T of(T x, T y) { return x * y * (1 - y); }
};

} /* namespace */

template <typename T> static void launch_product(fy_run_work *w, const char *name)
{
    dense all = {w->out.layout.numel};
    if (is_dense(w, 2)) launch_on<product, T>(w, name, all, all, all);
    else launch<product, T>(w, name);
}
LAUNCHER(mul)
{
    FOR_LIST("mul", launch_list<2, product, T>(w, name))
    FOR_ALL("mul", launch_product<T>(w, name))
}
LAUNCHER(div)
{
    FOR_LIST("div", launch_list<2, quotient, T>(w, name))
    FOR_REALS("div", launch<quotient, T>(w, name))
}
LAUNCHER(floor_divide)
{
    FOR_NUMBERS("floor_divide", launch<floor_quotient, T>(w, name))
}
LAUNCHER(remainder)
{
    FOR_NUMBERS("remainder", launch<modulus, T>(w, name))
}
LAUNCHER(pow)
{
    FOR_NUMBERS("pow", launch<power, T>(w, name))
}
LAUNCHER(maximum)
{
    FOR_LIST("maximum", launch_list<2, larger, T>(w, name))
    FOR_ALL("maximum", launch<larger, T>(w, name))
}
LAUNCHER(minimum)
{
    FOR_ALL("minimum", launch<smaller, T>(w, name))
}
LAUNCHER(clamp_min)
{
    FOR_NUMBERS("clamp_min", launch<larger, T>(w, name))
}
LAUNCHER(clamp_max)
{
    FOR_NUMBERS("clamp_max", launch<smaller, T>(w, name))
}
LAUNCHER(threshold_backward)
{
    FOR_NUMBERS("threshold_backward", launch<through_threshold, T>(w, name))
}
LAUNCHER(tanh_backward)
{
    FOR_REALS("tanh_backward", launch<through_tanh, T>(w, name))
}
LAUNCHER(sigmoid_backward)
{
    FOR_REALS("sigmoid_backward", launch<through_sigmoid, T>(w, name))
}
