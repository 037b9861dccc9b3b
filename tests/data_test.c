/* Datasets and loaders: batches, PyTorch's order and random numbers, and errors. PyTorch's numbers are from
 * version 1.13. How workers share modelled time: workers_test.c. */
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

/* ---- batches ---- */

static int64_t last_size(fy_dataloader *loader, int64_t *count)
{
    int64_t last = 0;
    *count = 0;
    FY_EACH (batch, loader) {
        last = fy_size(batch[0], 0);
        ++*count;
    }
    return last;
}

TEST(the_last_batch_is_short_or_dropped)
{
    int64_t n;
    (void)state;
    fy_dataset *ten = numbers(10), *thousand = numbers(1000);
    fy_dataloader *whole = fy_dataloader(ten, .batch_size = 4),
                  *dropped = fy_dataloader(ten, .batch_size = 4, .drop_last = true);
    fy_dataloader *many = fy_dataloader(thousand, .batch_size = 32), *single = fy_dataloader(ten);
    assert_int_equal(fy_dataloader_len(whole), 3);
    assert_int_equal(last_size(whole, &n), 2);
    assert_int_equal(n, 3);
    assert_int_equal(fy_dataloader_len(dropped), 2);
    assert_int_equal(last_size(dropped, &n), 4);
    assert_int_equal(n, 2);
    assert_int_equal(last_size(many, &n), 8);
    assert_int_equal(n, 32);
    assert_int_equal(fy_dataloader_len(single), 10);
    FY_EACH (batch, single) {
        assert_true(HOLDS(batch[0], 0));
        assert_null(batch[1]);
        assert_false(fy_is_pinned(batch[0]));
        break;
    }
    fy_dataset_free(ten);
    fy_dataset_free(thousand);
    fy_dataloader *all[] = {whole, dropped, many, single};
    for (int i = 0; i < 4; i++) fy_dataloader_free(all[i]);
}

TEST(options_that_make_no_sense_are_refused)
{
    (void)state;
    fy_dataset *ds = numbers(10), *none = numbers(0);
    FAILS_ALONE(fy_dataloader(ds, .batch_size = 0),
                "batch_size should be a positive integer value, but got batch_size=0");
    FAILS_ALONE(fy_dataloader(ds, .num_workers = -1),
                "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.");
    FAILS_ALONE(fy_dataloader(ds, .prefetch_factor = 3), "prefetch_factor option could only be specified in");
    FAILS_ALONE(fy_dataloader(ds, .num_workers = 1, .prefetch_factor = 0), "got prefetch_factor=0");
    FAILS_ALONE(fy_dataloader(none, .shuffle = true),
                "num_samples should be a positive integer value, but got num_samples=0");
    FAILS_ALONE(fy_dataset(.len = 3), "the dataset has no .get");
    fy_dataloader *empty = fy_dataloader(none, .num_workers = 2);
    FY_EACH (batch, empty) fail();
    assert_int_equal(fy_dataloader_len(empty), 0);
    fy_dataloader_free(empty);
    fy_dataset_free(none);
    fy_dataset_free(ds);
}

static void loads_large_batches(void)
{
    int64_t sizes[] = {11, INT64_C(1) << 40, INT64_C(1) << 61, INT64_MAX}, n;
    fy_dataset *ds = numbers(10);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int workers = 0; workers < 2; workers++) {
            fy_dataloader *loader = fy_dataloader(ds, .batch_size = sizes[i], .num_workers = workers);
            int64_t size = last_size(loader, &n);
            fprintf(stderr, "%d batch of %d\n", (int)n, (int)size);
            fy_dataloader_free(loader);
        }
    fy_dataset_free(ds);
}

TEST(a_batch_larger_than_the_dataset_is_all_of_it)
{
    (void)state;
    run_forked(loads_large_batches, ENVIRONMENT("FERRY_TRACE", NULL), 0);
    assert_exited_with(0);
    for (const char *line = last_child.output; *line; line = strchr(line, '\n') + 1)
        assert_memory_equal(line, "1 batch of 10\n", 14);
}

TEST(batches_are_shuffled_on_the_cpu_whatever_the_default_device)
{
    int64_t n;
    (void)state;
    fy_dataset *ds = numbers(10);
    fy_dataloader *loader = fy_dataloader(ds, .shuffle = true, .batch_size = 4);
    FY_DEVICE("cuda") assert_int_equal(last_size(loader, &n), 2);
    assert_int_equal(n, 3);
    assert_null(fy_error());
    fy_dataloader_free(loader);
    fy_dataset_free(ds);
}

TEST(a_batch_is_stacked_into_new_memory)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((12), .dtype = FY_FLOAT32), (4, 3)), *y = fy_tensor((7, 8, 9, 10));
        fy_dataset *ds = fy_tensor_dataset((x, y));
        fy_dataloader *loader = fy_dataloader(ds, .batch_size = 2);
        int64_t at = 0;
        FY_EACH (batch, loader) {
            assert_true(HAS_SHAPE(batch[0], 2, 3));
            assert_true(HAS_SHAPE(batch[1], 2));
            assert_int_equal(fy_dtype_of(batch[1]), FY_INT64);
            assert_false(fy_same_storage(batch[0], x));
            assert_true(element(batch[0], 5) == (double)(at * 6 + 5));
            assert_string_equal(batch[1]->name, "batch[1]");
            at++;
        }
        fy_tensor *item[FY_MAX_ITEM];
        assert_int_equal(fy_dataset_get(ds, -1, item), 2);
        assert_true(HOLDS(item[0], 9, 10, 11) && HOLDS(item[1], 10));
        assert_true(fy_same_storage(item[0], x));
        assert_int_equal(fy_dataset_get(ds, 4, item), 0);
        assert_true(failed_with("index 4 is out of bounds for a dataset of 4 items"));
        assert_null(fy_tensor_dataset((x, fy_ones((3)))));
        assert_true(failed_with("Size mismatch between tensors"));
        fy_dataset_free(ds);
        fy_dataloader_free(loader);
    }
}

/* ---- PyTorch's numbers ---- */

static bool order_is(fy_dataloader *loader, const int64_t *want)
{
    bool same = true;
    FY_EACH (batch, loader)
        for (int64_t i = 0; i < fy_numel(batch[0]); i++) same = same && (int64_t)element(batch[0], i) == *want++;
    return same;
}

TEST(epochs_are_shuffled_as_pytorch_shuffles_them)
{
    static const int64_t first[] = {6, 7, 1, 4, 2, 0, 9, 8, 3, 5}, second[] = {2, 4, 7, 0, 8, 9, 5, 3, 6, 1};
    static const int64_t plain[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    (void)state;
    fy_dataset *ds = numbers(10);
    for (int workers = 0; workers < 3; workers++) FY_SCOPE
        {
            fy_dataloader *loader = fy_dataloader(ds, .batch_size = 4, .shuffle = true, .num_workers = workers);
            fy_manual_seed(0);
            assert_true(order_is(loader, first));
            assert_true(order_is(loader, second));
            assert_true(fy_item(fy_rand((1))) == (double)0.455627977848053f);
            fy_dataloader_free(loader);
        }
    FY_SCOPE /* a seed for workers is drawn in any case */
    {
        fy_dataloader *loader = fy_dataloader(ds, .batch_size = 4);
        fy_manual_seed(7);
        assert_true(order_is(loader, plain));
        assert_true(fy_item(fy_rand((1))) == (double)0.6592116951942444f);
        fy_dataloader_free(loader);
    }
    fy_dataset_free(ds);
}

static void drawn(void *self, int64_t index, fy_tensor **item)
{
    (void)self, (void)index;
    item[0] = fy_randint((0, 1000), ());
}

TEST(workers_draw_the_random_numbers_of_pytorchs_workers)
{
    static const int64_t first[] = {967, 628, 91, 933, 895, 711}, second[] = {386, 3, 401, 472, 788, 217};
    static const int64_t alone[] = {737, 667, 360, 280, 840, 525};
    (void)state;
    fy_dataset *ds = fy_dataset(.len = 6, .get = drawn);
    fy_dataloader *two = fy_dataloader(ds, .batch_size = 2, .num_workers = 2),
                  *none = fy_dataloader(ds, .batch_size = 2);
    fy_manual_seed(3);
    assert_true(order_is(two, first));
    assert_true(order_is(two, second));
    fy_manual_seed(3);
    assert_true(order_is(none, alone));
    fy_dataset_free(ds);
    fy_dataloader_free(two);
    fy_dataloader_free(none);
}

/* ---- errors ---- */

enum { FAILING_LINE = __LINE__ + 6 };
static void third_fails(void *self, int64_t index, fy_tensor **item)
{
    (void)self;
    fy_tensor *x = fy_ones((3));
    FY_SCOPE
    item[0] = index == 5 ? fy_keep(fy_select(x, 0, 5)) : fy_keep(fy_select(x, 0, 1));
}

TEST(a_workers_error_ends_the_loop_at_its_batch)
{
    char place[100];
    int before = threads();
    int64_t bytes = live_bytes();
    (void)state;
    snprintf(place, sizeof place, "data_test.c:%d: fy_select", FAILING_LINE);
    for (int workers = 0; workers < 3; workers++) {
        int seen = 0;
        fy_dataset *ds = fy_dataset(.len = 12, .get = third_fails);
        fy_dataloader *loader = fy_dataloader(ds, .batch_size = 2, .num_workers = workers);
        FY_EACH (batch, loader) seen++;
        assert_int_equal(seen, 2);
        assert_non_null(strstr(fy_error(), place));
        assert_int_equal(strstr(fy_error(), "in worker 0, for batch 2 of the loop at ") != NULL, workers > 0);
        assert_true(failed_with("index 5"));
        fy_dataset_free(ds);
        fy_dataloader_free(loader);
    }
    assert_true(threads_become(before));
    assert_int_equal(live_bytes(), bytes);
}

static void fails_and_exits(void)
{
    fy_on_error(FY_EXIT);
    fy_dataset *ds = fy_dataset(.len = 12, .get = third_fails);
    fy_dataloader *loader = fy_dataloader(ds, .batch_size = 2, .num_workers = 2);
    FY_EACH (batch, loader) fprintf(stderr, "a batch\n");
}

static void leaves_before_the_error(void)
{
    int n = 0;
    fy_on_error(FY_EXIT);
    fy_dataset *ds = fy_dataset(.len = 12, .get = third_fails);
    fy_dataloader *loader = fy_dataloader(ds, .batch_size = 2, .num_workers = 2);
    FY_EACH (batch, loader)
        if (++n == 2) break;
    fy_dataset_free(ds);
    fy_dataloader_free(loader);
    if (fy_dev_at(0)->live_bytes > 0) fprintf(stderr, "%lld bytes are left\n", (long long)fy_dev_at(0)->live_bytes);
}

TEST(an_error_that_ends_the_program_waits_for_its_batch)
{
    (void)state;
    run_forked(fails_and_exits, ENVIRONMENT("FERRY_TRACE", NULL), 0);
    assert_exited_with(1);
    assert_said("a batch\na batch\n");
    assert_said("data_test.c:");
    assert_said("in worker 0, for batch 2 of the loop at ");
    assert_null(strstr(last_child.output, "a batch\na batch\na batch"));
    run_forked(leaves_before_the_error, ENVIRONMENT("FERRY_TRACE", NULL), 0);
    assert_exited_with(0);
    assert_string_equal(last_child.output, "");
}

static void goes_back_twice(void *self, int64_t index, fy_tensor **item)
{
    fy_tensor *w = fy_ones((2), .requires_grad = true), *loss = fy_sum(fy_mul(w, w));
    (void)self;
    fy_backward(loss);
    if (index == 0) fy_backward(loss);
    item[0] = fy_grad(w);
}

static void goes_on_at_exit(void)
{
    fy_tensor *w = fy_ones((2), .requires_grad = true);
    fy_backward(fy_sum(fy_mul(w, w)));
    fprintf(stderr, "a gradient at exit: %g\n", fy_item(fy_sum(fy_grad(w))));
}

/* Worker 0 fails in its backward pass, while worker 1 makes some of its own. */
static void fails_in_a_backward_pass(void)
{
    fy_on_error(FY_EXIT);
    atexit(goes_on_at_exit);
    fy_dataset *ds = fy_dataset(.len = 40, .get = goes_back_twice);
    fy_dataloader *loader = fy_dataloader(ds, .batch_size = 10, .num_workers = 2);
    FY_EACH (batch, loader) abort();
}

static void fails_in_a_pass_of_the_loop(void)
{
    fy_tensor *item[FY_MAX_ITEM];
    fy_on_error(FY_EXIT);
    atexit(goes_on_at_exit);
    fy_dataset_get(fy_dataset(.len = 1, .get = goes_back_twice), 0, item);
}

TEST(an_error_in_a_backward_pass_leaves_it_to_others)
{
    (void)state;
    run_forked(fails_in_a_backward_pass, ENVIRONMENT("FERRY_TRACE", NULL), 0);
    assert_exited_with(1);
    assert_said("Trying to backward through the graph a second time");
    assert_said("in worker 0, for batch 0 of the loop at ");
    assert_said("a gradient at exit: 4");
    run_forked(fails_in_a_pass_of_the_loop, ENVIRONMENT("FERRY_TRACE", NULL), 0);
    assert_exited_with(1);
    assert_said("a gradient at exit: 4");
}

static void uneven(void *self, int64_t index, fy_tensor **item)
{
    const char *what = self;
    if (!strcmp(what, "shape")) item[0] = index < 2 ? fy_ones((3)) : fy_ones((4));
    if (!strcmp(what, "count")) item[0] = item[index < 2] = fy_ones((3));
    if (!strcmp(what, "card")) item[0] = fy_ones((3), .device = "cuda");
    for (int i = 0; !strcmp(what, "many") && i <= FY_MAX_ITEM; i++) item[i] = fy_ones((3));
    if (!strcmp(what, "freed")) FY_SCOPE item[0] = fy_ones((3));
    if (!strcmp(what, "devices")) item[0] = index < 2 ? fy_ones((3)) : fy_ones((3), .device = "cuda");
}

TEST(items_that_do_not_fit_are_named)
{
    static const struct {
        char *what;
        const char *words;
        int workers;
    } cases[] = {
        {"shape",
         "stack expects each tensor to be equal size, but got [3] at entry 0 (item 0) and [4] at entry 2 (item 2)", 0},
        {"shape", "stack expects each tensor to be equal size", 1},
        {"count", "each element in list of batch should be of equal size: item 0 has 2 tensors, item 2 has 1", 0},
        {"nothing", ".get made no tensor for index 0", 0},
        {"nothing", ".get made no tensor for index 0", 2},
        {"many", "an item has at most 8 tensors, but .get made more for index 0", 0},
        {"many", "an item has at most 8 tensors", 1},
        {"freed", "item[0] was freed at the end of its FY_SCOPE", 0},
        {"freed", "fy_keep(item[0])", 1},
        {"card", "Cannot re-initialize CUDA in forked subprocess: item 0 is on cuda:0", 1},
        {"devices", "found at least two devices, cpu (item 0) and cuda:0 (item 2)", 0},
    };
    int64_t bytes = live_bytes();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fy_dataset *ds = fy_dataset(.len = 4, .get = uneven, .self = cases[i].what);
        fy_dataloader *loader = fy_dataloader(ds, .batch_size = 4, .num_workers = cases[i].workers);
        FY_EACH (batch, loader) fail();
        assert_true(failed_with(cases[i].words));
        fy_dataset_free(ds);
        fy_dataloader_free(loader);
    }
    fy_dataset *on_card = fy_dataset(.len = 4, .get = uneven, .self = "card");
    fy_dataloader *allowed = fy_dataloader(on_card, .batch_size = 4);
    FY_EACH (batch, allowed) assert_string_equal(fy_device(batch[0]), "cuda:0");
    fy_dataset_free(on_card);
    fy_dataloader_free(allowed);
    assert_int_equal(live_bytes(), bytes);
}

static void no_loader(void)
{
    fy_on_error(FY_EXIT);
    fy_dataloader *loader = NULL;
    FY_EACH (batch, loader) abort();
}

TEST(a_loader_that_could_not_be_made_gives_no_batch)
{
    fy_dataloader *none = NULL;
    (void)state;
    FY_EACH (batch, none) fail();
    assert_null(fy_error());
}

TEST(a_null_loader_is_named)
{
    (void)state;
    run_forked(no_loader, ENVIRONMENT("FERRY_TRACE", NULL), 0);
    assert_exited_with(1);
    assert_said("'loader' is NULL, not a loader");
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    const struct CMUnitTest apart[] = {
        cmocka_unit_test(an_error_that_ends_the_program_waits_for_its_batch),
        cmocka_unit_test(a_batch_larger_than_the_dataset_is_all_of_it),
        cmocka_unit_test(an_error_in_a_backward_pass_leaves_it_to_others),
        cmocka_unit_test(a_null_loader_is_named),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_batch_is_short_or_dropped),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(batches_are_shuffled_on_the_cpu_whatever_the_default_device),
        cmocka_unit_test(a_batch_is_stacked_into_new_memory),
        cmocka_unit_test(epochs_are_shuffled_as_pytorch_shuffles_them),
        cmocka_unit_test(workers_draw_the_random_numbers_of_pytorchs_workers),
        cmocka_unit_test(a_workers_error_ends_the_loop_at_its_batch),
        cmocka_unit_test(items_that_do_not_fit_are_named),
        cmocka_unit_test(a_loader_that_could_not_be_made_gives_no_batch),
    };
    int failed = cmocka_run_group_tests_name("data, in processes of their own", apart, NULL, NULL);
    return failed + cmocka_run_group_tests_name("data", tests, record_on_sim, record_no_more);
}
