/* reduce.cu: prod, mean, max, min, argmax, argmin, any and all: their folds. reduce.h divides the elements among
 * threads. */
#include "reduce.h"

template <typename T> struct prod_fold {
    using element = T;
    using number = total<T>;
    using part = total<T>;
    __device__ part start() { return 1; }
    __device__ void add(part &p, number x, int64_t) { p = product_of(p, x); }
    __device__ void join(part &p, part other) { p = product_of(p, other); }
    __device__ void finish(part p, T *out, double) { put_total(out, p); }
};

template <typename T> struct mean_fold {
    using element = T;
    using number = total<T>;
    using part = total<T>;
    __device__ part start() { return 0; }
    __device__ void add(part &p, number x, int64_t) { p += x; }
    __device__ void join(part &p, part other) { p += other; }
    __device__ void finish(part p, T *out, double n) { put_total(out, p / (total<T>)n); }
};

template <typename W> __device__ inline bool is_nan(W x)
{
    return x != x;
}

/* Is x more extreme than best? A NaN is more extreme than all numbers. */
template <bool largest, typename W> __device__ inline bool surpasses(W x, W best)
{
    if (is_nan(best)) return false;
    return is_nan(x) || (largest ? x > best : x < best);
}

/* The extreme value and its index; of equal values the first. No element yet: place is -1. */
template <typename W> struct found {
    W best;
    int64_t place;
};

template <typename T, bool largest> struct find_fold {
    using element = T;
    using number = total<T>;
    using part = found<total<T>>;
    __device__ part start() { return part{0, -1}; }
    __device__ void add(part &p, number x, int64_t place) { join(p, part{x, place}); }
    __device__ void join(part &p, const part &other)
    {
        if (other.place < 0) return;
        bool first = p.place < 0 || other.place < p.place; /* of equals, and of NaNs */
        bool equal = p.best == other.best || (is_nan(p.best) && is_nan(other.best));
        if (p.place < 0 || (equal ? first : surpasses<largest>(other.best, p.best))) p = other;
    }
    __device__ void finish(const part &p, T *out, double) { put_total(out, p.best); }
};

template <typename T, bool largest> struct place_fold : find_fold<T, largest> {
    __device__ void finish(const found<total<T>> &p, int64_t *out, double) { *out = p.place; }
};

/* any: is an element nonzero?  all: are all elements nonzero? */
template <typename T, bool all> struct truth_fold {
    using element = T;
    using number = total<T>;
    using part = bool;
    __device__ part start() { return all; }
    __device__ void add(part &p, number x, int64_t) { join(p, x != 0); }
    __device__ void join(part &p, part other) { p = all ? p && other : p || other; }
    __device__ void finish(part p, uint8_t *out, double) { *out = p; }
};

#define REDUCTION(op, types, R, ...) \
    LAUNCHER(op) \
    { \
        types(#op, launch_reduction<__VA_ARGS__, R>(w, name)) \
    }
REDUCTION(prod, FOR_ALL, T, prod_fold<T>)
REDUCTION(mean, FOR_REALS, T, mean_fold<T>)
REDUCTION(max, FOR_ALL, T, find_fold<T, true>)
REDUCTION(min, FOR_ALL, T, find_fold<T, false>)
REDUCTION(argmax, FOR_NUMBERS, int64_t, place_fold<T, true>)
REDUCTION(argmin, FOR_NUMBERS, int64_t, place_fold<T, false>)
REDUCTION(any, FOR_ALL, uint8_t, truth_fold<T, false>)
REDUCTION(all, FOR_ALL, uint8_t, truth_fold<T, true>)
