/* contents_test.c: FERRY_VALUES=1: what every copy and op wrote is logged with its work: when the card has executed it,
 * in the tensor's order of elements; and what the summary and the histogram are made of. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/mman.h>

#include "forked.h"
#include "two_streams.h"

/* The last values event since then of what the n-th copy or op wrote; NULL: none. */
static const cJSON *result_of(const char *kind, int n)
{
    const cJSON *work = event_of(kind, n), *found = NULL, *e;
    for (int i = 0; work && (e = event_of("values", i)); i++)
        if (field(e, "work") && number_of(e, "work") == number_of(work, "id")) found = e;
    return found;
}

static bool tells(const cJSON *values, const char *what, size_t n, const double *want)
{
    const cJSON *list = field(values, what);
    if (!list || cJSON_GetArraySize(list) != (int)n) return false;
    for (size_t i = 0; i < n; i++)
        if (cJSON_GetArrayItem(list, (int)i)->valuedouble != want[i]) return false;
    return true;
}
#define TELLS(values, what, ...) \
    tells(values, what, sizeof((const double[]){__VA_ARGS__}) / sizeof(double), (const double[]){__VA_ARGS__})

TEST(a_result_on_the_cpu_is_told_after_its_op)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_tensor((1.0, 4.0, 9.0));
        since();
        fy_tensor *y = fy_sqrt(x);
        assert_string_equal(kinds(), "alloc tensor op complete values");
        assert_true(TELLS(result_of("op", 0), "data", 1, 2, 3));
        fy_add_(y, 1);
        assert_true(TELLS(result_of("op", 1), "data", 2, 3, 4));
        assert_int_equal(number_of(result_of("op", 1), "version"), number_of(event_of("op", 1), "out.0.version"));
        assert_int_equal(number_of(result_of("op", 1), "line"), __LINE__ - 3);
    }
}

TEST(a_result_on_the_card_is_told_when_executed)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_tensor((1.0, 2.0), .device = "cuda"), *y;
        fy_cuda_synchronize();
        since();
        y = fy_add(x, x);
        int line = __LINE__ - 1;
        assert_null(event_of("values", 0)); /* the host is ahead of the card */
        fy_cuda_synchronize();
        assert_true(TELLS(result_of("op", 0), "data", 2, 4));
        assert_int_equal(number_of(result_of("op", 0), "line"), line);
        assert_int_equal(number_of(result_of("op", 0), "call"), number_of(event_of("op", 0), "call"));
        since();
        fy_cpu(y);
        assert_true(TELLS(result_of("copy", 0), "data", 2, 4));
        assert_null(event_of("values", 1));
    }
}

TEST(a_copy_that_does_not_block_is_told_when_done)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *pinned = pinned_ones(3), *home = pinned_ones(3);
        fy_cuda_synchronize();
        since();
        fy_tensor *there = fy_to(pinned, "cuda", .non_blocking = true);
        fy_mul_(there, 5);
        fy_copy_(home, there, .non_blocking = true);
        assert_null(event_of("values", 0));
        fy_cuda_synchronize();
        assert_true(TELLS(result_of("copy", 0), "data", 1, 1, 1));
        assert_true(TELLS(result_of("op", 0), "data", 5, 5, 5));
        assert_true(TELLS(result_of("copy", 1), "data", 5, 5, 5));
    }
}

TEST(a_race_is_told_as_the_poison_that_it_makes)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *side = fy_cuda_stream();
        fy_tensor *x = on_card(4), *y;
        fy_cuda_synchronize();
        since();
        FY_STREAM(side) fy_mul_(x, 2);
        y = fy_add(x, 1);
        (void)y;
        fy_cuda_synchronize();
        assert_non_null(event_of("data_race", 0));
        assert_int_equal(number_of(result_of("op", 1), "nan"), 4);
    }
}

TEST(elements_are_told_in_the_order_of_the_tensor)
{
    (void)state;
    for (int card = 0; card < 2; card++) FY_SCOPE
        {
            const char *device = card ? "cuda" : "cpu";
            fy_tensor *x = fy_to(fy_tensor((1.0, 2.0, 3.0, 4.0, 5.0, 6.0)), device);
            fy_tensor *m = fy_reshape(x, (2, 3)), *all = fy_zeros((2, 3), .device = device);
            since();
            fy_add(fy_t(m), fy_t(m)); /* (3, 2), laid out as its operands are */
            fy_cumsum(m, 0);          /* the kernel has dimension 0 last */
            fy_fill_(fy_select(all, 1, 1), 7);
            fy_cuda_synchronize();
            assert_true(TELLS(result_of("op", 0), "data", 2, 8, 4, 10, 6, 12));
            assert_true(TELLS(result_of("op", 1), "data", 1, 2, 3, 5, 7, 9));
            assert_true(TELLS(result_of("op", 2), "data", 7, 7)); /* of the column that was written */
        }
}

TEST(a_summary_counts_nan_and_infinity_apart)
{
    (void)state;
    FY_SCOPE
    {
        since();
        fy_tensor *x = fy_tensor((0.0, 1.0, 2.0, 8.0, INFINITY, NAN));
        (void)x;
        const cJSON *values = event_of("values", 0);
        assert_null(field(values, "work"));
        assert_int_equal(number_of(values, "nan"), 1);
        assert_int_equal(number_of(values, "inf"), 1);
        assert_int_equal(number_of(values, "seen"), 6);
        assert_true(number_of(values, "min") == 0 && TELLS(values, "range", 0, 8));
        assert_string_equal(text_of(values, "max"), "inf");
        assert_true(TELLS(values, "bins", 2, 1, 0, 1));
    }
}

TEST(a_histogram_takes_the_largest_numbers_and_equal_ones)
{
    (void)state;
    FY_SCOPE
    {
        since();
        fy_tensor *wide = fy_tensor((-1.7e308, 0.0, 1.7e308), .dtype = FY_FLOAT64);
        fy_tensor *equal = fy_full((20), 3), *one = fy_full((1), 3), *none = fy_zeros((0));
        fy_tensor *many = fy_arange((1024));
        (void)wide, (void)equal, (void)one, (void)none, (void)many;
        assert_true(TELLS(event_of("values", 0), "bins", 1, 0, 1, 1));
        assert_true(TELLS(event_of("values", 1), "bins", 20));
        assert_null(field(event_of("values", 2), "bins"));
        const cJSON *last = event_of("values", 3);
        for (int i = 4; event_of("values", i); i++) last = event_of("values", i);
        assert_int_equal(cJSON_GetArraySize(field(last, "bins")), 16);
        assert_true(cJSON_GetArrayItem(field(last, "bins"), 0)->valuedouble == 64);
        assert_int_equal(cJSON_GetArraySize(field(last, "data")), 1024);
    }
}

TEST(results_are_shown_whole_until_they_have_taken_four_mebibytes)
{
    (void)state;
    FY_TIMES (i, (4 << 20) / (1024 * 8)) {
        since();
        fy_zeros((1025));
        if (i == 0) assert_int_equal(cJSON_GetArraySize(field(event_of("values", 0), "data")), 1024);
    }
    since();
    FY_SCOPE
    {
        fy_zeros((1024)), fy_zeros((16));
        assert_int_equal(cJSON_GetArraySize(field(event_of("values", 0), "data")), 16);
        assert_int_equal(cJSON_GetArraySize(field(event_of("values", 1), "data")), 16);
    }
}

TEST(of_a_large_tensor_elements_in_even_distances_are_summarized)
{
    (void)state;
    FY_SCOPE
    {
        since();
        fy_tensor *x = fy_arange((1000000));
        (void)x;
        const cJSON *values = event_of("values", 0);
        assert_int_equal(number_of(values, "count"), 1000000);
        assert_int_equal(number_of(values, "seen"), 142858); /* 7 is the first step that misses no column */
        assert_true(number_of(values, "min") == 0 && number_of(values, "max") == 999999);
        since();
        fy_print(x); /* what the program reads, it reads whole */
        assert_int_equal(number_of(event_of("values", 0), "seen"), 1000000);
    }
}

TEST(a_column_of_nan_is_seen_in_a_large_matrix)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_zeros((2048, 256));
        fy_fill_(fy_narrow(x, 1, 1, 1), NAN);
        since();
        fy_clone(x);
        const cJSON *values = result_of("op", 0);
        assert_true(number_of(values, "nan") > 0.9 * number_of(values, "seen") / 256);
    }
}

TEST(what_is_written_part_by_part_is_told_whole)
{
    (void)state;
    for (int card = 0; card < 2; card++) FY_SCOPE
        {
            fy_tensor *x = fy_to(fy_tensor((1.0, 2.0)), card ? "cuda" : "cpu");
            since();
            fy_cat((x, x), 0);
            fy_stack((x, x), 1);
            fy_cuda_synchronize();
            assert_true(TELLS(result_of("op", 1), "data", 1, 2, 1, 2));
            assert_int_equal(number_of(result_of("op", 1), "count"), 4);
            assert_true(TELLS(result_of("op", 3), "data", 1, 1, 2, 2));
        }
}

TEST(foreign_memory_is_not_read_when_it_is_wrapped)
{
    (void)state;
    char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FY_SCOPE
    {
        since();
        assert_non_null(fy_from_blob(page, (16)));
        assert_null(event_of("values", 0));
    }
    munmap(page, 4096);
}

static void narrated(void)
{
    fy_tensor *b = fy_ones((2, 2)), *d = fy_to(b, "cuda");
    fy_print(fy_sum(d));
}

TEST(narration_is_the_same_with_values)
{
    (void)state;
    char without[FORKED_ROOM];
    run_forked(narrated, ENVIRONMENT("FERRY_VALUES", "0", "FERRY_NARRATE", "1"), false);
    memcpy(without, last_child.output, sizeof without);
    assert_non_null(strstr(without, "copy"));
    run_forked(narrated, ENVIRONMENT("FERRY_VALUES", "1", "FERRY_NARRATE", "1"), false);
    assert_string_equal(last_child.output, without);
}

static void compute(void)
{
    fy_tensor *x = fy_ones((2)), *y = fy_add(x, x);
    fy_free(x);
    fy_free(y);
}

static void compute_often(void)
{
    for (int i = 0; i < 16400; i++) fy_free(fy_zeros((1)));
}

/* How many values events such a run logs. */
static int values_in(void (*body)(void), const char *values)
{
    char log[] = "/tmp/contents_test.XXXXXX", line[4096];
    int fd = mkstemp(log), n = 0;
    assert_true(fd >= 0);
    close(fd);
    unlink(log);
    run_forked(body, ENVIRONMENT("FERRY_VALUES", values, "FERRY_TRACE", log), false);
    FILE *lines = fopen(log, "r");
    assert_non_null(lines);
    while (fgets(line, sizeof line, lines)) n += strstr(line, "\"kind\":\"values\"") != NULL;
    fclose(lines);
    unlink(log);
    return n;
}

TEST(results_are_told_if_asked_for_and_the_first_alone)
{
    (void)state;
    assert_int_equal(values_in(compute, NULL), 0);
    assert_int_equal(values_in(compute, "0"), 0);
    assert_int_equal(values_in(compute, "1"), 2);
    assert_int_equal(values_in(compute_often, "1"), 16384);
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_VALUES", "1", 1);
    setenv("FERRY_SIM", "h200:capacity=32MiB,gpus=2", 1);
    const struct CMUnitTest settings[] = {
        cmocka_unit_test(results_are_told_if_asked_for_and_the_first_alone),
        cmocka_unit_test(narration_is_the_same_with_values),
    };
    int failed = cmocka_run_group_tests_name("contents, before a log is open", settings, NULL, NULL);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_result_on_the_cpu_is_told_after_its_op, quiet),
        cmocka_unit_test_setup(a_result_on_the_card_is_told_when_executed, quiet),
        cmocka_unit_test_setup(a_copy_that_does_not_block_is_told_when_done, quiet),
        cmocka_unit_test_setup(a_race_is_told_as_the_poison_that_it_makes, quiet),
        cmocka_unit_test_setup(elements_are_told_in_the_order_of_the_tensor, quiet),
        cmocka_unit_test_setup(a_summary_counts_nan_and_infinity_apart, quiet),
        cmocka_unit_test_setup(a_histogram_takes_the_largest_numbers_and_equal_ones, quiet),
        cmocka_unit_test_setup(of_a_large_tensor_elements_in_even_distances_are_summarized, quiet),
        cmocka_unit_test_setup(a_column_of_nan_is_seen_in_a_large_matrix, quiet),
        cmocka_unit_test_setup(what_is_written_part_by_part_is_told_whole, quiet),
        cmocka_unit_test_setup(foreign_memory_is_not_read_when_it_is_wrapped, quiet),
        cmocka_unit_test_setup(results_are_shown_whole_until_they_have_taken_four_mebibytes, quiet),
    };
    failed += cmocka_run_group_tests_name("contents", tests, NULL, NULL);
    recorded_end();
    return failed;
}
