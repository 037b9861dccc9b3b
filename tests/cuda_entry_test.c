/* The entry point of libferry-cuda.so (lib/devices/cuda_entry.c): the version check, and what it hands out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define fy_clock_now now_inside
#define fy_log_is_on log_inside
#define fy_dev_at dev_inside
#define fy_fault_location fault_inside
#include "clock.h"
#include "cuda_library.h"
#include "device.h"
#include "event.h"
#include "../lib/devices/cuda_entry.c"

const fy_backend fy_backend_cuda = {.kind = "real"};

static fy_dev some;
static int64_t now_outside(void) { return 7; }
static bool log_outside(void) { return true; }
static fy_dev *dev_outside(int number) { return number == 3 ? &some : NULL; }

static struct fy_device_fault fault;
static struct fy_device_fault *fault_outside(void) { return &fault; }

static fy_cuda_host from_outside(void)
{
    return (fy_cuda_host){FERRY_VERSION, fy_cuda_layout(), now_outside, log_outside, dev_outside, fault_outside};
}

static void a_program_of_the_same_build_gets_the_back_end(void **state)
{
    (void)state;
    fy_cuda_host own = from_outside();
    assert_ptr_equal(fy_cuda_open_library(&own), &fy_backend_cuda);
    assert_true(now_inside() == 7 && log_inside() && dev_inside(3) == &some && !dev_inside(0));
    assert_ptr_equal(&fy_fault, &fault); /* a failed call leaves its reason in the caller's fault */
}

/* Its structures have another layout. */
static void a_program_of_another_build_gets_none(void **state)
{
    (void)state;
    fy_cuda_host later = from_outside(), changed = from_outside();
    strcpy(later.version, FERRY_VERSION ".1");
    changed.layout++;
    assert_null(fy_cuda_open_library(&later));
    assert_null(fy_cuda_open_library(&changed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_of_the_same_build_gets_the_back_end),
        cmocka_unit_test(a_program_of_another_build_gets_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
