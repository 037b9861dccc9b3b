/* fork and exit while other threads use Ferry; and who may use the card after a fork: the child if its parent had not,
 * else it gets an error. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ferry.h"
#include "forked.h"

static int status_of(bool (*f)(void))
{
    pid_t child = fork();
    if (!child) _exit(f() ? 0 : 1);
    return status_of_child(child);
}

static bool computes(void)
{
    fy_tensor *x = fy_to(fy_add(fy_ones((3), .device = "cuda"), 1), "cpu");
    return x && fy_item(fy_sum(x)) == 6;
}

static bool fails_with_fork_error(void)
{
    const char *error = fy_ones((3), .device = "cuda") ? NULL : fy_error();
    return error && strstr(error, "Cannot re-initialize CUDA in forked subprocess") && !strstr(error, "out of memory");
}

static void a_child_uses_a_card_that_its_parent_did_not(void **state)
{
    (void)state;
    assert_true(fy_cuda_is_available()); /* only opens it */
    assert_int_equal(status_of(computes), 0);
    assert_int_equal(status_of(computes), 0);
}

static void a_child_gets_an_error_if_its_parent_used_cuda(void **state)
{
    (void)state;
    assert_true(computes());
    assert_int_equal(status_of(fails_with_fork_error), 0);
    assert_true(computes());
}

/* ---- with other threads running ---- */

static void *multiplies(void *unused)
{
    (void)unused;
    fy_tensor *x = fy_ones((256, 256)); /* large enough for several threads of OpenBLAS */
    for (;;) FY_SCOPE fy_matmul(x, x);
    return NULL;
}

static void start_three(void *(*body)(void *))
{
    pthread_t t;
    for (int i = 0; i < 3; i++) pthread_create(&t, NULL, body, NULL);
    usleep(5000);
}

/* The simulated card uses OpenBLAS, too. */
static void *multiplies_on_a_card(void *unused)
{
    (void)unused;
    fy_tensor *x = fy_ones((256, 256), .device = "cuda");
    for (;;) FY_SCOPE fy_cpu(fy_matmul(x, x));
    return NULL;
}

static bool exits_while_cards_multiply(void)
{
    start_three(multiplies_on_a_card);
    exit(0);
}

static bool exits_while_others_multiply(void)
{
    start_three(multiplies);
    exit(0);
}

/* Not under ASan: another thread may hold its allocator's lock at the fork. */
#ifndef __SANITIZE_ADDRESS__
static bool makes_a_tensor(void) { return fy_item(fy_sum(fy_add(fy_rand((4)), 1))) > 4; }

/* Takes the locks of handles, storages, names and random numbers. */
static void *makes_tensors(void *unused)
{
    (void)unused;
    for (;;) FY_SCOPE fy_rand((1));
    return NULL;
}

static bool forks_while_others_multiply(void)
{
    start_three(multiplies);
    for (int i = 0; i < 5; i++)
        if (status_of(makes_a_tensor)) return false;
    return true; /* and exits without the exit handlers */
}

static bool forks_while_others_make_tensors(void)
{
    start_three(makes_tensors);
    for (int i = 0; i < 100; i++)
        if (status_of(makes_a_tensor)) return false;
    return true;
}

static void a_fork_ends_while_other_threads_multiply(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) assert_int_equal(status_of(forks_while_others_multiply), 0);
}

static void a_child_finds_no_lock_held_by_a_missing_thread(void **state)
{
    (void)state;
    assert_int_equal(status_of(forks_while_others_make_tensors), 0);
}
#endif

static void an_exit_ends_while_other_threads_multiply(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) assert_int_equal(status_of(exits_while_others_multiply), 0);
    for (int i = 0; i < 10; i++) assert_int_equal(status_of(exits_while_cards_multiply), 0);
}

/* ---- a loop over a data loader ---- */

static void read_item(void *self, int64_t index, fy_tensor **item)
{
    (void)self;
    item[0] = fy_add(fy_full((64), index), 1);
}

static fy_dataloader *three_workers(void)
{
    return fy_dataloader(fy_dataset(.len = 24, .get = read_item), .batch_size = 2, .num_workers = 3);
}

/* The child has the batch, and loaders of its own, but not its parent's workers. */
static bool forks_in_a_loop(void)
{
    int n = 0, status = 0;
    FY_EACH (batch, three_workers()) {
        pid_t child = n++ == 2 ? fork() : -1;
        if (child > 0) waitpid(child, &status, 0);
        if (child != 0) continue;
        if (fy_item(fy_sum(batch[0])) != 64 * 11) _exit(1);
#if defined(__SANITIZE_THREAD__) /* knows no threads that a child starts */
        n += 12;
#else
        FY_EACH (other, three_workers()) n++;
#endif
    }
    if (n == 15) _exit(fy_error() && strstr(fy_error(), "run in the parent process") ? 9 : 2);
    return n == 12 && WIFEXITED(status) && WEXITSTATUS(status) == 9;
}

static void a_loop_over_a_loader_can_fork(void **state)
{
    (void)state;
    assert_int_equal(status_of(forks_in_a_loop), 0);
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
        cmocka_unit_test(an_exit_ends_while_other_threads_multiply),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(a_fork_ends_while_other_threads_multiply),
        cmocka_unit_test(a_child_finds_no_lock_held_by_a_missing_thread),
#endif
        cmocka_unit_test(a_loop_over_a_loader_can_fork),
        cmocka_unit_test(a_child_uses_a_card_that_its_parent_did_not),
        cmocka_unit_test(a_child_gets_an_error_if_its_parent_used_cuda),
    };
    return cmocka_run_group_tests_name("fork", tests, returning, NULL);
}
