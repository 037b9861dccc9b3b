/* fuzz_test.c: random programs (fuzzer/fuzz.c) violate no invariant. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmocka.h>

/* Programs are several times slower under sanitizers. */
#if defined(__SANITIZE_THREAD__)
enum { FEW = 300, MANY = 2000 };
#elif defined(__SANITIZE_ADDRESS__)
enum { FEW = 1000, MANY = 10000 };
#else
enum { FEW = 12000, MANY = 200000 };
#endif

static void random_programs_keep_the_laws(void **state)
{
    char command[600];
    const char *build = getenv("B"), *length = getenv("LONG");
    (void)state;
    snprintf(command, sizeof command, "%s/tests/fuzz --programs %d 2>&1", build ? build : "build",
             length && *length ? MANY : FEW);
    int status = system(command);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("'%s' ended with status %d", command, status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_keep_the_laws)};
    return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
