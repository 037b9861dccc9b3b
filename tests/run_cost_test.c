/* run_cost_test.c: findings and what-if as the page gets them. A changed run has the times of the log that the corrected
 * program would have written, which a corrected program then writes; with no change no byte of the lines changes. */
#define _GNU_SOURCE
#include "explained.h"

#include <fcntl.h>
#include <inttypes.h>

#include "event_json.h"
#include "http_client.h"
#include "live_server.h"
#include "paths.h"
#include "replay.h"
#include "rewrite.h"
#include "run_cost.h"

static char err[600], path[] = "/tmp/ferry-cost-test.XXXXXX";

/* ---- programs, and the same without what the finding tells ---- */

static void work(fy_tensor *x)
{
    for (int i = 0; i < 3; i++) fy_relu(x);
}

static void sends_again(void)
{
    fy_tensor *x = fy_rand((512, 512));
    work(fy_to(x, "cuda"));
    fy_tensor *again = fy_to(x, "cuda");
    fy_print(fy_sum(again));
}

static void sends_once(void)
{
    fy_tensor *x = fy_rand((512, 512));
    fy_tensor *there = fy_to(x, "cuda");
    work(there);
    fy_print(fy_sum(there));
}

static void goes_to_and_fro(void)
{
    fy_tensor *h = fy_rand((128, 128));
    for (int i = 0; i < 4; i++) h = fy_cpu(fy_relu(fy_to(h, "cuda")));
    fy_print(h);
}

static void goes_once(void)
{
    fy_tensor *h = fy_to(fy_rand((128, 128)), "cuda");
    for (int i = 0; i < 4; i++) h = fy_relu(h);
    fy_print(fy_cpu(h));
}

static void makes_it_here(void)
{
    fy_free(fy_ones((4), .device = "cuda")); /* the first use */
    fy_relu(fy_to(fy_rand((64, 64)), "cuda"));
}

static void makes_it_there(void)
{
    fy_free(fy_ones((4), .device = "cuda"));
    fy_relu(fy_rand((64, 64), .device = "cuda"));
}

static void looks_in_every_step(void)
{
    fy_tensor *x = fy_ones((256, 256), .device = "cuda");
    for (int i = 0; i < 6; i++) {
        fy_relu_(x);
        fy_item(fy_max(x));
    }
}

static void looks_at_the_end(void)
{
    fy_tensor *x = fy_ones((256, 256), .device = "cuda"), *most = NULL;
    for (int i = 0; i < 6; i++) {
        fy_relu_(x);
        most = fy_max(x);
    }
    fy_item(most);
}

enum { LARGE = 4 << 20 };

static void sends_in_the_same_stream(void)
{
    fy_tensor *next = fy_rand((LARGE), .pin_memory = true), *w = fy_ones((LARGE), .device = "cuda");
    fy_tensor *there = fy_empty((LARGE), .device = "cuda");
    fy_cuda_stream(), fy_cuda_event();
    for (int i = 0; i < 3; i++) {
        fy_tensor *y = fy_add(w, w);
        fy_copy_(there, next, .non_blocking = true);
        fy_print(fy_sum(fy_add(there, y)));
    }
    fy_item(fy_select(there, 0, 7));
}

static void sends_in_its_own_stream(void)
{
    fy_tensor *next = fy_rand((LARGE), .pin_memory = true), *w = fy_ones((LARGE), .device = "cuda");
    fy_tensor *there = fy_empty((LARGE), .device = "cuda");
    fy_stream *own = fy_cuda_stream();
    fy_event *used = fy_cuda_event(), *sent = fy_cuda_event();
    for (int i = 0; i < 3; i++) {
        if (i) fy_event_record(used);
        fy_tensor *y = fy_add(w, w);
        FY_STREAM(own)
        {
            if (i) fy_event_wait(used);
            fy_copy_(there, next, .non_blocking = true);
            fy_event_record(sent);
        }
        fy_event_wait(sent);
        fy_print(fy_sum(fy_add(there, y)));
    }
    fy_item(fy_select(there, 0, 7));
}

static void brings_back_first(void)
{
    fy_tensor *w = fy_ones((LARGE), .device = "cuda"), *back = fy_empty((LARGE), .pin_memory = true);
    fy_tensor *a = fy_add(w, w);
    fy_copy_(back, a);
    fy_print(fy_sum(fy_mul(w, w)));
    fy_print(fy_sum(back));
}

static void brings_back_beside(void)
{
    fy_tensor *w = fy_ones((LARGE), .device = "cuda"), *back = fy_empty((LARGE), .pin_memory = true);
    fy_stream *own = fy_cuda_stream();
    fy_event *made = fy_cuda_event(), *here = fy_cuda_event();
    fy_tensor *a = fy_add(w, w);
    fy_event_record(made);
    FY_STREAM(own)
    {
        fy_event_wait(made);
        fy_copy_(back, a, .non_blocking = true);
        fy_event_record(here);
    }
    fy_print(fy_sum(fy_mul(w, w)));
    fy_event_synchronize(here);
    fy_print(fy_sum(back));
}

static void goes_for_a_small_sum(void)
{
    fy_free(fy_ones((4), .device = "cuda"));
    for (int i = 0; i < 3; i++) {
        fy_tensor *x = fy_to(fy_rand((1024)), "cuda");
        fy_print(fy_cpu(fy_sum(fy_add(x, x))));
    }
}

static void stays_for_a_small_sum(void)
{
    fy_free(fy_ones((4), .device = "cuda"));
    for (int i = 0; i < 3; i++) {
        fy_tensor *x = fy_rand((1024));
        fy_print(fy_sum(fy_add(x, x)));
    }
}

static void looks_into_what_it_sends(void)
{
    fy_tensor *next = fy_rand((LARGE)), *w = fy_ones((LARGE), .device = "cuda");
    fy_tensor *y = fy_add(w, w), *there = fy_to(next, "cuda");
    ((float *)fy_data(next))[0] = 1;
    fy_print(fy_sum(fy_add(there, y)));
}

static void leaks_each_time(void)
{
    fy_tensor *x = fy_ones((1 << 20), .device = "cuda"); /* 4 MiB */
    for (int i = 0; i < 6; i++) fy_relu(x);
}

static void copies_pageable(void)
{
    fy_tensor *x = fy_rand((1024, 1024)), *there = fy_empty((1024, 1024), .device = "cuda");
    fy_copy_(there, x, .non_blocking = true);
    work(there);
}

static void everything(void)
{
    fy_stream *s = fy_cuda_stream();
    fy_event *e = fy_cuda_event();
    fy_tensor *pinned = fy_pin_memory(fy_ones((512, 512))), *there = NULL;
    FY_STREAM(s)
    {
        there = fy_to(pinned, "cuda", .non_blocking = true);
        fy_event_record(e);
    }
    fy_event_wait(e);
    fy_tensor *y = fy_matmul(there, there);
    fy_event_query(e);
    fy_print(fy_sum(y));
    goes_to_and_fro();
    fy_cuda_synchronize();
}

/* ---- reading ---- */

static void record(void (*program)(void)) { record_program(&(explained){"", program, 0, NULL}, path); }

static feed *open_run(void)
{
    feed *f = feed_of_file(path, err, sizeof err);
    if (!f) fail_msg("%s", err);
    return f;
}

static void add_total(void *user, const fy_event *e)
{
    int64_t *total = user, end = e->kind == FY_KIND_complete ? e->is.complete.end : 0;
    if (e->t > *total) *total = e->t;
    if (end > *total) *total = end;
}

/* Until the host and the cards have finished; of what was left out there is only the call. */
static int64_t total_of(const char *lines, size_t size)
{
    int64_t total = 0;
    for (const char *p = lines, *stop; p < lines + size && (stop = memchr(p, '\n', (size_t)(lines + size - p)));
         p = stop + 1)
        if (memmem(p, (size_t)(stop - p), "\"kind\"", 6) &&
            !trace_each(p, (size_t)(stop - p), add_total, &total, err, sizeof err))
            fail_msg("%.*s: %s", (int)(stop - p), p, err);
    return total;
}

static int64_t total_of_file(void)
{
    size_t size = 0;
    char *text = file_read(path, &size);
    int64_t total = total_of(text, size);
    free(text);
    return total;
}

/* The total of the run that was recorded last, without its finding of this rule. */
static int64_t total_without(const char *rule)
{
    findings f;
    fy_text out = {0};
    feed *run = open_run();
    findings_of_feed(&f, run);
    const finding *x = finding_of(&f, rule, 0);
    if (!x || !x->change) fail_msg("no %s that could be tried", rule);
    int status = fy_run_whatif(run, rule, x->seq, &out, err, sizeof err);
    if (status != 200) fail_msg("%d: %s", status, err);
    const char *head = memchr(out.data, '\n', out.size);
    assert_non_null(head);
    assert_memory_equal(out.data, "{\"rule\":\"", 9);
    int64_t total = total_of(head + 1, out.size - (size_t)(head + 1 - out.data));
    free(out.data);
    findings_free(&f);
    feed_free(run);
    return total;
}

/* ---- what-if ---- */

static void no_change_changes_no_byte(void **state)
{
    (void)state;
    record(everything);
    trace t;
    ledger a, b;
    fy_text out = {0};
    size_t size = 0;
    char *text = file_read(path, &size);
    if (!trace_of_lines(&t, text, size, err, sizeof err)) fail_msg("%s", err);
    replay_plan plan = {.moments = calloc((size_t)t.count, sizeof(replay_moment))};
    if (!replay(&t, &plan, &a, &b, err, sizeof err)) fail_msg("%s", err);
    rewrite_lines(text, size, &t, plan.moments, &out);
    for (size_t i = 0; i < size; i++)
        if (i >= out.size || out.data[i] != text[i])
            fail_msg("%.300s\nbecame\n%.300s", text + (i < 100 ? 0 : i - 100), out.data + (i < 100 ? 0 : i - 100));
    free(out.data);
    free(plan.moments);
    trace_free(&t);
    free(text);
}

static void a_changed_run_ends_as_the_corrected_one(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        void (*program)(void), (*corrected)(void);
    } pairs[] = {
        {"sent-again", sends_again, sends_once},
        {"round-trip", goes_to_and_fro, goes_once},
        {"created-then-moved", makes_it_here, makes_it_there},
        {"hidden-sync", looks_in_every_step, looks_at_the_end},
        {"missed-overlap", sends_in_the_same_stream, sends_in_its_own_stream},
        {"missed-overlap", brings_back_first, brings_back_beside},
        {"copies-cost-more-than-op", goes_for_a_small_sum, stays_for_a_small_sum},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        record(pairs[i].program);
        int64_t before = total_of_file(), changed = total_without(pairs[i].rule);
        record(pairs[i].corrected);
        if (changed != total_of_file() || changed >= before)
            fail_msg("%s: %" PRId64 " ns, changed %" PRId64 ", corrected %" PRId64, pairs[i].rule, before, changed,
                     total_of_file());
    }
}

static void a_pinned_copy_is_told_as_direct(void **state)
{
    (void)state;
    fy_text out = {0};
    record(copies_pageable);
    int64_t before = total_of_file();
    assert_true(total_without("blocking-pageable") < before);
    findings f;
    feed *run = open_run();
    findings_of_feed(&f, run);
    assert_int_equal(
        fy_run_whatif(run, "blocking-pageable", finding_of(&f, "blocking-pageable", 0)->seq, &out, err, sizeof err),
        200);
    fy_text_add(&out, "", 1);
    assert_non_null(strstr(out.data, "\"mem\":\"pinned\""));
    assert_non_null(strstr(out.data, "\"was_async\":true,\"route\":\"direct\""));
    assert_non_null(strstr(out.data, "page-lock the memory is not included"));
    free(out.data);
    findings_free(&f);
    feed_free(run);
}

/* ---- what cannot be tried ---- */

static void what_cannot_be_tried_says_why(void **state)
{
    (void)state;
    findings f;
    fy_text list = {0}, out = {0};
    record(looks_into_what_it_sends);
    feed *run = open_run();
    findings_of_feed(&f, run);
    const finding *x = finding_of(&f, "missed-overlap", 0);
    assert_non_null(x);
    assert_null(x->change);
    findings_json(&f, 100, &list);
    fy_text_add(&list, "", 1);
    assert_non_null(strstr(list.data, "\"no_try\":\"the program has a raw pointer to these bytes"));
    assert_int_equal(fy_run_whatif(run, "missed-overlap", x->seq, &out, err, sizeof err), 422);
    free(list.data);
    free(out.data);
    findings_free(&f);
    feed_free(run);
}

static void what_leaks_is_told_in_bytes(void **state)
{
    (void)state;
    findings f;
    record(leaks_each_time);
    feed *run = open_run();
    findings_of_feed(&f, run);
    const finding *x = finding_of(&f, "leak", 0);
    assert_non_null(x);
    assert_null(x->change);
    assert_non_null(strstr(x->no_try, "at most 8 MiB would be allocated on cuda:0 at once, and not 28 MiB"));
    findings_free(&f);
    feed_free(run);
}

static void a_graded_run_can_be_tried(void **state)
{
    (void)state;
    record(sends_again);
    int64_t plain = total_without("sent-again");
    size_t size = 0;
    char *text = file_read(path, &size);
    fy_text graded = {0};
    int seq = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++) seq++;
    fy_text_add(&graded, text, size);
    fy_text_printf(
        &graded,
        "{\"seq\":%d,\"t\":0,\"kind\":\"check\",\"th\":0,\"lesson\":\"1\",\"check\":\"answered\",\"pass\":true,"
        "\"points\":1,\"at\":[]}\n"
        "{\"seq\":%d,\"t\":0,\"kind\":\"grade\",\"th\":0,\"lesson\":\"1\",\"pass\":true,\"passed\":1,\"checks\":1}\n",
        seq, seq + 1);
    assert_true(file_write(path, graded.data, graded.size));
    assert_int_equal(total_without("sent-again"), plain);
    free(graded.data);
    free(text);
}

static void a_measured_run_cannot_be_changed(void **state)
{
    (void)state;
    record(sends_again);
    size_t size = 0;
    char *text = file_read(path, &size), *clock = strstr(text, "\"clock\":\"model\"");
    fy_text measured = {0}, out = {0};
    fy_text_add(&measured, text, (size_t)(clock - text));
    fy_text_str(&measured, "\"clock\":\"measured\"");
    fy_text_str(&measured, clock + strlen("\"clock\":\"model\""));
    assert_true(file_write(path, measured.data, measured.size));
    findings f;
    feed *run = open_run();
    findings_of_feed(&f, run);
    assert_int_equal(fy_run_whatif(run, "sent-again", finding_of(&f, "sent-again", 0)->seq, &out, err, sizeof err),
                     422);
    assert_non_null(strstr(err, "measured on a real card"));
    findings_free(&f);
    feed_free(run);
    free(measured.data);
    free(out.data);
    free(text);
}

static void the_list_is_that_of_explain_and_bounded(void **state)
{
    (void)state;
    findings f;
    fy_text all = {0}, some = {0}, none = {0};
    record(goes_to_and_fro);
    feed *run = open_run();
    findings_of_feed(&f, run);
    findings_json(&f, 100, &all);
    assert_int_equal(fy_run_findings(run, &some), 200);
    assert_int_equal(all.size, some.size);
    assert_memory_equal(all.data, some.data, all.size);
    assert_true(f.count > 0);
    findings_json(&f, 0, &none);
    fy_text_add(&none, "", 1);
    assert_non_null(strstr(none.data, "\"more\":"));
    assert_non_null(strstr(none.data, "\"findings\":[]"));
    free(all.data), free(some.data), free(none.data);
    findings_free(&f);
    feed_free(run);
}

/* ---- over HTTP ---- */

static char *ask(const char *where, int *status)
{
    char *answer = http_ask(server_port(live_server), (http_request){"GET", where, live_host, NULL, live_token, NULL});
    *status = status_of(answer);
    return answer;
}

static void expect(const char *where, int wanted, const char *words)
{
    int status;
    char *answer = ask(where, &status);
    if (status != wanted || !strstr(answer, words)) fail_msg("%s: %d, %s", where, status, answer);
    free(answer);
}

static void costs_need_the_token_and_a_run_that_ended(void **state)
{
    (void)state;
    char where[64];
    int run = new_run();
    emit(3);
    snprintf(where, sizeof where, "/api/runs/%d/findings", run);
    expect(where, 409, "has not ended");
    assert_int_equal(
        http_ask_status(server_port(live_server), (http_request){"GET", where, live_host, NULL, NULL, NULL}), 403);
    assert_int_equal(http_ask_status(server_port(live_server),
                                     (http_request){"POST", where, live_host, live_origin, live_token, "{}"}),
                     405);
    server_run_ended(live_server, run);
    expect(where, 200, "\"findings\":[]");
    snprintf(where, sizeof where, "/api/runs/%d/whatif/leak/0", run);
    expect(where, 404, "no finding leak at event 0");
    expect("/api/runs/9999/findings", 404, "only the last 16 are kept");
}

static void costs_of_nothing_are_refused(void **state)
{
    (void)state;
    char where[2000];
    int run = new_run();
    emit(3);
    server_run_ended(live_server, run);
    static const char *const bad[] = {"",
                                      "findings/",
                                      "finding",
                                      "whatif",
                                      "whatif/",
                                      "whatif/leak",
                                      "whatif/leak/",
                                      "whatif/leak/-1",
                                      "whatif/leak/1e3",
                                      "whatif/leak/3/4",
                                      "whatif/LEAK/3",
                                      "whatif/leak/99999999999999999999999",
                                      "whatif/a-rule-with-a-name-of-more-than-forty-letters/3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(where, sizeof where, "/api/runs/%d/%s", run, bad[i]);
        expect(where, 404, "there is no such page");
    }
    snprintf(where, sizeof where, "/api/runs/%d/whatif/%.*d", run, 1200, 0);
    expect(where, 400, "error");
}

static void a_run_too_long_to_try_says_its_length(void **state)
{
    (void)state;
    char where[64];
    int run = new_run();
    emit(50010);
    server_run_ended(live_server, run);
    snprintf(where, sizeof where, "/api/runs/%d/whatif/leak/0", run);
    expect(where, 413, "at most 50000 can be tried in the page");
    snprintf(where, sizeof where, "/api/runs/%d/findings", run);
    expect(where, 200, "\"findings\":[]");
}

static int start(void **state)
{
    int fd = mkstemp(path);
    close(fd);
    (void)state;
    return fd < 0;
}

static int stop(void **state)
{
    (void)state;
    return unlink(path);
}

/* A program is recorded in a fork: beside a server's threads it may inherit a lock of ASan's allocator that nobody
 * opens. */
#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, start_live_server, stop_live_server)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_change_changes_no_byte),
        cmocka_unit_test(a_changed_run_ends_as_the_corrected_one),
        cmocka_unit_test(what_cannot_be_tried_says_why),
        cmocka_unit_test(what_leaks_is_told_in_bytes),
        cmocka_unit_test(a_pinned_copy_is_told_as_direct),
        cmocka_unit_test(a_graded_run_can_be_tried),
        cmocka_unit_test(a_measured_run_cannot_be_changed),
        cmocka_unit_test(the_list_is_that_of_explain_and_bounded),
        WITH_SERVER(costs_need_the_token_and_a_run_that_ended),
        WITH_SERVER(costs_of_nothing_are_refused),
        WITH_SERVER(a_run_too_long_to_try_says_its_length),
    };
    return cmocka_run_group_tests_name("run_cost", tests, start, stop);
}
