/* Every event says in which turn of which loop it was, and in which other region; of a plain loop nothing is claimed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>

#include "call_paths.h"
#include "recorded.h"

/* ---- loops ---- */

static void leave(void)
{
    FY_TIMES (i, 3) {
        fy_mark("x");
        if (i == 1) return;
    }
}

static void down(int64_t depth)
{
    if (depth == 0) return;
    FY_TIMES (i, depth) fy_mark("x");
    down(depth - 1);
}

static void every_turn_is_counted_however_it_ends(void **state)
{
    (void)state;
    begin();
    FY_TIMES (i, 3) {
        if (i == 1) continue;
        fy_mark("x");
    }
    assert_string_equal(marks(), "FY_TIMES of 3 > 0 > fy_mark; FY_TIMES of 3 > 2 > fy_mark");
    begin();
    FY_TIMES (i, 5) {
        fy_mark("x");
        if (i == 1) break;
    }
    assert_string_equal(marks(), "FY_TIMES of 5 > 0 > fy_mark; FY_TIMES of 5 > 1 > fy_mark");
    begin();
    leave();
    fy_mark("after");
    assert_string_equal(marks(), "FY_TIMES of 3 > 0 > fy_mark; FY_TIMES of 3 > 1 > fy_mark; fy_mark");
    begin();
    down(2);
    assert_string_equal(marks(),
                        "FY_TIMES of 2 > 0 > fy_mark; FY_TIMES of 2 > 1 > fy_mark; FY_TIMES of 1 > 0 > fy_mark");
    begin();
    FY_TIMES (i, 0) fy_mark("x");
    assert_string_equal(marks(), "");
}

static void loops_in_loops_are_told_apart(void **state)
{
    (void)state;
    begin();
    FY_TIMES (i, 2) {
        FY_TIMES (k, i + 1) fy_mark("x");
        fy_mark("y");
    }
    assert_string_equal(
        marks(), "FY_TIMES of 2 > 0 > FY_TIMES of 1 > 0 > fy_mark; FY_TIMES of 2 > 0 > fy_mark; "
                 "FY_TIMES of 2 > 1 > FY_TIMES of 2 > 0 > fy_mark; FY_TIMES of 2 > 1 > FY_TIMES of 2 > 1 > fy_mark; "
                 "FY_TIMES of 2 > 1 > fy_mark");
    begin();
    fy_tensor *all[] = {fy_ones((1)), fy_ones((2))};
    begin();
    FY_EACH (x, all) FY_SCOPE fy_print(x);
    assert_path("host_read", 0, "FY_EACH of 2 > 0 > FY_SCOPE > fy_print");
    assert_path("host_read", 1, "FY_EACH of 2 > 1 > FY_SCOPE > fy_print");
    for (int i = 0; i < 2; i++) fy_free(all[i]);
}

/* Ten times four looks like forty times one. */
static void of_a_plain_loop_no_turn_is_claimed(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 3; i++) fy_mark("x");
    assert_string_equal(marks(), "fy_mark; fy_mark; fy_mark");
}

static void blocks_are_regions_until_they_are_left(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2), .requires_grad = true);
        fy_stream *side = fy_cuda_stream();
        begin();
        FY_NO_GRAD FY_AUTOCAST("cuda", FY_BFLOAT16) fy_mark("x");
        FY_STREAM(side) FY_DEVICE("cuda") fy_mark("x");
        fy_mark("x");
        assert_string_equal(marks(),
                            "FY_SCOPE > FY_NO_GRAD > FY_AUTOCAST > fy_mark; FY_SCOPE > FY_STREAM > FY_DEVICE > "
                            "fy_mark; FY_SCOPE > fy_mark");
        assert_path("set_stream", 1, "FY_SCOPE > FY_STREAM"); /* its end, too */
        assert_non_null(x);
    }
}

/* ---- longjmp, threads, workers, fork ---- */

static jmp_buf out;

static __attribute__((noinline)) void jump(void)
{
    FY_TIMES (i, 3) FY_SCOPE
        {
            fy_mark("x");
            longjmp(out, 1);
        }
}

/* The scopes stay open, as C has no way to end them; the frames are those of a function that has been left. */
static void longjmp_leaves_no_frame_behind(void **state)
{
    (void)state;
    begin();
    if (!setjmp(out)) jump();
    fy_mark("x");
    FY_TIMES (i, 1) fy_mark("x");
    assert_string_equal(marks(), "FY_TIMES of 3 > 0 > FY_SCOPE > fy_mark; fy_mark; FY_TIMES of 1 > 0 > fy_mark");
}

static void *run_loop(void *turns)
{
    FY_TIMES (i, *(const int *)turns) fy_mark("x");
    return NULL;
}

static void threads_have_calls_of_their_own(void **state)
{
    (void)state;
    begin();
    pthread_t other;
    int turns = 2;
    FY_TIMES (i, 1) {
        assert_int_equal(pthread_create(&other, NULL, run_loop, &turns), 0);
        pthread_join(other, NULL);
    }
    assert_string_equal(marks(), "FY_TIMES of 2 > 0 > fy_mark; FY_TIMES of 2 > 1 > fy_mark");
}

/* ---- programs by chance ---- */

/* A program that knows where it is: each of its marks has for its text what Ferry must say of it. */
typedef struct walk {
    uint64_t chance;
    char at[900];
} walk;

static bool one_in(walk *w, unsigned n)
{
    w->chance = w->chance * 6364136223846793005u + 1442695040888963407u;
    return (w->chance >> 33) % n == 0;
}

static void go(walk *w, int depth)
{
    size_t outside = strlen(w->at);
    int n = one_in(w, 5) ? 0 : one_in(w, 2) ? 2 : 3;
    FY_TIMES (i, n) {
        snprintf(w->at + outside, sizeof w->at - outside, "FY_TIMES of %d > %d > ", n, (int)i);
        if (one_in(w, 5)) continue;
        fy_mark(w->at);
        for (int k = 0; k < 2; k++) fy_mark(w->at); /* a plain loop is no region */
        if (depth < 3 && one_in(w, 2)) go(w, depth + 1);
        size_t inside = strlen(w->at);
        if (one_in(w, 3)) FY_SCOPE
            {
                strcat(w->at, "FY_SCOPE > ");
                fy_mark(w->at);
                if (one_in(w, 4)) break; /* out of the scope */
                if (depth < 3) go(w, depth + 1);
            }
        w->at[inside] = 0;
        if (one_in(w, 6)) break;
        if (one_in(w, 9)) goto out;
    }
out:
    w->at[outside] = 0;
}

static void *go_from_the_start(void *of)
{
    go(of, 0);
    return NULL;
}

static void forty_programs_know_the_turns_that_they_are_in(void **state)
{
    (void)state;
    int seen = 0, deep = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        pthread_t other;
        walk mine = {.chance = seed}, theirs = {.chance = seed + 1000};
        begin();
        assert_int_equal(pthread_create(&other, NULL, go_from_the_start, &theirs), 0);
        go(&mine, 0);
        pthread_join(other, NULL);
        recorded_read();
        const cJSON *e;
        for (int i = 0; (e = event_of("mark", i)); i++) {
            char expected[1000];
            snprintf(expected, sizeof expected, "%sfy_mark", text_of(e, "text"));
            assert_string_equal(path_of(e), expected);
            seen++;
            deep += strstr(expected, "FY_SCOPE > FY_TIMES") != NULL;
        }
    }
    assert_true(seen > 1000 && deep > 100);
}

static void get(void *self, int64_t index, fy_tensor **item)
{
    (void)self;
    item[0] = fy_full((2), (double)index);
}

static void a_workers_batch_belongs_to_the_loop(void **state)
{
    (void)state;
    begin();
    fy_dataset *ds = fy_dataset(.len = 4, .get = get);
    fy_dataloader *loader = fy_dataloader(ds, .batch_size = 2, .num_workers = 2);
    FY_EACH (batch, loader) fy_mark("x");
    assert_string_equal(marks(), "FY_EACH of ? > 0 > fy_mark; FY_EACH of ? > 1 > fy_mark");
    bool seen = false;
    for (int i = 0; event_of("op", i); i++) {
        if (strcmp(text_of(event_of("op", i), "name"), "fill") != 0) continue;
        seen |= !strcmp(path("op", i), "FY_EACH of ? > batch 1 > item 3 > fy_full");
        assert_non_null(strstr(path("op", i), "FY_EACH of ? > batch "));
    }
    assert_true(seen);
    fy_dataloader_free(loader);
    fy_dataset_free(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_turn_is_counted_however_it_ends),
        cmocka_unit_test(loops_in_loops_are_told_apart),
        cmocka_unit_test(of_a_plain_loop_no_turn_is_claimed),
        cmocka_unit_test(blocks_are_regions_until_they_are_left),
        cmocka_unit_test(threads_have_calls_of_their_own),
        cmocka_unit_test(forty_programs_know_the_turns_that_they_are_in),
        cmocka_unit_test(a_workers_batch_belongs_to_the_loop),
        cmocka_unit_test(longjmp_leaves_no_frame_behind),
    };
    return cmocka_run_group_tests_name("region_record", tests, record_on_sim, record_no_more);
}
