/* ternary.cu: the ops of three operands, element by element. An operand without data is a number. */
#include "kernel.h"

/* A: the first operand's type, where it is not the others'. */
template <typename Op, typename A, typename T>
__global__ void ternary(const A *a, fy_layout la, A a_number, const T *b, fy_layout lb, T b_number, const T *c,
                        fy_layout lc, T c_number, T *out, fy_layout lo)
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
