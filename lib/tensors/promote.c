/* promote.c: PyTorch's type promotion.
 *
 * Operands are of three classes: tensors with dimensions, 0-dim tensors, and numbers. Within a class the table decides;
 * a lower class counts only if its category (bool < integer < float) is higher. */
#include "dtype.h"
#include "frame.h"
#include "tensor.h"

/* Integers by width; any float ranks above any integer. float16 with bfloat16 gives float32. */
fy_dtype fy_promote_types(fy_dtype a, fy_dtype b)
{
    static const int rank[] = {[FY_BOOL] = 1,    [FY_UINT8] = 2,    [FY_INT32] = 3,   [FY_INT64] = 4,
                               [FY_FLOAT16] = 5, [FY_BFLOAT16] = 6, [FY_FLOAT32] = 7, [FY_FLOAT64] = 8};
    if (a == FY_DTYPE_UNSET) return b;
    if (b == FY_DTYPE_UNSET || a == b) return a;
    if (rank[a] + rank[b] == rank[FY_FLOAT16] + rank[FY_BFLOAT16] && rank[a] > 4 && rank[b] > 4) return FY_FLOAT32;
    return rank[a] > rank[b] ? a : b;
}

bool fy_can_cast(fy_dtype from, fy_dtype to) { return fy_dtype_category(from) <= fy_dtype_category(to); }

static void join(fy_dtype *dtype, fy_dtype with) { *dtype = fy_promote_types(*dtype, with); }

static fy_dtype combined(fy_dtype higher, fy_dtype lower)
{
    return fy_dtype_category(lower) > fy_dtype_category(higher) ? fy_promote_types(higher, lower) : higher;
}

fy_dtype fy_result_of(int n, const fy_arg *x)
{
    fy_dtype dims = FY_DTYPE_UNSET, zero = FY_DTYPE_UNSET, numbers = FY_DTYPE_UNSET;
    for (int i = 0; i < n; i++) {
        if (!x[i].is_tensor) join(&numbers, x[i].is_bool ? FY_BOOL : x[i].is_int ? FY_INT64 : FY_FLOAT32);
        else if (x[i].tensor->ndim == 0) join(&zero, x[i].tensor->dtype);
        else join(&dims, x[i].tensor->dtype);
    }
    return combined(combined(dims, zero), numbers);
}

fy_dtype fy_result_type_at(fy_site *at, fy_arg a, fy_arg b)
{
    FY_CALL(at);
    fy_arg x[] = {a, b};
    for (int i = 0; i < 2; i++)
        if (x[i].is_tensor ? !fy_check(at, i, x[i].tensor) : !fy_number_ok(at, &x[i])) return FY_DTYPE_UNSET;
    return fy_result_of(2, x);
}
