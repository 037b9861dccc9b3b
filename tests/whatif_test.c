/* `ferry whatif`: replays a log's program on the timing model. With its own card every log gives its own times, which
 * replay() compares event by event; with another card, the times of that card's own log. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "card_params.h"
#include "ferry.h"
#include "forked.h"
#include "replay.h"
#include "learner_folder.h"
#include "text.h"

static char err[600];

/* Committed logs omit `values`: another event in their place keeps seq contiguous. */
static void add_line(fy_text *all, const char *line, size_t size, int *next)
{
    int seq = atoi(line + strlen("{\"seq\":"));
    for (; *next < seq; ++*next) fy_text_printf(all, "{\"seq\":%d,\"t\":0,\"kind\":\"values\",\"th\":0}\n", *next);
    fy_text_printf(all, "%.*s\n", (int)size, line);
    ++*next;
}

static trace read_log(const char *path)
{
    trace t;
    fy_text all = {0};
    int next = 0;
    char *text = file_read(path, NULL);
    assert_non_null(text);
    for (char *p = text, *end; (end = strchr(p, '\n')) != NULL; p = end + 1)
        add_line(&all, p, (size_t)(end - p), &next);
    if (!trace_of_lines(&t, all.data, all.size, err, sizeof err)) fail_msg("%s: %s", path, err);
    free(all.data);
    free(text);
    return t;
}

static void replay_or_fail(const trace *t, replay_plan plan, ledger *logged, ledger *other)
{
    if (!replay(t, &plan, logged, other, err, sizeof err)) fail_msg("%s", err);
}

/* ---- programs ---- */

static fy_tensor *on_two_streams(fy_stream *s, fy_stream *t, fy_tensor *pinned, fy_tensor *pageable)
{
    fy_event *e = fy_cuda_event();
    fy_tensor *x = NULL, *y = NULL;
    FY_STREAM(s)
    {
        x = fy_to(pinned, "cuda", .non_blocking = true);
        fy_event_record(e);
        y = fy_add(x, x);
    }
    FY_STREAM(t)
    {
        fy_event_wait(e);
        fy_mul(x, 2.0);
        fy_to(pageable, "cuda");
        fy_to(x, "cpu", .non_blocking = true);
    }
    fy_event_query(e);
    fy_event_synchronize(e);
    fy_event_free(e);
    return y;
}

static void several_streams_and_cards(void)
{
    fy_tensor *pinned = fy_pin_memory(fy_ones((64, 64))), *pageable = fy_ones((3000, 1000));
    fy_tensor *half = fy_ones((300, 300), .device = "cuda", .dtype = FY_BFLOAT16), *full = fy_to(half, FY_FLOAT64);
    fy_stream *s = fy_cuda_stream(), *t = fy_cuda_stream();
    for (int i = 0; i < 3; i++) {
        fy_tensor *y = on_two_streams(s, t, pinned, pageable);
        fy_stream_wait_stream(fy_cuda_default_stream(), s);
        fy_tensor *on_cuda = fy_to(y, "cuda:1");
        fy_item(fy_sum(on_cuda));
        fy_stream_synchronize(s);
        fy_cpu(fy_matmul(y, y));
        fy_cpu(fy_matmul(half, half));
        fy_cpu(fy_exp(fy_matmul(full, full)));
        fy_cuda_synchronize();
    }
}

static void log_into(const char *path, const char *sim, void (*program)(void))
{
    run_forked(program,
               ENVIRONMENT("FERRY_GPU", "sim", "FERRY_SIM", sim, "FERRY_TRACE", path, "CUDA_VISIBLE_DEVICES", NULL),
               false);
    assert_exited_with(0);
}

static trace log_of(const char *sim, void (*program)(void))
{
    char path[100];
    snprintf(path, sizeof path, "%s/log.jsonl", learner_folder);
    log_into(path, sim, program);
    trace t = read_log(path);
    unlink(path);
    return t;
}

/* ---- a log gives its own times ---- */

static void each_golden_log_gives_its_own_times(void **state)
{
    static const char *const names[] = {"01-where-am-i", "02-to-returns", "03-round-trip"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[100];
        ledger logged, other;
        snprintf(path, sizeof path, "tests/golden/%s.jsonl", names[i]);
        trace t = read_log(path);
        replay_or_fail(&t, (replay_plan){0}, &logged, &other);
        assert_memory_equal(&logged, &other, sizeof logged);
        assert_int_equal(logged.total, t.events[t.count - 1].t);
        trace_free(&t);
    }
}

static void so_does_a_log_of_several_streams_and_cards(void **state)
{
    (void)state;
    static const char *const sims[] = {"h200:gpus=2", "laptop:gpus=2,peer=off", "old:gpus=2,queue=2,bus=1GB/s"};
    for (size_t i = 0; i < 3; i++) {
        ledger logged, other;
        trace t = log_of(sims[i], several_streams_and_cards);
        replay_or_fail(&t, (replay_plan){0}, &logged, &other);
        assert_memory_equal(&logged, &other, sizeof logged);
        assert_int_equal(logged.copies[REPLAY_P2P], 3);
        assert_int_equal(logged.queries, 3);
        assert_int_equal(logged.untold, 0); /* each host wait has its event */
        trace_free(&t);
    }
}

static void under_another_card_it_gives_what_that_card_logs(void **state)
{
    (void)state;
    ledger here, on_cuda, logged, same;
    trace fast = log_of("h200:gpus=2", several_streams_and_cards),
          slow = log_of("old:gpus=2,peer=off", several_streams_and_cards);
    replay_or_fail(&fast, (replay_plan){.card = fy_card_find("old"), .peer_off = true}, &here, &on_cuda);
    replay_or_fail(&slow, (replay_plan){0}, &logged, &same);
    assert_memory_equal(on_cuda.wire, logged.wire, sizeof logged.wire);
    assert_memory_equal(on_cuda.bytes, logged.bytes, sizeof logged.bytes);
    assert_int_equal(on_cuda.staging, logged.staging);
    assert_int_equal(on_cuda.compute, logged.compute);
    assert_int_equal(on_cuda.overhead, logged.overhead);
    assert_true(on_cuda.total > here.total);
    trace_free(&fast);
    trace_free(&slow);
}

/* ---- a log made by hand: bus 1 byte a ns, staging 2, chunks of 1000, VRAM 4; call 10, launch 20, transfer 5,
 * kernel 7. A pageable copy of 2500 bytes ends at 3025 (timetable_test.c), then a kernel of 975 ns, then a wait. */

#define MODEL(bus) \
    "\"model\":{\"flops_f32\":1000000000,\"memory_bandwidth\":4000000000,\"bus_bandwidth\":" bus "," \
    "\"staging_bandwidth\":2000000000,\"staging_chunk\":1000,\"bus_latency\":5,\"call_overhead\":10," \
    "\"launch_overhead\":20,\"kernel_latency\":7,\"peer_bandwidth\":0,\"launch_queue\":16,\"malloc_overhead\":50," \
    "\"free_overhead\":40,\"pin_overhead\":30,\"pin_bandwidth\":8000000000,\"unpin_bandwidth\":0}"
#define SESSION(clock, bus) \
    "{\"seq\":0,\"t\":0,\"kind\":\"session\",\"th\":0,\"schema\":2,\"clock\":\"" clock \
    "\",\"devices\":[{\"name\":\"cpu\"}," \
    "{\"name\":\"cuda:0\",\"kind\":\"sim\"," MODEL(bus) "}]}\n"
#define COPY(end) \
    "{\"seq\":1,\"t\":3125,\"kind\":\"copy\",\"th\":0,\"id\":1,\"src\":{\"storage\":1,\"device\":\"cpu\",\"mem\":" \
    "\"pageable\"},\"dst\":{\"storage\":2,\"device\":\"cuda:0\",\"mem\":\"device\"},\"bytes\":2500,\"dir\":\"h2d\"," \
    "\"stream\":0,\"async\":false,\"route\":\"staged\",\"held\":3025}\n" \
    "{\"seq\":2,\"t\":3125,\"kind\":\"complete\",\"th\":0,\"id\":1,\"start\":110,\"end\":" end "}\n"
#define KERNEL(th) \
    "{\"seq\":3,\"t\":3145,\"kind\":\"op\",\"th\":" th ",\"id\":2,\"device\":\"cuda:0\",\"stream\":0,\"flops\":975," \
    "\"bytes\":100,\"held\":20}\n" \
    "{\"seq\":4,\"t\":3145,\"kind\":\"complete\",\"th\":0,\"id\":2,\"start\":3145,\"end\":4127,\"overhead\":27}\n"
#define WAIT \
    "{\"seq\":5,\"t\":4127,\"kind\":\"sync\",\"th\":0,\"scope\":\"device\",\"device\":\"cuda:0\",\"held\":982}\n"

static trace parsed(const char *lines)
{
    trace t;
    if (!trace_of_lines(&t, lines, strlen(lines), err, sizeof err)) fail_msg("%s", err);
    return t;
}

static void figures_memory_and_waiting_change_what_they_change(void **state)
{
    (void)state;
    ledger a, b;
    trace t = parsed(SESSION("model", "1000000000") COPY("3125") KERNEL("0") WAIT);
    replay_or_fail(&t, (replay_plan){.pinned = true}, &a, &b);
    assert_int_equal(a.total, 4127); /* 100 ns that the log does not explain come first */
    assert_int_equal(a.untold, 100);
    assert_int_equal(a.held, 4027);
    assert_int_equal(a.staging, 1250);
    assert_int_equal(a.compute, 982);
    assert_int_equal(a.overhead, 25 + 27 + 10);
    assert_int_equal(b.total, 100 + 10 + 5 + 2500 + 20 + 982); /* direct, but still blocking */
    assert_int_equal(b.staging, 0);
    replay_or_fail(&t, (replay_plan){.pinned = true, .async = true}, &a, &b);
    assert_int_equal(b.total, 100 + 10 + 5 + 2500 + 982); /* the launch is hidden behind the copy */
    replay_or_fail(&t, (replay_plan){.bus = 2000000000}, &a, &b);
    assert_int_equal(a.wire[REPLAY_H2D], 2500);
    assert_int_equal(b.wire[REPLAY_H2D], 1250);
    assert_int_equal(b.staging, a.staging);
    assert_int_equal(b.overhead, a.overhead);
    trace_free(&t);
}

/* cudaMalloc 50; page-locking 30 and 8000 bytes at 8 per ns; cudaFree 40, after the kernel of 7 + 975. */
static void taking_and_giving_back_memory_is_worked_out_too(void **state)
{
    (void)state;
    ledger a, b;
    trace t = parsed(SESSION(
        "model",
        "1000000000") "{\"seq\":1,\"t\":50,\"kind\":\"segment\",\"th\":0,\"device\":\"cuda:0\",\"mem\":\"device\","
                      "\"addr\":\"0x70\",\"bytes\":2097152,\"held\":50}\n"
                      "{\"seq\":2,\"t\":1080,\"kind\":\"segment\",\"th\":0,\"device\":\"cpu\",\"mem\":\"pinned\","
                      "\"addr\":\"0x55\",\"bytes\":8000,\"held\":1030}\n"
                      "{\"seq\":3,\"t\":1100,\"kind\":\"op\",\"th\":0,\"id\":2,\"device\":\"cuda:0\",\"stream\":0,"
                      "\"flops\":975,\"bytes\":100,\"held\":20}\n"
                      "{\"seq\":4,\"t\":2122,\"kind\":\"segment_free\",\"th\":0,\"device\":\"cuda:0\",\"addr\":"
                      "\"0x70\","
                      "\"bytes\":2097152,\"held\":1022}\n");
    replay_or_fail(&t, (replay_plan){.card = fy_card_find("old")}, &a, &b);
    assert_int_equal(a.total, 2122);
    assert_int_equal(a.untold, 0);
    assert_int_equal(b.total,
                     200000 + 100000 + 8000 / 2 + 8000 + 6000 + 1 + 200000); /* by the parameters in card_models.c */
    trace_free(&t);
}

static void assert_refused(const char *lines, const char *why)
{
    ledger a, b;
    trace t = parsed(lines);
    assert_false(replay(&t, &(replay_plan){0}, &a, &b, err, sizeof err));
    if (!strstr(err, why)) fail_msg("'%s' wanted in '%s'", why, err);
    trace_free(&t);
}

static void what_the_log_does_not_say_is_refused(void **state)
{
    (void)state;
    assert_refused(SESSION("measured", "1"), "measured on a real card");
    assert_refused(SESSION("model", "\"fast\""), "has no valid cuda:0.bus_bandwidth: record the log");
    assert_refused(SESSION("model", "1"), "has no valid cuda:0.bus_bandwidth");
    assert_refused(SESSION("model", "1000000000") "{\"seq\":1,\"t\":9,\"kind\":\"event_wait\",\"th\":0,"
                                                  "\"device\":\"cuda:0\",\"stream\":0}\n",
                   "event 1 (event_wait) lacks a field");
    assert_refused("{\"seq\":0,\"t\":0,\"kind\":\"alloc\",\"th\":0}\n", "does not begin with a session event");
    assert_refused(SESSION("model", "1000000000") COPY("3126"), "event 1 (copy) has a different time");
    assert_refused(SESSION("model", "2000000000") COPY("3125"), "event 1 (copy) has a different time");
    assert_refused(SESSION("model", "1000000000") COPY("3125") KERNEL("1"), "event 3 (op) comes from a second thread");
    assert_refused(SESSION("model", "1000000000") "{\"seq\":1,\"t\":9,\"kind\":\"op\",\"th\":0,\"device\":\"cuda:3\","
                                                  "\"stream\":0,\"flops\":1,\"bytes\":1,\"held\":1}\n",
                   "event 1 (op) lacks a field, or has an unknown card or stream");
}

/* ---- the command ---- */

static void expect(const char *arguments, int status, const char *part)
{
    char *printed;
    int got = run_ferry(arguments, &printed);
    if (got != status || !strstr(printed, part))
        fail_msg("ferry %s: status %d (wanted %d), '%s' wanted in:\n%s", arguments, got, status, part, printed);
    free(printed);
}

static void mistakes_have_their_exit_status(void **state)
{
    (void)state;
    expect("whatif", 2, "usage: ferry whatif FILE");
    expect("whatif /nowhere/run.jsonl", 1, "cannot open /nowhere/run.jsonl");
    expect("whatif x --card abacus", 2, "there is no card 'abacus'; known: h200, laptop, old");
    expect("whatif x --bus 8", 2, "--bus 8 is not a rate; write a number and its unit, as in --bus 8GB/s");
    expect("whatif x --peer maybe", 2, "write --peer on or --peer off");
    expect("whatif x --card", 2, "a value is missing after '--card'");
}

static void round_trip(void) { fy_cpu(fy_cuda(fy_pin_memory(fy_ones((3, 1000, 1000))))); }

static void both_ledgers_are_printed(void **state)
{
    char arguments[300], path[100];
    (void)state;
    snprintf(path, sizeof path, "%s/printed.jsonl", learner_folder);
    log_into(path, "h200:bus=12GB/s", round_trip);
    snprintf(arguments, sizeof arguments, "whatif %s --bus 6GB/s", path);
    expect(arguments, 0, "What if: --bus 6GB/s\nmodelled times in us                     as logged        what if\n");
    expect(arguments, 0, "  on the bus, to a card                    1000.000       2000.000    200 %\n");
    expect(arguments, 0, "  12000000 bytes to a card in 1 copy\n  12000000 bytes to the host in 1 copy\n");
    snprintf(arguments, sizeof arguments, "whatif %s --pinned --card old", path);
    expect(arguments, 0,
           "  --pinned: all host tensors count as page-locked already; the cost of page-locking is not included.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_golden_log_gives_its_own_times),
        cmocka_unit_test(so_does_a_log_of_several_streams_and_cards),
        cmocka_unit_test(under_another_card_it_gives_what_that_card_logs),
        cmocka_unit_test(figures_memory_and_waiting_change_what_they_change),
        cmocka_unit_test(taking_and_giving_back_memory_is_worked_out_too),
        cmocka_unit_test(what_the_log_does_not_say_is_refused),
        cmocka_unit_test(mistakes_have_their_exit_status),
        cmocka_unit_test(both_ledgers_are_printed),
    };
    return cmocka_run_group_tests(tests, make_learner_folder, remove_learner_folder);
}
