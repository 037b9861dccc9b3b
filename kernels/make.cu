/* make.cu: tensors from numbers: fill, arange, linspace and eye. */
#include "kernel.h"

template <typename T> __global__ void fill(T value, T *out, fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) out[at(lo, i)] = value;
}

LAUNCHER(fill)
{
    dim3 grid = grid_for(w, NULL, w->out.layout.numel);
    FOR_ALL("fill", w->kernel = name;
            LAUNCH(fill<T>, grid, FY_THREADS)(number_of<T>(w, FY_FILL_value), (T *)w->out.data, flat(w->out.layout)))
}

/* ---- one number after another ---------------------------------------------------------------------- */

/* a + b * c, rounded twice, as on the host; nvcc would round once. */
__device__ inline float plus_product(float a, float b, float c)
{
    return __fadd_rn(a, __fmul_rn(b, c));
}
__device__ inline double plus_product(double a, double b, double c)
{
    return __dadd_rn(a, __dmul_rn(b, c));
}

/* A real number as an element; truncated for integers. */
__device__ inline void put_real(fy_half *to, double x)
{
    *to = fy_half_of(x);
}
__device__ inline void put_real(fy_bfloat *to, double x)
{
    *to = fy_bfloat_of(x);
}
template <typename T> __device__ inline void put_real(T *to, double x)
{
    *to = is_real<T> ? (T)x : (T)fy_to_int64(x);
}

/* start + i * step, a float's computed in double and rounded once. */
template <typename T> __global__ void arange_reals(double start, double step, T *out, fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) put_real(&out[at(lo, i)], plus_product(start, (double)i, step));
}

/* i * step may wrap around; the sum is in range. */
template <typename T> __global__ void arange_integers(uint64_t start, uint64_t step, T *out, fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) out[at(lo, i)] = (T)(start + (uint64_t)i * step);
}

LAUNCHER(arange)
{
    dim3 grid = grid_for(w, NULL, w->out.layout.numel);
    FOR_REALS("arange", w->kernel = name;
              LAUNCH(arange_reals<T>, grid, FY_THREADS)(w->real[FY_ARANGE_start], w->real[FY_ARANGE_step], (T *)w->out.data, flat(w->out.layout)))
    FOR_INTEGERS("arange", w->kernel = name;
                 LAUNCH(arange_integers<T>, grid, FY_THREADS)((uint64_t)w->integer[FY_ARANGE_start], (uint64_t)w->integer[FY_ARANGE_step],
                                                              (T *)w->out.data, flat(w->out.layout)))
}

__device__ inline float fused(float a, float b, float c)
{
    return fmaf(a, b, c);
}
__device__ inline double fused(double a, double b, double c)
{
    return fma(a, b, c);
}

/* The first half is computed from the start, the second from the end, so that both ends are exact. Floats are rounded
 * as on the host, which computes `lanes` of them from the first. W: the type of the step. */
template <typename T, typename W, int lanes> __global__ void linspace(W start, W end, W step, T *out, fy_layout_arg lo)
{
    int64_t i = thread_number(), n = lo.numel, in_vectors = n / (2 * lanes) * (2 * lanes);
    if (i >= n) return;
    int64_t first = i < in_vectors ? i / lanes * lanes : i;
    W base = first < n / 2 ? fused(step, (W)first, start) : fused(-step, (W)(n - 1 - first), end);
    put_real(&out[at(lo, i)], plus_product(base, step, (W)(i - first)));
}

/* The type of the step: double for integers; for floats the type that they are computed in. */
template <typename T, bool real = is_real<T>> struct step_of {
    using type = double;
};
template <typename T> struct step_of<T, true> {
    using type = wide_of<T>;
};

template <typename T> static void launch_linspace(fy_run_work *w, dim3 grid, const char *name)
{
    using W = typename step_of<T>::type;
    T first = number_of<T>(w, FY_LINSPACE_start), step;
    T last = w->out.layout.numel == 1 ? first : number_of<T>(w, FY_LINSPACE_end);
    W start = (W)wide(first), end = (W)wide(last), way = end - start;
    if (w->out.layout.numel > 1) way /= (W)(w->out.layout.numel - 1);
    set_number(&step, (double)way, 0);
    w->kernel = name;
    constexpr auto *kernel = linspace<T, W, sizeof(T) == 4 && is_real<T> ? 8 : sizeof(T) == 8 && is_real<T> ? 4 : 1>;
    LAUNCH(kernel, grid, FY_THREADS)
    (start, end, is_real<T> ? (W)wide(step) : way, (T *)w->out.data, flat(w->out.layout));
}

LAUNCHER(linspace)
{
    dim3 grid = grid_for(w, NULL, w->out.layout.numel);
    FOR_NUMBERS("linspace", launch_linspace<T>(w, grid, name))
}

/* ---- eye: 1 on the diagonal ------------------------------------------------------------------------ */

template <typename T> __global__ void eye(T one, T *out, fy_layout_arg lo)
{
    int64_t i = thread_number();
    if (i < lo.numel) out[at(lo, i)] = i / lo.shape[1] == i % lo.shape[1] ? one : T();
}

LAUNCHER(eye)
{
    dim3 grid = grid_for(w, NULL, w->out.layout.numel);
    FOR_ALL("eye", w->kernel = name; T one; set_number(&one, 1, 1);
            LAUNCH(eye<T>, grid, FY_THREADS)(one, (T *)w->out.data, w->out.layout))
}
