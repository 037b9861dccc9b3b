/* compare.cu: what asks something of two operands, element by element; the answer is bool. */
#include "kernel.h"

template <typename Op, typename T>
__global__ void compare(const T *a, fy_layout la, T a_number, const T *b, fy_layout lb, T b_number, bool *out,
                        fy_layout lo)
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
