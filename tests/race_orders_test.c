/* Data races of random programs, held against all that can happen: up to six asynchronous operations on two cards'
 * streams and page-locked memory, with waits of every kind between. interleavings.h tries out every order that the rules
 * allow; two accesses that conflict are a data race if both orders came about. FERRY_TEST_SEED picks other programs.
 *
 * Without a data race every value is what doing all in the program's order would give.
 *
 * Of several earlier works the last ones are told of (race_detector.h): a pair is left out where a work between the two
 * always comes after the first, covers what it touched and conflicts with all that it conflicts with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "race_program.h"

#define TEST(name) static void name(void **state)
#ifdef __SANITIZE_THREAD__ /* which slows each by forty, and there is one thread */
enum { PROGRAMS = 2000, SLOWED = 30, SPEEDS = 20 };
#else
enum { PROGRAMS = 10000, SLOWED = 300, SPEEDS = 20 };
#endif

static int left; /* pairs that fy_record_stream keeps apart */

/* ---- the verdict ---- */

static bool conflict(const use *a, const use *b)
{
    return a->addr == b->addr && (a->elements & b->elements) && (a->write || b->write);
}

static bool stands_for(int w, int a, const use *earlier)
{
    const deed *d = &trial.deeds[w];
    if (d->host || trial.course.before[w][a]) return false;
    for (int i = 0; i < d->n; i++) {
        const use *u = &d->uses[i];
        bool covers = u->addr == earlier->addr && (u->elements & earlier->elements) == earlier->elements;
        if (covers && (u->write || !earlier->write)) return true;
    }
    return false;
}

/* Did a end, in all orders, before the bytes at this address went to a later storage, that of b or one before it? */
static bool has_left(int a, int b, uint64_t addr)
{
    for (int i = 0; i < trial.nleaves; i++) {
        const leave *l = &trial.leaves[i];
        if (l->addr == addr && l->marker > a && l->marker < b && !trial.course.before[l->marker][a])
            return left++, true;
    }
    return false;
}

static bool is_data_race(int a, int b)
{
    const deed *x = &trial.deeds[a], *y = &trial.deeds[b];
    if (!trial.course.before[a][b] || !trial.course.before[b][a]) return false;
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < y->n; k++) {
            bool counts = conflict(&x->uses[i], &y->uses[k]) && !has_left(a, b, x->uses[i].addr);
            for (int w = a + 1; w < b && counts; w++) counts = !stands_for(w, a, &x->uses[i]);
            if (counts) return true;
        }
    return false;
}

static int judge(int program)
{
    int found = 0;
    try_all(&trial.course);
    for (int b = 0; b < trial.course.deeds; b++)
        for (int a = 0; a < b; a++) {
            bool data_race = is_data_race(a, b);
            found += data_race;
            if (data_race != trial.told[a][b])
                fail_msg("program %d: works %d and %d (events %lld and %lld): %s\n%s", program, a, b,
                         trial.deeds[a].seq, trial.deeds[b].seq,
                         data_race ? "a data race was missed" : "a data race was made up", trial.text);
        }
    return found;
}

static int run_program(uint64_t seed, int program)
{
    chance = seed + (uint64_t)program * 1000003;
    begin_trial();
    for (int n = 4 + (int)below(12); n > 0; n--) step_of_program();
    look_at_all();
    int found = judge(program);
    if (!found && wrong) fail_msg("program %d has no data race, and %d wrong values\n%s", program, wrong, trial.text);
    return found;
}

static uint64_t the_seed(void)
{
    const char *text = getenv("FERRY_TEST_SEED");
    return text ? strtoull(text, NULL, 10) : 20260101;
}

TEST(random_programs_have_the_races_that_all_orders_show)
{
    (void)state;
    int data_races = 0, clean = 0;
    asks = true;
    print_message("seed %llu\n", (unsigned long long)the_seed());
    for (int i = 0; i < PROGRAMS; i++) {
        busy = i % 2 ? 300000 : 0; /* freed memory that waits for a stream comes back only in time */
        pace = the_seed();
        int found = run_program(the_seed(), i);
        data_races += found;
        clean += found == 0;
    }
    busy = 0;
    print_message("%d programs: %d data races, %d without; %d pairs kept apart by fy_record_stream\n", PROGRAMS,
                  data_races, clean, left);
    assert_true(data_races > PROGRAMS / 4 && clean > PROGRAMS / 4 && left > PROGRAMS / 1000);
}

/* Calls that cost nothing up to ones in which all the work that was given would end. */
TEST(the_verdict_is_the_same_however_fast_the_host_is)
{
    (void)state;
    static bool first[MOST_DEEDS][MOST_DEEDS];
    asks = false;
    for (int i = 0; i < SLOWED; i++)
        for (int speed = 0; speed <= SPEEDS; speed++) {
            busy = speed * speed * 1000;
            pace = the_seed() + (uint64_t)speed;
            run_program(the_seed() + 1, i);
            if (speed == 0) memcpy(first, trial.told, sizeof first);
            assert_memory_equal(first, trial.told, sizeof first);
        }
    busy = 0;
}

static int start(void **state)
{
    (void)state;
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "h200:gpus=2", 1);
    recorded_start();
    for (int q = 0; q < MOST_QUEUES; q++) {
        const char *card = is_of_other(q) ? "cuda:1" : "cuda:0";
        streams[q] = q % 2 ? fy_cuda_stream(.device = card) : fy_cuda_default_stream(.device = card);
    }
    for (int b = 0; b < BUFFERS; b++)
        buffers[b] = is_pinned(b) ? fy_zeros((SIDE, SIDE), .pin_memory = true)
                                  : fy_zeros((SIDE, SIDE), .device = is_other(b) ? "cuda:1" : "cuda:0");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    recorded_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_have_the_races_that_all_orders_show),
        cmocka_unit_test(the_verdict_is_the_same_however_fast_the_host_is),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start, stop);
}
