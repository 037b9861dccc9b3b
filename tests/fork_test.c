/* Who may use the card after a fork: the child, if its parent had not; else it is told why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ferry.h"

static int status_of(bool (*f)(void))
{
    int status;
    pid_t child = fork();
    if (!child) _exit(f() ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool computes(void)
{
    fy_tensor *x = fy_to(fy_add(fy_ones((3), .device = "cuda"), 1), "cpu");
    return x && fy_item(fy_sum(x)) == 6;
}

static bool is_told_why_not(void)
{
    const char *said = fy_ones((3), .device = "cuda") ? NULL : fy_error();
    return said && strstr(said, "Cannot re-initialize CUDA in forked subprocess") && !strstr(said, "out of memory");
}

static void a_child_uses_a_card_that_its_parent_did_not(void **state)
{
    (void)state;
    assert_true(fy_cuda_is_available()); /* opens it; no more */
    assert_int_equal(status_of(computes), 0);
    assert_int_equal(status_of(computes), 0);
}

static void a_child_is_told_that_the_card_is_its_parents(void **state)
{
    (void)state;
    assert_true(computes());
    assert_int_equal(status_of(is_told_why_not), 0);
    assert_true(computes());
}

static int returning(void **state)
{
    (void)state;
    fy_on_error(FY_RETURN);
    return setenv("FERRY_GPU", "sim", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_uses_a_card_that_its_parent_did_not),
        cmocka_unit_test(a_child_is_told_that_the_card_is_its_parents),
    };
    return cmocka_run_group_tests_name("fork", tests, returning, NULL);
}
