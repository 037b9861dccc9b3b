/* values.c: see values.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "values.h"

void assert_values(fy_tensor *x, size_t n, const double *expected, double part, int line)
{
    fy_tensor *on_host = x ? fy_contiguous(fy_cpu(x)) : NULL;
    if (!on_host || fy_numel(on_host) != (int64_t)n) fail_msg("line %d: not %zu elements", line, n);
    for (size_t i = 0; on_host && i < n; i++) {
        double got = fy_real_at(fy_dtype_of(on_host), fy_data(on_host), (int64_t)i), want = expected[i];
        if ((isnan(got) && isnan(want)) || got == want || fabs(got - want) <= part * fabs(want)) continue;
        fail_msg("line %d, %s: element %zu is %.17g, not %.17g", line, fy_device(x), i, got, want);
    }
}
