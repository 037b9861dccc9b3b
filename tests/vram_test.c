/* The simulated card's memory: allocation, fill bytes, guard pages. */
#include "device.h"
#include "event.h"
#include "round_card.h"
#include "run_work.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void full_is_null_and_the_rest_stays_usable(void **state)
{
    fy_dev *d = *state;
    char *all = alloc(d, 1 << 20), on_host[4];
    assert_non_null(all);
    assert_null(alloc(d, 1));
    release(d, all, 1 << 20);
    char *p = alloc(d, 1), *q = alloc(d, 513), *r = alloc(d, 1);
    assert_int_equal(q - p, 512);
    assert_int_equal(r - q, 1024);
    copy_h2d(d, r, "abc", 4);
    assert_null(alloc(d, SIZE_MAX / 2));
    copy_d2h(d, on_host, r, 4);
    assert_string_equal(on_host, "abc");
}

static void fresh_and_freed_memory_hold_different_fill_bytes(void **state)
{
    fy_dev *d = *state;
    unsigned char on_host[600], *p = alloc(d, 600);
    copy_d2h(d, on_host, p, 600);
    for (int i = 0; i < 600; i++) assert_int_equal(on_host[i], 0xff);
    float f;
    memcpy(&f, on_host, 4);
    assert_true(f != f); /* unwritten VRAM reads as NaN */
    release(d, p, 600);
    copy_d2h(d, on_host, p, 600);
    for (int i = 0; i < 600; i++) assert_int_equal(on_host[i], 0xf5);
}

/* Counts shared memory, which simulated VRAM is, and a sanitizer's is not. */
static int64_t resident_mib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*s %*s %ld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages * sysconf(_SC_PAGESIZE) >> 20;
}

static void a_20_gib_tensor_on_large_cards_eats_no_ram(void **state)
{
    (void)state;
    fy_dev *d = open_card(&round_card, (int64_t)24 << 30);
    if (!d) skip(); /* address space is limited here */
    int64_t before = resident_mib();
    char *p = alloc(d, (size_t)20 << 30), last[4], *end = p + ((size_t)20 << 30) - 4;
    assert_non_null(p);
    assert_null(alloc(d, (size_t)5 << 30));
    assert_true(resident_mib() - before < 100);
    copy_h2d(d, end, "end", 4);
    copy_d2h(d, last, end, 4);
    assert_string_equal(last, "end");
    release(d, p, (size_t)20 << 30);
    assert_true(resident_mib() - before < 100);
    fy_backend_sim.close(d);
}

static void wrong_ends_of_a_copy_are_refused_by_name(void **state)
{
    fy_dev *d = *state;
    char host[16] = {0}, *p = alloc(d, 16);
    fy_copy_work a = {.dst = host, .src = host, .bytes = 16, .dir = FY_WORD_h2d};
    assert_false(fy_backend_sim.copy(d, &a));
    assert_string_equal(fy_fault.text, "invalid argument: the destination of this copy is not in VRAM");
    fy_copy_work b = {.dst = p, .src = p, .bytes = 16, .dir = FY_WORD_h2d};
    assert_false(fy_backend_sim.copy(d, &b));
    assert_string_equal(fy_fault.text, "invalid argument: the source of this copy is not host memory");
    fy_copy_work c = {.dst = host, .src = p, .bytes = (size_t)2 << 20, .dir = FY_WORD_d2h};
    assert_false(fy_backend_sim.copy(d, &c));
    assert_string_equal(fy_fault.text, "invalid argument: the source of this copy is not in VRAM");
    fy_copy_work nothing = {.dst = NULL, .src = host, .bytes = 0, .dir = FY_WORD_h2d};
    assert_true(fy_backend_sim.copy(d, &nothing));
}

static void a_host_pointer_in_a_kernel_is_refused_by_name(void **state)
{
    fy_dev *d = *state;
    float host[4] = {1, 2, 3, 4};
    fy_run_work w = fill_work(host, 4, 0);
    assert_false(fy_backend_sim.run(d, &w));
    assert_non_null(strstr(fy_fault.text, "kernel fill was given a host pointer as output 0"));
    assert_true(host[0] == 1);
    w = fill_work(alloc(d, 16), 1 << 20, 0);
    assert_false(fy_backend_sim.run(d, &w));
    assert_non_null(strstr(fy_fault.text, "memory past the end of VRAM"));
}

static void only_vram_is_guarded(void **state)
{
    fy_dev *d = *state;
    char host, *p = alloc(d, 16);
    assert_true(fy_sim_owns(p));
    assert_true(fy_sim_owns(p + 15));
    assert_false(fy_sim_owns(&host));
    assert_false(fy_sim_owns(NULL));
}

static void a_forked_child_has_no_card(void **state)
{
    fy_dev *d = *state;
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(!alloc(d, 4) && strstr(fy_fault.text, "Cannot re-initialize CUDA in forked subprocess") ? 7 : 1);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_non_null(alloc(d, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CARD(full_is_null_and_the_rest_stays_usable),
        WITH_CARD(fresh_and_freed_memory_hold_different_fill_bytes),
        cmocka_unit_test(a_20_gib_tensor_on_large_cards_eats_no_ram),
        WITH_CARD(wrong_ends_of_a_copy_are_refused_by_name),
        WITH_CARD(a_host_pointer_in_a_kernel_is_refused_by_name),
        WITH_CARD(only_vram_is_guarded),
        WITH_CARD(a_forked_child_has_no_card),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
