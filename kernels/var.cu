/* var.cu: the variance over some dimensions, in one pass: a part holds the number of elements, their mean, and the sum
 * of their squared distances from it (Welford, 1962); parts are joined as in Chan, Golub and LeVeque (1979). Summing
 * the squares of the elements themselves would lose a small variance about a large mean to rounding. */
#include "reduce.h"

template <typename W> struct moments {
    int64_t n;
    W mean, squares;
};

template <typename T> struct var_fold {
    using element = T;
    using number = total<T>;
    using part = moments<total<T>>;
    __device__ part start() { return part{0, 0, 0}; }
    __device__ void add(part &p, number x, int64_t)
    {
        number distance = x - p.mean;
        p.n++;
        p.mean += distance / (number)p.n;
        p.squares += distance * (x - p.mean);
    }
    __device__ void join(part &p, const part &other)
    {
        if (other.n == 0) return;
        if (p.n == 0) p = part{0, other.mean, 0};
        number distance = other.mean - p.mean, share = (number)other.n / (number)(p.n + other.n);
        p.mean += distance * share;
        p.squares += other.squares + distance * distance * (number)p.n * share;
        p.n += other.n;
    }
    /* NaN (0 / 0) for one element with the correction of 1. */
    __device__ void finish(const part &p, T *out, double n) { put(out, p.squares / (number)(n > 0 ? n : 0)); }
};

LAUNCHER(var)
{
    FOR_REALS("var", launch_reduction<var_fold<T>, T>(w, name, w->real[FY_VAR_correction]))
}
