/* Who frees references: scopes left in every way, fy_keep, fy_free, handles that were freed. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "device.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)

static int64_t live_bytes(void) { return fy_dev_at(0)->live_bytes + fy_dev_at(1)->live_bytes; }

TEST(what_a_scope_made_is_freed_at_its_end)
{
    int64_t before = live_bytes();
    (void)state;
    since();
    FY_SCOPE
    {
        fy_tensor *a = fy_ones((100));
        fy_add(a, a);
        assert_true(live_bytes() > before);
    }
    assert_int_equal(live_bytes(), before);
    assert_string_equal(kinds(), "alloc tensor op complete alloc tensor op complete drop free drop free");
    assert_string_equal(text_of(event_of("drop", 0), "why"), "scope");
    assert_int_equal(number_of(event_of("drop", 0), "tensor"),
                     1 + number_of(event_of("drop", 1), "tensor")); /* newest first */
    assert_true(number_of(event_of("drop", 0), "line") > 0);
}

TEST(break_and_continue_close_a_scope)
{
    int64_t before = live_bytes();
    (void)state;
    for (int i = 0; i < 3; i++) {
        FY_SCOPE
        {
            fy_ones((10));
            if (i == 1) break;
            fy_ones((10));
        }
        assert_int_equal(live_bytes(), before);
        FY_SCOPE
        {
            fy_ones((10));
            continue;
        }
        assert_int_equal(live_bytes(), before);
    }
}

static fy_tensor *kept_by_return(void)
{
    FY_SCOPE
    {
        fy_tensor *a = fy_full((2), 3.0), *b = fy_mul(a, a);
        return fy_keep(b);
    }
    return NULL;
}

TEST(return_closes_a_scope_and_keep_carries_one_out)
{
    int64_t before = live_bytes();
    (void)state;
    fy_tensor *b = kept_by_return();
    assert_true(HOLDS(b, 9, 9));
    fy_free(b);
    assert_int_equal(live_bytes(), before);
}

TEST(kept_tensors_belong_to_the_enclosing_scope)
{
    int64_t before = live_bytes();
    fy_tensor *last = NULL;
    (void)state;
    FY_SCOPE
    {
        fy_tensor *outer = fy_ones((4));
        FY_SCOPE
        {
            fy_tensor *x = fy_add(outer, 1), *y = fy_add(x, 1);
            assert_ptr_equal(fy_keep(x), x);
            assert_ptr_equal(fy_keep(outer), outer); /* of an outer scope: unchanged */
            last = y;
        }
        since();
        assert_null(event_of("drop", 0));
        FY_SCOPE
        {
            fy_tensor *copies[20];
            for (int i = 0; i < 20; i++) copies[i] = fy_add(outer, i);
            fy_keep(copies[3]);
            fy_keep(copies[19]);
            fy_free(copies[0]);
            fy_free(outer); /* an outer scope's reference, freed inside */
            last = copies[19];
        }
        assert_true(HOLDS(last, 20, 20, 20, 20));
        assert_int_equal(live_bytes() - before, 3 * 64); /* x, copies[3], copies[19] */
    }
    assert_int_equal(live_bytes(), before);
}

TEST(a_loop_that_frees_its_old_value_grows_nothing)
{
    int64_t before = live_bytes();
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_zeros((4));
        for (int i = 0; i < 1000; i++) {
            fy_tensor *old = x;
            FY_SCOPE { x = fy_keep(fy_add(fy_mul(old, 1), 1)); }
            fy_free(old);
        }
        assert_true(HOLDS(x, 1000, 1000, 1000, 1000));
        assert_int_equal(live_bytes() - before, 64);
    }
    assert_int_equal(live_bytes(), before);
}

TEST(each_turn_is_a_scope_and_break_leaves_the_loop)
{
    int64_t before = live_bytes();
    int turns = 0, odd = 0;
    (void)state;
    FY_TIMES (i, 10) {
        assert_int_equal(live_bytes(), before); /* nothing of the previous iteration */
        fy_tensor *a = fy_full((4), i);
        if (i == 5) break;
        turns++;
        FY_TIMES (j, (int64_t)i) {
            fy_add(a, j);
            if (j == 2) break;
        }
        if (i % 2 == 0) continue;
        assert_true(HOLDS(a, i, i, i, i));
        odd++;
    }
    assert_int_equal(turns, 5);
    assert_int_equal(odd, 2);
    assert_int_equal(live_bytes(), before);
    FY_TIMES (i, 0) fail();
    FY_TIMES (i, sizeof(int) - 4) fail(); /* unsigned: 0 - 1 must not be evaluated */
}

static fy_tensor *returned_from_a_loop(void)
{
    FY_TIMES (i, 100) {
        fy_tensor *x = fy_full((4), i);
        if (fy_item(fy_select(x, 0, 0)) == 7) return fy_keep(x);
    }
    return NULL;
}

TEST(return_from_a_loop_closes_the_scope_of_its_turn)
{
    int64_t before = live_bytes();
    (void)state;
    fy_tensor *x = returned_from_a_loop();
    assert_true(HOLDS(x, 7, 7, 7, 7));
    assert_int_equal(live_bytes(), before + 64);
    fy_free(x);
}

TEST(a_loop_goes_through_an_array_of_tensors)
{
    int64_t before = live_bytes();
    double total = 0;
    (void)state;
    FY_SCOPE
    {
        fy_tensor *list[] = {fy_full((2), 1), fy_full((2), 2), fy_full((2), 3), fy_full((2), 4)};
        FY_EACH (x, list) {
            double sum = fy_item(fy_sum(x));
            if (sum == 4) continue;
            if (sum == 8) break;
            total += sum;
        }
        assert_true(HOLDS(list[3], 4, 4)); /* the array owns its tensors */
        assert_int_equal(live_bytes() - before, 4 * 64);
    }
    assert_true(total == 2 + 6);
    assert_int_equal(live_bytes(), before);
}

/* Batches of an input and a label, as a data loader gives. */
typedef struct batches {
    fy_iterator iterator;
    int left;
    fy_tensor *batch[2];
} batches;

static fy_tensor **next_batch(fy_iterator *self)
{
    batches *b = (batches *)self;
    if (b->left-- == 0) return NULL;
    b->batch[0] = fy_full((4), b->left);
    b->batch[1] = fy_full((1), 2 * b->left);
    return b->batch;
}

TEST(a_loops_iterator_items_go_with_their_turn)
{
    int64_t before = live_bytes();
    batches three = {{next_batch}, 3, {0}};
    double total = 0;
    int turns = 0;
    (void)state;
    FY_EACH (batch, &three.iterator) {
        assert_int_equal(live_bytes() - before, 2 * 64); /* an input and a label: previous batches are freed */
        total += fy_item(fy_sum(batch[0])) + fy_item(batch[1]);
        turns++;
    }
    assert_int_equal(turns, 3);
    assert_true(total == (4 + 2) * (0 + 1 + 2));
    assert_int_equal(live_bytes(), before);
}

TEST(set_frees_the_old_and_keeps_the_new_in_scope)
{
    int64_t before = live_bytes();
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_ones((4));
        FY_TIMES (i, 100) {
            fy_tensor *now = fy_set(&w, fy_add(fy_mul(w, 1), 1));
            assert_ptr_equal(now, w);
            fy_set(&w, fy_add_(w, 0)); /* itself, borrowed: no effect */
            fy_set(&w, fy_cpu(w));
            assert_int_equal(live_bytes() - before, 2 * 64); /* and the product */
        }
        assert_true(HOLDS(w, 101, 101, 101, 101));
        assert_int_equal(live_bytes() - before, 64);
        assert_null(fy_set(&w, fy_add(w, fy_ones((3)))));
        assert_true(failed_with("The size of tensor a (4) must match"));
        assert_true(HOLDS(w, 101, 101, 101, 101));
    }
    assert_int_equal(live_bytes(), before);
}

TEST(set_without_a_scope_leaves_the_tensor_to_the_caller)
{
    int64_t before = live_bytes();
    fy_tensor *w = fy_ones((4)), *best = NULL;
    (void)state;
    for (int i = 0; i < 100; i++) fy_set(&w, fy_mul(w, 1));
    FY_TIMES (i, 10) fy_set(&w, fy_add(w, 1));
    assert_int_equal(live_bytes() - before, 64);
    fy_free(w);
    FY_SCOPE
    {
        fy_tensor *other = fy_ones((4));
        FY_TIMES (i, 3) fy_set(&best, fy_full((4), i)); /* from NULL: belongs to the enclosing scope */
        assert_true(HOLDS(best, 2, 2, 2, 2));
        FY_TIMES (i, 3) fy_set(&best, other); /* two references */
        fy_free(other);
        assert_true(HOLDS(best, 1, 1, 1, 1));
    }
    assert_int_equal(live_bytes(), before);
    assert_null(fy_set((fy_tensor **)NULL, w));
    assert_true(failed_with("the variable that fy_set changes is NULL"));
    assert_null(fy_set(&w, fy_ones((1), .name = "fresh")));
    assert_true(failed_with("&w (w) was already freed on line "));
}

TEST(set_gives_the_new_tensor_the_name)
{
    (void)state;
    fy_tensor *w = fy_ones((4));
    since();
    fy_set(&w, fy_mul(w, 2));
    assert_string_equal(text_of(event_of("name", 0), "name"), "w");
    fy_free(w);
    assert_int_equal(fy_dim(w), 0);
    assert_true(failed_with("fy_dim: w was already freed"));
}

TEST(a_tensor_returned_twice_is_given_back_twice)
{
    int64_t before = live_bytes();
    (void)state;
    fy_tensor *x = fy_ones((4));
    FY_SCOPE
    {
        fy_tensor *same = fy_cpu(x);
        assert_ptr_equal(same, x);
    }
    assert_true(HOLDS(x, 1, 1, 1, 1)); /* ours is still alive */
    fy_free(x);
    assert_int_equal(live_bytes(), before);
}

TEST(an_explicit_free_takes_the_tensor_out_of_its_scope)
{
    int64_t before = live_bytes();
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_ones((4)), *b = fy_ones((4));
        since();
        fy_free(a);
        assert_string_equal(kinds(), "drop free");
        assert_string_equal(text_of(event_of("drop", 0), "why"), "free");
        assert_true(HOLDS(b, 1, 1, 1, 1));
    }
    assert_int_equal(live_bytes(), before);
    fy_free(NULL); /* valid */
}

TEST(a_dead_handle_is_recognised_and_its_end_is_named)
{
    (void)state;
    fy_tensor *x = fy_ones((4), .name = "weights"), *y = fy_ones((4)), *gone = NULL;
    FY_SCOPE { gone = fy_add(y, 1); }
    fy_free(x);
    int line = __LINE__ - 1;
    char where[64];
    snprintf(where, sizeof where, "already freed on line %d", line);
    assert_null(fy_add(y, x));
    assert_non_null(strstr(fy_error(), where));
    assert_true(failed_with("fy_add: x (weights) was already freed on line "));
    fy_free(x);
    assert_true(failed_with("fy_free: x (weights) was already freed on line "));
    assert_null(fy_relu(gone));
    assert_true(failed_with("fy_relu: gone was freed at the end of its FY_SCOPE on line "));
    assert_null(fy_keep(gone));
    assert_true(failed_with("fix: move it to the outer scope with fy_keep(gone)"));
    assert_string_equal(fy_device(x), "none");
    assert_true(failed_with("was already freed"));
    since();
    fy_print(x);
    assert_string_equal(kinds(), "error");
    assert_string_equal(text_of(event_of("error", 0), "code"), "use_after_free");
    fy_clear_error();
    fy_free(y);
}

/* Each getter, on a line of its own, called with a freed tensor. */
#define NAMED_BY(call) \
    do { \
        (void)(call); \
        snprintf(where, sizeof where, "scope_test.c:%d: ", __LINE__); \
        assert_non_null(fy_error()); \
        assert_non_null(strstr(fy_error(), where)); \
        assert_true(failed_with("x was already freed on line ")); \
    } while (0)

TEST(getters_name_the_line_that_asks_a_dead_handle)
{
    char where[64];
    (void)state;
    fy_tensor *x = fy_ones((4));
    fy_free(x);
    fy_dim(x);
    assert_true(failed_with("fy_dim: x was already freed on line "));
    NAMED_BY(fy_device(x));
    NAMED_BY(fy_is_cuda(x));
    NAMED_BY(fy_dtype_of(x));
    NAMED_BY(fy_shape_of(x));
    NAMED_BY(fy_size(x, 0));
    NAMED_BY(fy_stride(x, 0));
    NAMED_BY(fy_numel(x));
    NAMED_BY(fy_is_contiguous(x));
    NAMED_BY(fy_is_pinned(x));
    NAMED_BY(fy_storage_offset(x));
}

/* After 5,000 tensors the slot has been reused: other tensors' lines must not be named as this one's. */
TEST(no_wrong_line_is_named_for_a_reused_place)
{
    (void)state;
    fy_tensor *x = fy_ones((1)), *last = NULL;
    fy_free(x);
    for (int i = 0; i < 20000 && last != x; i++) fy_free(last = fy_ones((1)));
    assert_ptr_equal(last, x);
    assert_null(fy_relu(x));
    assert_true(failed_with("x was already freed. Its handle has been reused since, so the line is not certain"));
}

TEST(dead_handles_are_recognised_long_after)
{
    (void)state;
    fy_tensor *x = fy_ones((1));
    fy_free(x);
    for (int i = 0; i < 4000; i++) fy_free(fy_ones((1)));
    assert_null(fy_relu(x));
    assert_true(failed_with("was already freed"));
}

static void *use_scopes(void *count)
{
    for (int i = 0; i < *(int *)count; i++) FY_SCOPE
        {
            fy_tensor *a = fy_full((8), i), *b = fy_add(fy_cpu(fy_relu(fy_cuda(a))), a);
            if (fy_item(fy_select(b, 0, 3)) != 2 * i) return "wrong value";
        }
    fy_on_error(FY_RETURN);
    fy_add(fy_ones((2)), fy_ones((3)));
    return fy_error() ? NULL : "no error of its own";
}

TEST(threads_have_scopes_and_errors_of_their_own)
{
    pthread_t threads[4];
    int count = 20;
    int64_t before = live_bytes();
    (void)state;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, use_scopes, &count);
    for (int i = 0; i < 4; i++) {
        void *complaint;
        pthread_join(threads[i], &complaint);
        if (complaint) fail_msg("%s", (char *)complaint);
    }
    assert_null(fy_error());
    assert_int_equal(live_bytes(), before + 4 * 2 * 64); /* tensors made outside scopes stay alive */
}

/* The output of `program` on stderr. Free it. */
static char *stderr_of(void (*program)(void))
{
    FILE *out = tmpfile();
    int kept = dup(STDERR_FILENO);
    dup2(fileno(out), STDERR_FILENO);
    program();
    dup2(kept, STDERR_FILENO);
    close(kept);
    size_t size = (size_t)lseek(fileno(out), 0, SEEK_END);
    char *text = calloc(1, size + 1);
    assert_int_equal(pread(fileno(out), text, size, 0), size);
    fclose(out);
    return text;
}

enum { MANY = 10000 };
static fy_tensor *list[2 * MANY];

static void frees_each(void)
{
    for (int i = 0; i < 2 * MANY; i++) fy_free(fy_ones((2)));
    for (int i = 0; i < 2 * MANY; i++) FY_SCOPE fy_ones((2));
    FY_SCOPE for (int i = 0; i < 2 * MANY; i++) fy_ones((2));
    fy_tensor *w = fy_ones((2));
    for (int i = 0; i < 2 * MANY; i++) fy_set(&w, fy_mul(w, 1));
    fy_free(w);
}

static void holds_each(void)
{
    for (int i = 0; i < 2 * MANY; i++) list[i] = fy_ones((2));
    for (int i = 0; i < 2 * MANY; i++) fy_free(list[i]);
    FY_SCOPE for (int i = 0; i < 2 * MANY; i++) list[i] = fy_keep(fy_ones((2)));
    for (int i = 0; i < 2 * MANY; i++) fy_free(list[i]);
}

static void leaks_each(void)
{
    fy_tensor *w = fy_ones((2)), *v;
    for (int i = 0; i < MANY - 1; i++) list[i] = w, w = fy_mul(w, 1);
    v = fy_view(w, (1, 2));
    fy_free(v);
}

static void leaks_more(void)
{
    fy_tensor *w = list[0];
    for (int i = 0; i < MANY + 5; i++) w = fy_mul(list[i] = w, 1);
}

TEST(programs_that_hold_or_free_their_tensors_are_not_warned)
{
    (void)state;
    char *freed = stderr_of(frees_each), *held = stderr_of(holds_each);
    assert_string_equal(freed, "");
    assert_string_equal(held, "");
    free(freed);
    free(held);
}

TEST(tensors_that_pile_up_are_named_once_with_their_line)
{
    (void)state;
    char *few = stderr_of(leaks_each), *many = stderr_of(leaks_more), *again = stderr_of(leaks_more);
    assert_string_equal(few, "");
    assert_non_null(strstr(many, "scope_test.c:"));
    assert_non_null(strstr(many, "fy_mul: 10000 tensors created by this line are alive"));
    assert_non_null(strstr(many, "0.6 MiB so far"));
    assert_non_null(strstr(many, "FY_SCOPE"));
    assert_non_null(strstr(many, "fy_free"));
    assert_string_equal(again, "");
    free(few);
    free(many);
    free(again);
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_scope_made_is_freed_at_its_end),
        cmocka_unit_test(break_and_continue_close_a_scope),
        cmocka_unit_test(return_closes_a_scope_and_keep_carries_one_out),
        cmocka_unit_test(kept_tensors_belong_to_the_enclosing_scope),
        cmocka_unit_test(a_loop_that_frees_its_old_value_grows_nothing),
        cmocka_unit_test(each_turn_is_a_scope_and_break_leaves_the_loop),
        cmocka_unit_test(return_from_a_loop_closes_the_scope_of_its_turn),
        cmocka_unit_test(a_loop_goes_through_an_array_of_tensors),
        cmocka_unit_test(a_loops_iterator_items_go_with_their_turn),
        cmocka_unit_test(set_frees_the_old_and_keeps_the_new_in_scope),
        cmocka_unit_test(set_without_a_scope_leaves_the_tensor_to_the_caller),
        cmocka_unit_test(set_gives_the_new_tensor_the_name),
        cmocka_unit_test(a_tensor_returned_twice_is_given_back_twice),
        cmocka_unit_test(an_explicit_free_takes_the_tensor_out_of_its_scope),
        cmocka_unit_test(a_dead_handle_is_recognised_and_its_end_is_named),
        cmocka_unit_test(getters_name_the_line_that_asks_a_dead_handle),
        cmocka_unit_test(dead_handles_are_recognised_long_after),
        cmocka_unit_test(no_wrong_line_is_named_for_a_reused_place),
        cmocka_unit_test(threads_have_scopes_and_errors_of_their_own),
        cmocka_unit_test(programs_that_hold_or_free_their_tensors_are_not_warned),
        cmocka_unit_test(tensors_that_pile_up_are_named_once_with_their_line),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    recorded_end();
    return failed;
}
