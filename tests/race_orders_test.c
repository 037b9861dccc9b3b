/* Data races of random programs, compared with an exhaustive search: up to six asynchronous operations on two cards'
 * streams and page-locked memory, with waits of all kinds. interleavings.h explores every order that the rules allow;
 * two conflicting accesses are a data race if they can execute in either order. FERRY_TEST_SEED selects other programs.
 *
 * Without a data race every value equals that of sequential execution.
 *
 * Of several earlier operations only the last are reported (race_detector.h): a pair is omitted if an operation between
 * the two always follows the first, covers its accesses and conflicts with all that it conflicts with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "race_program.h"

#define TEST(name) static void name(void **state)
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__ /* the plain build runs all of them */
enum { PROGRAMS = 2000, PROGRAMS_PER_SPEED = 30, SPEEDS = 20 };
#else
enum { PROGRAMS = 10000, PROGRAMS_PER_SPEED = 300, SPEEDS = 20 };
#endif

static int pairs_ordered_by_record_stream; /* pairs that only fy_record_stream orders */

/* ---- expected data races ---- */

static bool conflict(const buffer_access *a, const buffer_access *b)
{
    return a->addr == b->addr && (a->elements & b->elements) && (a->write || b->write);
}

static bool supersedes(int w, int a, const buffer_access *earlier)
{
    const operation *d = &race_run.operations[w];
    if (d->host || race_run.schedule.before[w][a]) return false;
    for (int i = 0; i < d->n; i++) {
        const buffer_access *u = &d->accesses[i];
        bool covers = u->addr == earlier->addr && (u->elements & earlier->elements) == earlier->elements;
        if (covers && (u->write || !earlier->write)) return true;
    }
    return false;
}

/* In all interleavings, does a end before the memory at this address is reused for b's storage or an earlier one? */
static bool is_reuse_ordered(int a, int b, uint64_t addr)
{
    for (int i = 0; i < race_run.ndeferred_frees; i++) {
        const deferred_free *l = &race_run.deferred_frees[i];
        if (l->addr == addr && l->marker > a && l->marker < b && !race_run.schedule.before[l->marker][a])
            return pairs_ordered_by_record_stream++, true;
    }
    return false;
}

static bool is_data_race(int a, int b)
{
    const operation *x = &race_run.operations[a], *y = &race_run.operations[b];
    if (!race_run.schedule.before[a][b] || !race_run.schedule.before[b][a]) return false;
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < y->n; k++) {
            bool counts = conflict(&x->accesses[i], &y->accesses[k]) && !is_reuse_ordered(a, b, x->accesses[i].addr);
            for (int w = a + 1; w < b && counts; w++) counts = !supersedes(w, a, &x->accesses[i]);
            if (counts) return true;
        }
    return false;
}

static int check_races(int program)
{
    int found = 0;
    explore_interleavings(&race_run.schedule);
    for (int b = 0; b < race_run.schedule.noperations; b++)
        for (int a = 0; a < b; a++) {
            bool data_race = is_data_race(a, b);
            found += data_race;
            if (data_race != race_run.reported[a][b])
                fail_msg("program %d: works %d and %d (events %lld and %lld): %s\n%s", program, a, b,
                         race_run.operations[a].seq, race_run.operations[b].seq,
                         data_race ? "a data race was missed" : "a data race was made up", race_run.text);
        }
    return found;
}

static int run_program(uint64_t seed, int program)
{
    rng_state = seed + (uint64_t)program * 1000003;
    begin_race_run();
    for (int n = 4 + (int)random_below(12); n > 0; n--) random_step();
    check_all_buffers();
    int found = check_races(program);
    if (!found && wrong_reads)
        fail_msg("program %d has no data race, and %d wrong values\n%s", program, wrong_reads, race_run.text);
    return found;
}

static uint64_t test_seed(void)
{
    const char *text = getenv("FERRY_TEST_SEED");
    return text ? strtoull(text, NULL, 10) : 20260101;
}

TEST(random_programs_have_the_races_that_all_orders_show)
{
    (void)state;
    int data_races = 0, clean = 0;
    may_query = true;
    print_message("seed %llu\n", (unsigned long long)test_seed());
    for (int i = 0; i < PROGRAMS; i++) {
        max_pause = i % 2 ? 300000 : 0; /* freed memory that waits for a stream is reused only as time passes */
        pause_rng_state = test_seed();
        int found = run_program(test_seed(), i);
        data_races += found;
        clean += found == 0;
    }
    max_pause = 0;
    print_message("%d programs: %d data races, %d without; %d pairs kept apart by fy_record_stream\n", PROGRAMS,
                  data_races, clean, pairs_ordered_by_record_stream);
    assert_true(data_races > PROGRAMS / 4 && clean > PROGRAMS / 4 && pairs_ordered_by_record_stream > PROGRAMS / 1000);
}

/* Pauses from none up to longer than all queued work. */
TEST(the_verdict_is_the_same_however_fast_the_host_is)
{
    (void)state;
    static bool first[MAX_OPERATIONS][MAX_OPERATIONS];
    may_query = false;
    for (int i = 0; i < PROGRAMS_PER_SPEED; i++)
        for (int speed = 0; speed <= SPEEDS; speed++) {
            max_pause = speed * speed * 1000;
            pause_rng_state = test_seed() + (uint64_t)speed;
            run_program(test_seed() + 1, i);
            if (speed == 0) memcpy(first, race_run.reported, sizeof first);
            assert_memory_equal(first, race_run.reported, sizeof first);
        }
    max_pause = 0;
}

static int start(void **state)
{
    setenv("FERRY_SIM", "h200:gpus=2", 1);
    record_on_sim(state);
    for (int q = 0; q < MAX_QUEUES; q++) {
        const char *card = is_queue_of_card1(q) ? "cuda:1" : "cuda:0";
        streams[q] = q % 2 ? fy_cuda_stream(.device = card) : fy_cuda_default_stream(.device = card);
    }
    for (int b = 0; b < BUFFERS; b++)
        buffers[b] = is_pinned(b) ? fy_zeros((SIDE, SIDE), .pin_memory = true)
                                  : fy_zeros((SIDE, SIDE), .device = is_on_card1(b) ? "cuda:1" : "cuda:0");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_have_the_races_that_all_orders_show),
        cmocka_unit_test(the_verdict_is_the_same_however_fast_the_host_is),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start, record_no_more);
}
