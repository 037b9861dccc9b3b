/* threads_test.c: several threads use Ferry at once: their narration, and the log. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/wait.h>

#include "device.h"
#include "event.h"
#include "forked.h"
#include "recorded.h"
#include "run_work.h"
#include "tensor.h"

#ifdef __SANITIZE_THREAD__ /* slow enough to race reliably */
enum { THREADS = 4, TURNS = 40 };
#else
enum { THREADS = 4, TURNS = 200 };
#endif

/* Runs `body` in THREADS threads at once. */
static void in_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, body, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* ---- narrated ---- */

enum { READS = 15 * TURNS }; /* enough for two to coincide, on a busy machine too */

/* fy_item narrates pending events: four readers of one narration. */
static void *make_and_read(void *unused)
{
    for (int i = 0; i < READS; i++) FY_SCOPE
        {
            fy_tensor *x = fy_full((8), i), *far = fy_to(x, "cuda"), *sum = fy_sum(far);
            fy_item(sum);
        }
    return unused;
}

/* The output of `program` on stderr in a child process with narration; NULL: it failed. */
static char *narration_of(void (*program)(void))
{
    FILE *out = tmpfile();
    int status;
    pid_t child = fork();
    if (!child) {
        dup2(fileno(out), STDERR_FILENO);
        setenv("FERRY_NARRATE", "1", 1);
        program();
        exit(0);
    }
    status = status_of_child(child);
    size_t size = (size_t)lseek(fileno(out), 0, SEEK_END);
    char *text = calloc(1, size + 1);
    assert_int_equal(pread(fileno(out), text, size, 0), size);
    fclose(out);
    if (!status) return text;
    fprintf(stderr, "%.2000s\n", text);
    free(text);
    return NULL;
}

/* Number of lines with this verb after the time. */
static int lines_with(const char *story, const char *verb)
{
    int n = 0;
    char head[64], found[16];
    for (const char *line = story; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        snprintf(head, sizeof head, "%.60s", line); /* sscanf calls strlen on its input */
        if (sscanf(head, " %*s %*s %15s", found) == 1) n += !strcmp(found, verb);
    }
    return n;
}

static void four_narrated_threads(void)
{
    fy_mark("the session begins before the threads");
    in_threads(make_and_read);
}

static void the_narration_of_four_threads_has_each_event_once(void **state)
{
    (void)state;
    char *story = narration_of(four_narrated_threads);
    assert_non_null(story);
    assert_int_equal(lines_with(story, "run"), THREADS * READS); /* the sums */
    assert_int_equal(lines_with(story, "free"), 3 * THREADS * READS);
    assert_int_equal(lines_with(story, "end"), 1);
    free(story);
}

/* ---- what threads share ---- */

static void *allocates(void *unused)
{
    for (int i = 0; i < TURNS; i++) FY_SCOPE
        {
            fy_tensor *near = fy_zeros((64)), *far = fy_zeros((64), .device = "cuda"), *pinned = fy_pin_memory(near);
            fy_copy_(far, pinned, .non_blocking = true);
        }
    return unused;
}

static void four_threads_allocate_on_one_card(void **state)
{
    (void)state;
    int64_t before = fy_cuda_memory_allocated(NULL);
    in_threads(allocates);
    fy_cuda_synchronize();
    assert_int_equal(fy_cuda_memory_allocated(NULL), before);
    assert_null(fy_error());
}

static void *allocates_once(void *card)
{
    fy_dev *d = card;
    fy_time t = {0};
    void *p = d->backend->alloc(d, 64, FY_WORD_device, &t);
    d->backend->release(d, p, 64, FY_WORD_device, &t);
    return p;
}

/* Another thread's successful allocation must not clear this thread's fault. */
static void a_fault_is_kept_for_the_thread_that_met_it(void **state)
{
    (void)state;
    char bytes[8];
    pthread_t other;
    fy_dev *d = fy_dev_at(1);
    fy_copy_work w = {.dst = bytes, .src = bytes, .bytes = sizeof bytes, .dir = FY_WORD_h2d};
    assert_false(d->backend->copy(d, &w));
    pthread_create(&other, NULL, allocates_once, d);
    pthread_join(other, NULL);
    assert_string_equal(fy_fault.text, "invalid argument: the destination of this copy is not in VRAM");
}

enum { WRITES = 40000 }; /* long enough for threads that take turns on a busy machine */
static fy_tensor *shared;

/* Its own element, and shared views: names must not be mixed up. */
static void *writes_its_element(void *which)
{
    fy_tensor *mine = fy_select(shared, 0, (intptr_t)which);
    for (int i = 0; i < WRITES; i++) fy_add_(mine, 1);
    for (int i = 0; i < TURNS; i++) FY_SCOPE
        {
            fy_tensor *turned = fy_view(shared, (2, 2));
            fy_expand(turned, (2, 2, 2));
        }
    fy_free(mine);
    return NULL;
}

static void each_write_of_four_threads_has_its_own_version(void **state)
{
    (void)state;
    fy_free(shared);
    fy_tensor *made[] = {fy_zeros((THREADS))};
    shared = made[0];
    uint32_t before = shared->storage->version;
    in_threads(writes_its_element);
    assert_int_equal(shared->storage->version - before, THREADS * WRITES);
    for (int i = 0; i < THREADS; i++) assert_true(fy_item(fy_select(shared, 0, i)) == WRITES);
}

/* Products, conversions and masks of one tensor, to which the others meanwhile make and drop references: for TSan. */
static void *reads_and_refers(void *unused)
{
    for (int i = 0; i < TURNS; i++) FY_SCOPE
        {
            fy_tensor *again = fy_to(shared, "cpu");
            fy_matmul(again, shared);
            fy_add(fy_gt(fy_t(shared), 0), fy_t(again));
            fy_masked_select(shared, fy_gt(again, 0));
            fy_mul(shared, fy_to(fy_t(again), FY_FLOAT64));
        }
    return unused;
}

static void a_plan_reads_no_count_of_references(void **state)
{
    (void)state;
    fy_free(shared);
    fy_tensor *made[] = {fy_ones((4, 4))};
    shared = made[0];
    in_threads(reads_and_refers);
    assert_true(fy_item(fy_sum(fy_matmul(shared, shared))) == 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_narration_of_four_threads_has_each_event_once), /* first: it starts the session in this process */
        cmocka_unit_test(four_threads_allocate_on_one_card),
        cmocka_unit_test(a_fault_is_kept_for_the_thread_that_met_it),
        cmocka_unit_test(each_write_of_four_threads_has_its_own_version),
        cmocka_unit_test(a_plan_reads_no_count_of_references),
    };
    setenv("FERRY_GPU", "sim", 1);
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
