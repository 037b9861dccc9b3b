/* element.h: an element that the grader computed again: its value, with a bound of what rounding may have made of it. */
#ifndef FERRY_ELEMENT_H
#define FERRY_ELEMENT_H

#include <math.h>

#include "event.h"

/* The value and the most that the real one may differ from it; INFINITY: unknown. */
typedef struct element {
    double is, within;
} element;

/* A tensor's elements, row-major. */
typedef struct array {
    element *at;
    int64_t count, shape[8];
    int ndim;
    fy_word dtype;
} array;

static const element unknown_element = {0, INFINITY};
static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline bool element_is_known(element e) { return isfinite(e.is) && isfinite(e.within); }

/* How a dtype rounds. */
typedef struct rounding {
    fy_word dtype;
    double epsilon;  /* the largest relative error; 0: integers, which are exact */
    double smallest; /* what is lost near zero: subnormal numbers may be flushed */
    double largest;  /* beyond it a float overflows, an integer wraps around or is not exact in the log's doubles */
} rounding;

rounding rounding_to(fy_word dtype);
/* The largest sum on the way to an element: it has more room than a 16-bit float. */
double largest_partial_sum(fy_word dtype);

/* The element as the dtype holds it. */
static inline element rounded(element e, const rounding *to)
{
    if (!element_is_known(e) || fabs(e.is) + e.within > to->largest) return unknown_element;
    if (to->epsilon > 0) {
        e.within += to->epsilon * (fabs(e.is) + e.within) + to->smallest;
        return e;
    }
    if (to->dtype == FY_WORD_bool)
        return fabs(e.is) > e.within || e.within == 0 ? (element){e.is != 0, 0} : unknown_element;
    double whole = trunc(e.is);
    bool is_sure = e.within == 0 || (trunc(e.is - e.within) == whole && trunc(e.is + e.within) == whole);
    if (to->dtype == FY_WORD_uint8 && whole < 0) is_sure = false;
    return is_sure ? (element){whole, 0} : unknown_element;
}

/* May the claimed value be this element? An unknown one may be anything. */
bool element_allows(element e, double claimed, const rounding *dtype);

#endif
