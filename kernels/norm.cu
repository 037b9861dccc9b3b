/* norm.cu: the p-norm over some dimensions: sum(|x|^p)^(1/p). For p = infinity the largest |x|, for minus infinity the
 * smallest, for 0 the number of nonzero elements. */
#include "reduce.h"

namespace {

template <typename T> struct norm_fold {
    using element = T;
    using number = total<T>;
    using part = total<T>;
    number p;
    METHOD part start() { return p == (number)-INFINITY ? (part)INFINITY : 0; }
    METHOD void add(part &so_far, number x, int64_t)
    {
        number size = fabs(x);
        join(so_far, p == 2 ? size * size : p == 0 ? (number)(x != 0) : p == 1 || isinf(p) ? size : pow(size, p));
    }
    METHOD void join(part &so_far, part other)
    {
        bool nan = other != other;
        if (p == (number)INFINITY) so_far = nan || other > so_far ? other : so_far;
        else if (p == (number)-INFINITY) so_far = nan || other < so_far ? other : so_far;
        else so_far += other;
    }
    METHOD void finish(part all, T *out, double)
    {
        put(out, p == 2 ? sqrt(all) : p == 0 || p == 1 || isinf(p) ? all : pow(all, 1 / p));
    }
};

} /* namespace */

LAUNCHER(norm)
{
    FOR_REALS("norm", launch_reduction<norm_fold<T>, T>(w, name, 0, norm_fold<T>{(total<T>)w->real[FY_NORM_p]}))
}
