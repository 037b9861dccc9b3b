/* unary.cu: unary elementwise functions. */
#include "kernel.h"
#include "list.h"

template <typename Op, typename T, typename R>
__global__ void unary(const T *a, fy_layout_arg la, T a_number, R *out, fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) put(&out[at(lo, i)], Op::of(wide(element(a, la, a_number, i))));
}

template <typename Op, typename T, typename R = T> static void launch(fy_run_work *w, const char *name)
{
    fy_operand *a = &w->in[0], *out = &w->out;
    dim3 grid = grid_for(w, name, out->layout.numel);
    constexpr auto *kernel = unary<Op, T, R>;
    LAUNCH(kernel, grid, FY_THREADS)
    ((const T *)a->data, flat(a->layout), number_of<T>(w, 0), (R *)out->data, flat(out->layout));
}

/* A function called `op`_of of an element x of type T. */
#define FUNCTION(op, ...) \
    struct op##_of { \
        template <typename T> MEMBER auto of(T x) { __VA_ARGS__; } \
    };

namespace {

FUNCTION(neg, return (T)(0 - (typename unsigned_of<T>::type)x))
FUNCTION(minus, return -x) /* a float's: of 0 it is -0 */
FUNCTION(abs, return (T)(is_negative(x) ? 0 - (typename unsigned_of<T>::type)x : x))
FUNCTION(magnitude, return fabs(x))
FUNCTION(sign, return (T)((0 < x) - is_negative(x))) /* of NaN: 0 */
FUNCTION(relu, return is_negative(x) ? (T)0 : x)       /* of NaN: NaN */
FUNCTION(same, return x)
FUNCTION(floor, return floor(x))
FUNCTION(ceil, return ceil(x))
FUNCTION(round, return rint(x)) /* halves to even */
FUNCTION(exp, return exp(x))
FUNCTION(log, return log(x))
FUNCTION(sqrt, return sqrt(x))
FUNCTION(sin, return sin(x))
FUNCTION(cos, return cos(x))
FUNCTION(tanh, return tanh(x))
FUNCTION(sigmoid, return 1 / (1 + exp(-x)))
FUNCTION(logical_not, return x == 0)
FUNCTION(isnan, return x != x)

} /* namespace */

LAUNCHER(sign)
{
    FOR_NUMBERS("sign", launch<sign_of, T>(w, name))
    FOR_TYPE(FY_BOOL, bool, "sign_bool", launch<same_of, T>(w, name))
}
LAUNCHER(relu) { FOR_NUMBERS("relu", launch<relu_of, T>(w, name)) }
LAUNCHER(isnan) { FOR_ALL("isnan", launch<isnan_of, T, bool>(w, name)) }
LAUNCHER(logical_not) { FOR_ALL("logical_not", launch<logical_not_of, T, bool>(w, name)) }

/* One function for floats, one for integers. */
#define TWO_FUNCTIONS(op, of_reals, of_integers) \
    LAUNCHER(op) \
    { \
        FOR_REALS(#op, launch<of_reals, T>(w, name)) \
        FOR_INTEGERS(#op, launch<of_integers, T>(w, name)) \
    }
TWO_FUNCTIONS(neg, minus_of, neg_of)
TWO_FUNCTIONS(abs, magnitude_of, abs_of)
TWO_FUNCTIONS(floor, floor_of, same_of)
TWO_FUNCTIONS(ceil, ceil_of, same_of)
TWO_FUNCTIONS(round, round_of, same_of)

#define OF_REALS(op) \
    LAUNCHER(op) { FOR_REALS(#op, launch<op##_of, T>(w, name)) }
OF_REALS(exp)
OF_REALS(log)
LAUNCHER(sqrt)
{
    FOR_LIST("sqrt", launch_list<1, sqrt_of, T>(w, name))
    FOR_REALS("sqrt", launch<sqrt_of, T>(w, name))
}
OF_REALS(sin)
OF_REALS(cos)
OF_REALS(tanh)
OF_REALS(sigmoid)
