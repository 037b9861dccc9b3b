/* element.c: see element.h. */
#include "element.h"

rounding rounding_to(fy_word dtype)
{
    const double least_single = 0x1p-126, least_half = 0x1p-14;
    switch (dtype) {
    case FY_WORD_float64: return (rounding){dtype, 0x1p-52, least_single, 1e300};
    case FY_WORD_float32: return (rounding){dtype, 0x1p-23, least_single, 3e38};
    case FY_WORD_float16: return (rounding){dtype, 0x1p-10, least_half, 65000};
    case FY_WORD_bfloat16: return (rounding){dtype, 0x1p-7, least_single, 3e38};
    case FY_WORD_int64: return (rounding){dtype, 0, 0, 0x1p53};
    case FY_WORD_int32: return (rounding){dtype, 0, 0, 0x1p31 - 1};
    case FY_WORD_uint8: return (rounding){dtype, 0, 0, 255};
    case FY_WORD_bool: return (rounding){dtype, 0, 0, 1};
    default: return (rounding){.dtype = dtype};
    }
}

double largest_partial_sum(fy_word dtype)
{
    const rounding to = rounding_to(dtype);
    return to.epsilon <= 0 ? 0x1p53 : dtype == FY_WORD_float64 ? to.largest : 3e38;
}

bool element_allows(element e, double claimed, const rounding *dtype)
{
    if (!element_is_known(e)) return true;
    return fabs(claimed - e.is) <= 2 * (e.within + dtype->epsilon * fabs(e.is)) + dtype->smallest; /* false for NaN */
}
