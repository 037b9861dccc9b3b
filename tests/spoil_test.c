/* cuda ops run only kernels, and CPU ops never do: this program replaces kernels/table.cu with a wrong kernel for add
 * and counts its launches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel_table.h"
#include "op.h"
#include "run_work.h"

void fy_sim_launch_add(fy_run_work *w); /* the real one */
void fy_sim_launch_fill(fy_run_work *w);
void fy_sim_launch_sum(fy_run_work *w);

static int launches;

static void spoiled_add(fy_run_work *w)
{
    launches++;
    fy_sim_launch_add(w);
    for (int64_t i = 0; i < w->out.layout.numel; i++) ((float *)w->out.data)[i] += 1;
}

static void counted_fill(fy_run_work *w) { launches++, fy_sim_launch_fill(w); }
static void counted_sum(fy_run_work *w) { launches++, fy_sim_launch_sum(w); }

const fy_kernel *fy_sim_kernel(int op)
{
    static const fy_kernel kernels[] = {
        {FY_OP_add, spoiled_add},
        {FY_OP_fill, counted_fill},
        {FY_OP_sum, counted_sum},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i].op == op) return &kernels[i];
    return NULL;
}

static double two_and_three(const char *device)
{
    launches = 0;
    fy_tensor *a = fy_full((10), 2.0, .device = device), *b = fy_full((10), 3.0, .device = device);
    return fy_item(fy_sum(fy_add(a, b)));
}

static void a_spoiled_kernel_spoils_cuda(void **state)
{
    (void)state;
    assert_true(two_and_three("cuda") == 60);
    assert_int_equal(launches, 8); /* once at the launch, for its grid, and once at execution */
}

static void and_never_the_cpu(void **state)
{
    (void)state;
    assert_true(two_and_three("cpu") == 50);
    assert_int_equal(launches, 0);
}

static void an_op_without_a_kernel_fails_without_host_fallback(void **state)
{
    (void)state;
    fy_on_error(FY_RETURN);
    assert_null(fy_mul(fy_ones((3), .device = "cuda"), 2.0));
    assert_non_null(fy_error());
    assert_non_null(strstr(fy_error(), "there is no kernel for mul"));
    fy_clear_error();
    fy_on_error(FY_EXIT);
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spoiled_kernel_spoils_cuda),
        cmocka_unit_test(and_never_the_cpu),
        cmocka_unit_test(an_op_without_a_kernel_fails_without_host_fallback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
