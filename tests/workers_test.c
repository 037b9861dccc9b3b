/* A loader's workers: their turns in modelled time, their events, and what happens to them where a loop is left or a
 * process ends. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "device.h"
#include "forked.h"
#include "recorded.h"
#include "tensor.h"
#include "traced.h"

#define TEST(name) static void name(void **state)

static int64_t live_bytes(void) { return fy_dev_at(0)->live_bytes + fy_dev_at(1)->live_bytes; }

static int threads(void)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    while (readdir(tasks)) n++;
    closedir(tasks);
    return n;
}

/* A thread that has ended stays in /proc for a moment. */
static bool threads_become(int n)
{
    for (int i = 0; i < 5000 && threads() != n; i++) usleep(1000);
    return threads() == n;
}

/* The numbers 0 to n - 1 as a dataset of 0-dim tensors. */
static fy_dataset *numbers(int64_t n)
{
    fy_tensor *x = fy_arange((n));
    fy_dataset *ds = fy_tensor_dataset((x));
    fy_free(x);
    return ds;
}

/* ---- workers in modelled time ---- */

/* Items that take work; every third takes more. */
static void worked(void *self, int64_t index, fy_tensor **item)
{
    (void)self;
    FY_SCOPE
    {
        fy_tensor *x = fy_full((4096), (double)index);
        for (int i = 0; i < (index % 3 ? 2 : 6); i++) x = fy_add(x, 1);
        item[0] = fy_keep(fy_sub(x, index % 3 ? 2 : 6));
        item[1] = fy_keep(fy_full((), index));
    }
}

/* One epoch of 24 items, and work on the card for each batch: the modelled time that it takes. */
static int64_t epoch_time(int workers, bool pin, int epochs)
{
    int64_t before = fy_now(), at = 0;
    fy_dataset *ds = fy_dataset(.len = 24, .get = worked);
    fy_dataloader *loader = fy_dataloader(ds, .batch_size = 4, .num_workers = workers, .pin_memory = pin);
    fy_dataset_free(ds); /* the loader keeps it */
    FY_TIMES (epoch, epochs) {
        at = 0;
        FY_EACH (batch, loader) {
            assert_true(element(batch[1], 0) == (double)(4 * at) && element(batch[0], 4096) == (double)(4 * at + 1));
            assert_int_equal(fy_is_pinned(batch[0]), pin);
            assert_string_equal(fy_device(batch[0]), "cpu");
            fy_item(fy_sum(fy_exp(fy_to(batch[0], "cuda", .non_blocking = true))));
            at++;
        }
        assert_int_equal(at, 6);
    }
    fy_dataloader_free(loader);
    return fy_now() - before;
}

TEST(batches_come_in_order_from_any_number_of_workers)
{
    (void)state;
    for (int workers = 0; workers < 8; workers++)
        epoch_time(workers, workers % 2, 1); /* starts the log's helper, too */
    int before = threads();
    for (int workers = 0; workers < 8; workers++) epoch_time(workers, workers % 2, 1);
    assert_true(threads_become(before));
}

TEST(workers_load_while_the_loop_computes)
{
    (void)state;
    int64_t alone = epoch_time(0, false, 1), one = epoch_time(1, false, 1), three = epoch_time(3, false, 1);
    assert_true(one < alone);
    assert_true(three < one);
}

/* Of one what (begin, ready, taken) and batch: the event. */
static const cJSON *batch_event(const char *what, int index)
{
    const cJSON *e = NULL;
    for (int n = 0; (e = event_of("batch", n)); n++)
        if (!strcmp(text_of(e, "what"), what) && number_of(e, "index") == index) return e;
    return NULL;
}

TEST(two_workers_hold_different_batches_at_once)
{
    (void)state;
    since();
    epoch_time(2, true, 1);
    for (int i = 0; i < 6; i++) {
        const cJSON *begin = batch_event("begin", i), *ready = batch_event("ready", i),
                    *taken = batch_event("taken", i);
        assert_int_equal(number_of(begin, "worker"), i % 2);
        assert_true(number_of(begin, "th") == number_of(ready, "th") && number_of(begin, "th") > 0);
        assert_int_equal(number_of(taken, "th"), 0);
        assert_true(number_of(begin, "t") < number_of(ready, "t") && number_of(ready, "t") <= number_of(taken, "t"));
        assert_true(number_of(ready, "seq") < number_of(taken, "seq"));
        assert_int_equal(number_of(ready, "tensors.1"), number_of(taken, "tensors.1"));
    }
    const cJSON *zero = batch_event("begin", 0), *one = batch_event("begin", 1);
    assert_true(number_of(zero, "th") != number_of(one, "th"));
    assert_true(number_of(one, "t") < number_of(batch_event("ready", 0), "t"));
    assert_true(number_of(zero, "t") < number_of(batch_event("ready", 1), "t"));
    assert_true(number_of(batch_event("taken", 0), "held") > 0); /* nothing was ready yet */
    assert_true(number_of(batch_event("begin", 4), "t") >=
                number_of(batch_event("taken", 0), "t")); /* prefetch_factor 2 */
    for (int n = 0; event_of("copy", n); n++)             /* the workers pin, the loop copies to the card */
        if (!strcmp(text_of(event_of("copy", n), "dir"), "h2h")) assert_true(number_of(event_of("copy", n), "th") > 0);
}

/* Rows of tensors, collated and taken: nothing here keeps its turn. */
TEST(a_workers_events_appear_in_the_order_of_time)
{
    double newest = 0;
    int back = 0, n = 0;
    (void)state;
    epoch_time(2, true, 1); /* later epochs find their pinned memory */
    since();
    fy_dataset *ds = numbers(64);
    fy_dataloader *loader = fy_dataloader(ds, .batch_size = 8, .num_workers = 2);
    FY_EACH (batch, loader) fy_add(batch[0], 1);
    fy_dataset_free(ds);
    fy_dataloader_free(loader);
    recorded_read();
    for (const cJSON *e = recorded_events->child; e; e = e->next, n++) {
        double t = number_of(e, "t");
        back += t < newest;
        if (t > newest) newest = t;
    }
    assert_true(n > 100);
    assert_int_equal(back, 0);
}

TEST(a_worker_is_the_same_thread_in_each_epoch)
{
    double first[2] = {0};
    (void)state;
    since();
    epoch_time(2, false, 3);
    for (int n = 0; event_of("batch", n); n++) {
        const cJSON *e = event_of("batch", n);
        if (strcmp(text_of(e, "what"), "begin") != 0) continue;
        double *th = &first[(int)number_of(e, "worker")];
        if (*th == 0) *th = number_of(e, "th");
        assert_true(*th == number_of(e, "th"));
    }
    assert_true(first[0] != first[1]);
}

static void backward_in_both(void *self, int64_t index, fy_tensor **item)
{
    (void)self, (void)index;
    fy_tensor *w = fy_ones((8), .requires_grad = true);
    fy_backward(fy_sum(fy_mul(w, w)));
    item[0] = fy_grad(w);
}

static void busy(void)
{
    fy_dataset *ds = fy_dataset(.len = 24, .get = worked), *graphs = fy_dataset(.len = 12, .get = backward_in_both);
    fy_dataloader *loader = fy_dataloader(ds, .batch_size = 4, .shuffle = true, .num_workers = 3, .pin_memory = true);
    fy_dataloader *inner = fy_dataloader(graphs, .batch_size = 3, .num_workers = 2);
    FY_TIMES (epoch, 2) {
        FY_EACH (batch, loader) {
            fy_tensor *w = fy_ones((4096), .device = "cuda", .requires_grad = true);
            fy_backward(fy_sum(fy_mul(fy_to(batch[0], "cuda", .non_blocking = true), w)));
            FY_EACH (other, inner) fy_add(other[0], 1);
        }
    }
    fy_dataset_free(ds);
    fy_dataset_free(graphs);
    fy_dataloader_free(loader);
    fy_dataloader_free(inner);
}

TEST(the_log_is_the_same_on_every_run)
{
    (void)state;
    char *log[2];
    for (int i = 0; i < 2; i++) {
        run_forked(busy, ENVIRONMENT("FERRY_TRACE", traced_path), 0);
        assert_exited_with(0);
        log[i] = slurp(traced_path);
        assert_int_equal(remove(traced_path), 0);
    }
    assert_true(strlen(log[0]) > 100000);
    assert_string_equal(log[0], log[1]);
    free(log[0]);
    free(log[1]);
}

static void print_time(void)
{
    printf("%lld ns\n", (long long)(epoch_time(2, true, 2) + epoch_time(3, false, 1)));
    fflush(stdout);
}

TEST(times_do_not_depend_on_a_log)
{
    char with[FORKED_ROOM];
    (void)state;
    run_forked(print_time, ENVIRONMENT("FERRY_TRACE", traced_path), 1);
    strcpy(with, last_child.output);
    assert_non_null(strstr(with, " ns\n"));
    run_forked(print_time, ENVIRONMENT("FERRY_TRACE", NULL), 1);
    assert_string_equal(with, last_child.output);
}

/* ---- leaving a loop ---- */

TEST(a_loop_that_is_left_leaves_nothing)
{
    int before = threads(), seen = 0;
    int64_t bytes = live_bytes();
    (void)state;
    fy_dataset *ds = fy_dataset(.len = 24, .get = worked);
    fy_dataloader *loader = fy_dataloader(ds, .batch_size = 2, .num_workers = 3, .pin_memory = true);
    FY_EACH (batch, loader) {
        FY_EACH (other, loader) /* a second epoch within the first */
        {
            assert_true(HOLDS(other[1], 0, 1));
            assert_true(threads() > before);
            break;
        }
        if (++seen == 3) break;
    }
    assert_int_equal(seen, 3);
    assert_true(threads_become(before));
    assert_int_equal(live_bytes(), bytes);
    FY_EACH (batch, loader) seen++;
    assert_int_equal(seen, 15);
    fy_dataset_free(ds);
    fy_dataloader_free(loader);
    assert_int_equal(live_bytes(), bytes);
}

/* ---- how a process ends in a loop ---- */

static fy_dataloader *three_workers(void (*get)(void *self, int64_t index, fy_tensor **item), bool pin)
{
    return fy_dataloader(fy_dataset(.len = 24, .get = get), .batch_size = 2, .num_workers = 3, .pin_memory = pin);
}

static void exits_in_a_loop(void)
{
    FY_EACH (batch, three_workers(worked, true)) exit(7);
}

static void crashes(void *self, int64_t index, fy_tensor **item)
{
    worked(self, index, item);
    if (index == 3) raise(SIGSEGV);
}
static void crashes_in_a_worker(void)
{
    signal(SIGSEGV, SIG_DFL);
    FY_EACH (batch, three_workers(crashes, true)) continue;
}

static void exits(void *self, int64_t index, fy_tensor **item)
{
    worked(self, index, item);
    if (index == 9) exit(8);
}
static void exits_in_a_worker(void)
{
    FY_EACH (batch, three_workers(exits, true)) continue;
}

TEST(a_process_can_end_in_a_loop)
{
    (void)state;
    for (int traced = 0; traced < 2; traced++) {
        const char *file = traced ? traced_path : NULL;
        run_forked(exits_in_a_loop, ENVIRONMENT("FERRY_TRACE", file), 0);
        assert_exited_with(7);
        run_forked(exits_in_a_worker, ENVIRONMENT("FERRY_TRACE", file), 0);
        assert_exited_with(8);
        run_forked(crashes_in_a_worker, ENVIRONMENT("FERRY_TRACE", file), 0);
        assert_true(WIFSIGNALED(last_child.status));
        assert_int_equal(WTERMSIG(last_child.status), SIGSEGV);
    }
}

static void pins_without_a_card(void)
{
    FY_EACH (batch, three_workers(worked, true))
        if (fy_is_pinned(batch[0])) exit(1);
    exit(fy_cuda_is_available() ? 2 : 6);
}

TEST(without_a_card_nothing_is_pinned)
{
    (void)state;
    run_forked(pins_without_a_card, ENVIRONMENT("FERRY_GPU", "none", "FERRY_TRACE", NULL), 0);
    assert_exited_with(6);
    assert_string_equal(last_child.output, "");
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    const struct CMUnitTest apart[] = {
        cmocka_unit_test(the_log_is_the_same_on_every_run),
        cmocka_unit_test(times_do_not_depend_on_a_log),
        cmocka_unit_test(a_process_can_end_in_a_loop),
        cmocka_unit_test(without_a_card_nothing_is_pinned),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_come_in_order_from_any_number_of_workers),
        cmocka_unit_test(workers_load_while_the_loop_computes),
        cmocka_unit_test(two_workers_hold_different_batches_at_once),
        cmocka_unit_test(a_workers_events_appear_in_the_order_of_time),
        cmocka_unit_test(a_worker_is_the_same_thread_in_each_epoch),
        cmocka_unit_test(a_loop_that_is_left_leaves_nothing),
    };
    int failed = cmocka_run_group_tests_name("workers, in processes of their own", apart, make_folder, remove_folder);
    return failed + cmocka_run_group_tests_name("workers", tests, record_on_sim, record_no_more);
}
