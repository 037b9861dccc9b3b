/* series.c: are linspace and arange on the card those of the CPU, to the bit? Linked with kernels that the compiler may
 * fuse (tests/rounding_test.sh). Prints what differs; exit status 1 if anything does. */
#include <stdio.h>
#include <string.h>

#include <ferry.h>

#include "dtype.h"

static int wrong;

static void compare(const char *what, double from, double to, fy_tensor *on_card, fy_tensor *on_cpu)
{
    fy_tensor *home = fy_cpu(on_card);
    const char *a = fy_data(home), *b = fy_data(on_cpu);
    size_t size = fy_dtype_size(fy_dtype_of(on_cpu)), bad = 0, n = (size_t)fy_numel(on_cpu);
    for (size_t i = 0; i < n; i++) bad += memcmp(a + i * size, b + i * size, size) != 0;
    if (bad)
        printf("%s of %s, %g, %g: %zu of %zu elements differ\n", what, fy_dtype_name(fy_dtype_of(on_cpu)), from, to,
               bad, n);
    wrong += bad != 0;
}

int main(void)
{
    static const fy_dtype dtypes[] = {FY_FLOAT32, FY_FLOAT64, FY_FLOAT16, FY_BFLOAT16, FY_INT64};
    static const double ends[][3] = {{0, 1, 1001}, {-3.7, 12.9, 997}, {0.1, 0.7, 64}, {1e-3, 1e3, 4099}, {5, -5, 333}};
    for (int d = 0; d < 5; d++)
        for (int i = 0; i < 5; i++) FY_SCOPE
            {
                double from = ends[i][0], to = ends[i][1], step = (to - from) / ends[i][2];
                int n = (int)ends[i][2];
                compare("linspace", from, to, fy_linspace((from, to, n), .dtype = dtypes[d], .device = "cuda"),
                        fy_linspace((from, to, n), .dtype = dtypes[d]));
                if (dtypes[d] == FY_INT64) continue;
                compare("arange", from, to, fy_arange((from, to, step), .dtype = dtypes[d], .device = "cuda"),
                        fy_arange((from, to, step), .dtype = dtypes[d]));
            }
    return wrong != 0;
}
