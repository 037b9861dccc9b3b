/* mul.cu: out = a * b, element by element. A broadcast operand has strides of 0; an operand without
 * data is a number. */
#include "kernel.h"

template <typename T>
__global__ void mul(const T *a, fy_layout la, T a_number, const T *b, fy_layout lb, T b_number, T *out, fy_layout lo)
{
    int64_t i = thread_number();
    if (i >= lo.numel) return;
    out[at(lo, i)] = element(a, la, a_number, i) * element(b, lb, b_number, i);
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    fy_operand *a = &w->in[0], *b = &w->in[1], *out = &w->out;
    if (out->layout.numel == 0) return;
    dim3 grid = grid_for(w, name, out->layout.numel);
    T a_number, b_number;
    number_of(w, 0, &a_number);
    number_of(w, 1, &b_number);
    LAUNCH(mul<T>, grid, FY_THREADS)
    ((const T *)a->data, flat(a->layout), a_number, (const T *)b->data, flat(b->layout), b_number, (T *)out->data,
     flat(out->layout));
}

LAUNCHER(mul_f32) { launch<float>(w, "mul_f32"); }
LAUNCHER(mul_i64) { launch<int64_t>(w, "mul_i64"); }
