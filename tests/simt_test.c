/* kernels/simt.cc, which runs kernels for the simulated card: thread and block indices, barriers and missed barriers.
 * The kernels here are C functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "kernel_table.h"
#include "op.h"

/* the C view of kernels/kernel.h */
typedef struct dim3 {
    unsigned x, y, z;
} dim3;
typedef struct place {
    dim3 thread, block, block_dim, grid_dim;
} place;
extern __thread place fy_simt_at;
extern __thread unsigned fy_simt_threads, fy_simt_started;
void fy_simt_run(const char *kernel, dim3 grid, dim3 block, void (*body)(void *), void *arguments);
void fy_simt_barrier(const char *file, int line);
void fy_simt_assert(const char *fact, const char *file, int line);

typedef struct kernel {
    void (*thread)(void *);
    void *arguments;
} kernel;

/* What kernel.h's fy_launch does for a kernel in C++: runs the threads of the block that have not started. */
static void run_threads(void *p)
{
    kernel *k = p;
    while (fy_simt_started < fy_simt_threads) {
        unsigned n = fy_simt_started++, width = fy_simt_at.block_dim.x, height = fy_simt_at.block_dim.y;
        fy_simt_at.thread = (dim3){n % width, n / width % height, n / width / height};
        k->thread(k->arguments);
    }
}

static void launch(const char *name, dim3 grid, dim3 block, void (*thread)(void *), void *arguments)
{
    fy_simt_run(name, grid, block, run_threads, &(kernel){thread, arguments});
}

static unsigned thread_number(void)
{
    const place *p = &fy_simt_at;
    return (p->thread.z * p->block_dim.y + p->thread.y) * p->block_dim.x + p->thread.x;
}

static void reverse(void *p)
{
    static __thread int shared[1024]; /* like __shared__ */
    int *out = p;
    unsigned t = thread_number(), n = fy_simt_at.block_dim.x * fy_simt_at.block_dim.y * fy_simt_at.block_dim.z;
    unsigned block =
        (fy_simt_at.block.z * fy_simt_at.grid_dim.y + fy_simt_at.block.y) * fy_simt_at.grid_dim.x + fy_simt_at.block.x;
    shared[t] = (int)(block * 1000 + t);
    fy_simt_barrier(__FILE__, __LINE__);
    out[block * n + t] = shared[n - 1 - t];
    fy_simt_barrier(__FILE__, __LINE__);
}

static void every_thread_knows_its_place_across_a_barrier(void **state)
{
    static int out[12 * 60];
    (void)state;
    launch("reverse", (dim3){2, 3, 2}, (dim3){5, 4, 3}, reverse, out);
    assert_null(fy_sim_kernel_fault());
    for (int block = 0; block < 12; block++)
        for (int t = 0; t < 60; t++) assert_int_equal(out[block * 60 + t], block * 1000 + 59 - t);
}

static void the_largest_block_meets_at_its_barriers(void **state)
{
    static int out[1024];
    (void)state;
    launch("reverse", (dim3){1, 1, 1}, (dim3){1024, 1, 1}, reverse, out);
    assert_null(fy_sim_kernel_fault());
    assert_int_equal(out[0], 1023);
    assert_int_equal(out[1023], 0);
}

static int line_of_barrier;

static void some_return_early(void *p)
{
    (void)p;
    if (thread_number() < 3) return;
    line_of_barrier = __LINE__ + 1;
    fy_simt_barrier(__FILE__, __LINE__);
}

static void some_skip_the_barrier(void *p)
{
    (void)p;
    if (thread_number() >= 6) return;
    fy_simt_barrier(__FILE__, __LINE__);
}

static void odd_and_even_at_two_barriers(void *p)
{
    (void)p;
    if (thread_number() % 2) fy_simt_barrier(__FILE__, __LINE__);
    else fy_simt_barrier(__FILE__, __LINE__);
}

static void a_barrier_that_some_threads_never_reach_is_named(void **state)
{
    char expected[300];
    (void)state;
    launch("early", (dim3){2, 1, 1}, (dim3){8, 1, 1}, some_return_early, NULL);
    const char *fault = fy_sim_kernel_fault();
    assert_non_null(fault);
    snprintf(expected, sizeof expected,
             "kernel early: 5 threads of block (0,0,0) wait at __syncthreads, simt_test.c line %d (the first "
             "is thread "
             "(3,0,0)), but 3 have already returned; every thread of a block must reach it",
             line_of_barrier);
    assert_string_equal(fault, expected);
    assert_null(fy_sim_kernel_fault()); /* reported once */
    launch("late", (dim3){1, 1, 1}, (dim3){8, 1, 1}, some_skip_the_barrier, NULL);
    fault = fy_sim_kernel_fault();
    assert_non_null(fault);
    assert_non_null(strstr(fault, "6 threads of block (0,0,0) wait"));
    assert_non_null(strstr(fault, "but 2 have already returned"));
}

static void two_barriers_are_not_one(void **state)
{
    (void)state;
    launch("apart", (dim3){1, 1, 1}, (dim3){4, 1, 1}, odd_and_even_at_two_barriers, NULL);
    const char *fault = fy_sim_kernel_fault();
    assert_non_null(fault);
    assert_non_null(strstr(fault, "thread (0,0,0) of block (0,0,0) waits at __syncthreads"));
    assert_non_null(strstr(fault, "thread (1,0,0) waits at another"));
}

static void a_fault_leaves_the_machine_fit_for_the_next_kernel(void **state)
{
    (void)state;
    launch("early", (dim3){1, 1, 1}, (dim3){256, 1, 1}, some_return_early, NULL);
    assert_non_null(fy_sim_kernel_fault());
    every_thread_knows_its_place_across_a_barrier(state);
}

static void a_block_that_no_card_takes_is_refused(void **state)
{
    (void)state;
    launch("huge", (dim3){1, 1, 1}, (dim3){1025, 1, 1}, some_return_early, NULL);
    assert_non_null(strstr(fy_sim_kernel_fault(), "1 to 1024 threads per block"));
    launch("none", (dim3){1, 1, 1}, (dim3){0, 1, 1}, some_return_early, NULL);
    assert_non_null(fy_sim_kernel_fault());
}

/* ---- blocks on several cores ---- */

static void sleep_200_us(void) { nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); }

/* Records the host thread of each block. */
static void note_thread(void *p)
{
    static __thread char mine;
    sleep_200_us();
    ((void **)p)[fy_simt_at.block.x] = &mine;
}

static void blocks_are_shared_out_to_several_threads(void **state)
{
    void *ran[64] = {0};
    int others = 0;
    (void)state;
    launch("note", (dim3){64, 1, 1}, (dim3){1, 1, 1}, note_thread, ran);
    assert_null(fy_sim_kernel_fault());
    for (int i = 0; i < 64; i++) {
        assert_non_null(ran[i]);
        others += ran[i] != ran[0];
    }
    assert_true(others > 0);
}

/* Every block from 20 on fails; block 20 is the last to fail. */
static void fail_from_20_on(void *p)
{
    (void)p;
    if (fy_simt_at.block.x <= 20) sleep_200_us();
    if (fy_simt_at.block.x >= 20) fy_simt_assert("block < 20", "here.cu", 7);
}

static void of_several_faulty_blocks_the_first_is_reported(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        launch("fail", (dim3){64, 1, 1}, (dim3){1, 1, 1}, fail_from_20_on, NULL);
        const char *fault = fy_sim_kernel_fault();
        assert_non_null(fault);
        assert_non_null(strstr(fault, "block: [20,0,0]"));
    }
}

int main(void)
{
    setenv("FERRY_THREADS", "3", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_knows_its_place_across_a_barrier),
        cmocka_unit_test(the_largest_block_meets_at_its_barriers),
        cmocka_unit_test(a_barrier_that_some_threads_never_reach_is_named),
        cmocka_unit_test(two_barriers_are_not_one),
        cmocka_unit_test(a_fault_leaves_the_machine_fit_for_the_next_kernel),
        cmocka_unit_test(a_block_that_no_card_takes_is_refused),
        cmocka_unit_test(blocks_are_shared_out_to_several_threads),
        cmocka_unit_test(of_several_faulty_blocks_the_first_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
