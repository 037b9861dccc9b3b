/* The server over its WebSocket: every event, once, in order, to everyone; live; and rough clients. */
#include "logs.h"

#include <pthread.h>
#include <time.h>

#include "page_client.h"
#include "server.h"

static server *here;
static char host[32], origin[48], token[33];

static int setup(void **state)
{
    (void)state;
    char err[256];
    const server_options o = {.port = 18770, .mode = "lessons"};
    here = server_start(&o, err, sizeof err);
    if (!here) fail_msg("%s", err);
    snprintf(host, sizeof host, "localhost:%d", server_port(here));
    snprintf(origin, sizeof origin, "http://%s", host);
    snprintf(token, sizeof token, "%s", strstr(server_url(here), "#token=") + 7);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    server_stop(here);
    return 0;
}

static int join(void)
{
    int status = 0, fd = ws_dial(server_port(here), "/ws", host, origin, token, &status);
    assert_int_equal(status, 101);
    return fd;
}

/* A run whose writer is this test. */
static int new_run(void)
{
    char err[256] = "";
    int fd = log_to_write(200000);
    feed *f = feed_of_log(fd, err, sizeof err);
    if (!f) fail_msg("%s", err);
    int run = server_add_run(here, f, "01-where-am-i", "demo", "a label");
    assert_true(run > 0);
    return run;
}

static void emit(int n)
{
    for (int i = 0; i < n; i++) FY_EMIT(NULL, mark, .text = fy_ref_str("a note of some length"), .now = i);
}

static void wait_until_nobody_is_here(void)
{
    for (int i = 0; i < 2000 && server_clients(here); i++) usleep(10000);
    assert_int_equal(server_clients(here), 0);
}

/* ---- all events ---- */

static void five_thousand_events_reach_everyone_once_and_in_order(void **state)
{
    (void)state;
    int stalled = join(); /* never reads */
    following early[3];
    for (int i = 0; i < 3; i++) early[i] = (following){.fd = join()};
    int run = new_run();
    emit(2500);
    following late = {.fd = join(), .run = run};
    emit(2500);
    server_run_ended(here, run);
    following later = {.fd = join(), .run = run};
    for (int i = 0; i < 3; i++) early[i].run = run;
    for (int i = 0; i < 3; i++) follow_to_the_end(&early[i]);
    follow_to_the_end(&late);
    follow_to_the_end(&later);
    assert_true(late.next >= 5000);
    assert_int_equal(late.next, early[0].next);
    assert_int_equal(later.next, early[2].next);
    for (int i = 0; i < 3; i++) close(early[i].fd);
    close(late.fd);
    close(later.fd);
    close(stalled);
    wait_until_nobody_is_here();
}

static void a_client_that_stops_reading_disturbs_nobody(void **state)
{
    (void)state;
    int stalled = join(), run = new_run();
    emit(150000); /* some 15 MB: far more than the kernel takes for a client */
    following good = {.fd = join(), .run = run};
    server_run_ended(here, run);
    follow_to_the_end(&good);
    assert_true(good.next >= 150000);
    close(good.fd);
    close(stalled);
    wait_until_nobody_is_here();
}

static void the_first_event_arrives_before_the_second_exists(void **state)
{
    (void)state;
    following f = {.fd = join()};
    f.run = new_run();
    emit(1);
    while (!f.next) assert_true(take_frame(&f)); /* would wait for ever if only the end sent it */
    uint64_t first = f.next;
    emit(1);
    while (f.next == first) assert_true(take_frame(&f));
    assert_int_equal(f.ended, 0);
    server_run_ended(here, f.run);
    follow_to_the_end(&f);
    close(f.fd);
    wait_until_nobody_is_here();
}

static void verdicts_appended_after_the_end_arrive_too(void **state)
{
    (void)state;
    following f = {.fd = join()};
    f.run = new_run();
    emit(3);
    server_run_ended(here, f.run);
    follow_to_the_end(&f);
    uint64_t before = f.next;
    f.ended = 0;
    emit(2);
    cJSON *status = cJSON_CreateObject();
    cJSON_AddStringToObject(status, "state", "done");
    server_status(here, status);
    follow_to_the_end(&f);
    assert_int_equal(f.next, before + 2);
    close(f.fd);
    wait_until_nobody_is_here();
}

/* ---- what pages say and hear ---- */

static void hello_lists_the_runs_and_new_runs_are_announced(void **state)
{
    (void)state;
    int run = new_run(), fd = join();
    char *text = ws_read_until(fd, "{\"type\":\"hello\"");
    assert_non_null(text);
    cJSON *hello = cJSON_Parse(text);
    assert_string_equal(cJSON_GetObjectItem(hello, "mode")->valuestring, "lessons");
    assert_int_equal(cJSON_GetObjectItem(hello, "current")->valueint, run);
    const cJSON *runs = cJSON_GetObjectItem(hello, "runs"),
                *last = cJSON_GetArrayItem(runs, cJSON_GetArraySize(runs) - 1);
    assert_int_equal(cJSON_GetObjectItem(last, "run")->valueint, run);
    assert_string_equal(cJSON_GetObjectItem(last, "lesson")->valuestring, "01-where-am-i");
    assert_string_equal(cJSON_GetObjectItem(last, "what")->valuestring, "demo");
    assert_string_equal(cJSON_GetObjectItem(last, "label")->valuestring, "a label");
    cJSON_Delete(hello);
    free(text);
    server_run_ended(here, run);
    following f = {.fd = fd, .run = new_run()};
    text = ws_read_until(fd, "{\"type\":\"run\"");
    assert_non_null(text);
    free(text);
    emit(4);
    server_run_ended(here, f.run);
    follow_to_the_end(&f);
    close(fd);
    wait_until_nobody_is_here();
}

static void the_last_sixteen_runs_are_kept(void **state)
{
    (void)state;
    int last = 0;
    for (int i = 0; i < 20; i++) server_run_ended(here, last = new_run());
    int fd = join();
    char *text = ws_read_until(fd, "{\"type\":\"hello\"");
    cJSON *hello = cJSON_Parse(text);
    const cJSON *runs = cJSON_GetObjectItem(hello, "runs");
    assert_int_equal(cJSON_GetArraySize(runs), 16);
    assert_int_equal(cJSON_GetObjectItem(cJSON_GetArrayItem(runs, 0), "run")->valueint, last - 15);
    cJSON_Delete(hello);
    free(text);
    assert_true(ws_send(fd, "{\"watch\":1}")); /* long gone: nothing happens */
    close(fd);
    wait_until_nobody_is_here();
}

static void a_page_that_comes_back_goes_on_where_it_was(void **state)
{
    (void)state;
    int run = new_run();
    emit(1000);
    server_run_ended(here, run);
    char text[64];
    snprintf(text, sizeof text, "{\"watch\":%d,\"from\":700}", run);
    following f = {.fd = join(), .run = run, .next = 700};
    ws_send(f.fd, text);
    follow_to_the_end(&f); /* would fail at the first event, were it not 700 */
    int older = run;
    run = new_run();
    snprintf(text, sizeof text, "{\"watch\":%d}", older);
    ws_send(f.fd, text);
    f = (following){.fd = f.fd, .run = older};
    follow_to_the_end(&f);
    assert_true(f.next >= 1000);
    server_run_ended(here, run);
    close(f.fd);
    wait_until_nobody_is_here();
}

static bool soon(bool wanted)
{
    for (int i = 0; i < 2000 && server_seen_all(here) != wanted; i++) usleep(5000);
    return server_seen_all(here) == wanted;
}

static void acknowledge(int fd, int run, uint64_t seq)
{
    char text[80];
    snprintf(text, sizeof text, "{\"ack\":{\"run\":%d,\"seq\":%llu}}", run, (unsigned long long)seq);
    assert_true(ws_send(fd, text));
}

static void all_is_seen_when_every_page_has_acknowledged_the_last_event(void **state)
{
    (void)state;
    following a = {.fd = join()}, b = {.fd = join()};
    a.run = b.run = new_run();
    assert_false(server_seen_all(here));
    emit(10);
    server_run_ended(here, a.run);
    follow_to_the_end(&a);
    follow_to_the_end(&b);
    assert_false(server_seen_all(here));
    acknowledge(a.fd, a.run, a.next - 1);
    acknowledge(b.fd, b.run, b.next - 2);
    acknowledge(b.fd, b.run, 999999); /* of nothing that exists */
    usleep(50000);
    assert_false(server_seen_all(here));
    acknowledge(b.fd, b.run, b.next - 1);
    assert_true(soon(true));
    close(a.fd);
    close(b.fd);
    wait_until_nobody_is_here();
    assert_false(server_seen_all(here)); /* nobody is here to have seen it */
}

static void statuses_reach_open_and_late_pages_as_valid_utf8(void **state)
{
    (void)state;
    int fd = join(), opcode;
    free(ws_read_until(fd, "{\"type\":\"hello\""));
    cJSON *status = cJSON_CreateObject();
    cJSON_AddStringToObject(status, "type", "status");
    cJSON_AddStringToObject(status, "output", "broken \xff\xc3 text");
    server_status(here, status);
    char *text = ws_read_until(fd, "{\"type\":\"status\"");
    assert_non_null(text);
    assert_true(fy_utf8_is_valid(text, strlen(text)));
    int late = join();
    char *again = ws_read_until(late, "{\"type\":\"status\"");
    assert_string_equal(text, again);
    free(text);
    free(again);
    close(fd);
    ws_send_claiming(late, 0x88, "\x03\xe8", 2, 2);
    size_t size;
    while ((text = ws_read(late, &opcode, &size)) && opcode != 8) free(text);
    assert_non_null(text); /* a close is answered */
    free(text);
    close(late);
    wait_until_nobody_is_here();
}

/* ---- rough clients ---- */

static void expect_close(int code, int first, const char *data, size_t size)
{
    int fd = join();
    ws_send_claiming(fd, first, data, size, size);
    assert_int_equal(ws_read_close(fd), code);
    close(fd);
}

static void frames_that_are_not_understood_close_the_connection(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "x",
                                      "[]",
                                      "{}",
                                      "null",
                                      "{\"watch\":\"1\"}",
                                      "{\"watch\":-1}",
                                      "{\"watch\":1.5}",
                                      "{\"watch\":1,\"from\":-2}",
                                      "{\"ack\":1}",
                                      "{\"ack\":{\"run\":1}}",
                                      "{\"ack\":{\"seq\":1}}",
                                      "{\"watch\":1e300}",
                                      "\xff\xfe"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) expect_close(1003, 0x81, bad[i], strlen(bad[i]));
    expect_close(1003, 0x82, "{\"watch\":1}", 11); /* binary */
    expect_close(1003, 0x01, "{\"watch\":1}", 11); /* a fragment */
    expect_close(1003, 0xc1, "{\"watch\":1}", 11); /* a bit that nobody agreed on */
    char *big = malloc(5000);
    memset(big, ' ', 5000);
    expect_close(1009, 0x81, big, 5000);
    free(big);
    wait_until_nobody_is_here();
}

static void huge_and_unfinished_frames_hurt_nobody(void **state)
{
    (void)state;
    int fds[4];
    static const uint64_t claims[] = {1u << 20, 1u << 30, 0x7fff0000, UINT64_MAX};
    for (int i = 0; i < 4; i++) ws_send_claiming(fds[i] = join(), 0x81, "{\"wat", 5, claims[i]);
    following f = {.fd = join()};
    f.run = new_run();
    emit(100);
    server_run_ended(here, f.run);
    follow_to_the_end(&f);
    for (int i = 0; i < 4; i++) close(fds[i]);
    close(f.fd);
    wait_until_nobody_is_here();
}

static void deep_nesting_is_only_not_understood(void **state)
{
    (void)state;
    char deep[4000];
    memset(deep, '[', sizeof deep);
    expect_close(1003, 0x81, deep, sizeof deep);
    wait_until_nobody_is_here();
}

static void pages_beyond_the_limit_are_told_so(void **state)
{
    (void)state;
    int fds[80], open = 0, status = 0;
    for (; open < 80; open++) {
        fds[open] = ws_dial(server_port(here), "/ws", host, origin, token, &status);
        if (fds[open] < 0) break;
        free(ws_read_until(fds[open], "{\"type\":\"hello\""));
    }
    assert_int_equal(status, 503);
    assert_int_equal(open, 48);
    assert_int_equal(ask_status(server_port(here), (asking){"GET", "/nothing", host, NULL, NULL, NULL}), 404);
    for (int i = 0; i < open; i++) close(fds[i]);
    wait_until_nobody_is_here();
}

static void *hear_goodbye(void *arg)
{
    int *fd = arg;
    int code = ws_read_close(*fd);
    close(*fd);
    *fd = code;
    return NULL;
}

static void stopping_says_goodbye_also_beside_a_stalled_client(void **state)
{
    teardown(state);
    setup(state);
    int stalled = join(), fds[2] = {join(), join()}, run = new_run();
    pthread_t listeners[2];
    for (int i = 0; i < 2; i++) pthread_create(&listeners[i], NULL, hear_goodbye, &fds[i]);
    emit(150000);
    (void)run;
    usleep(300000); /* the stalled one's sender is now stuck in a write */
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    server_stop(here);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double took = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
    print_message("stopped in %.0f ms\n", took * 1000);
    assert_true(took < 1.8); /* a stuck write alone would hold it for two seconds and more */
    for (int i = 0; i < 2; i++) pthread_join(listeners[i], NULL);
    assert_int_equal(fds[0], 1001);
    assert_int_equal(fds[1], 1001);
    close(stalled);
    setup(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_thousand_events_reach_everyone_once_and_in_order),
        cmocka_unit_test(a_client_that_stops_reading_disturbs_nobody),
        cmocka_unit_test(the_first_event_arrives_before_the_second_exists),
        cmocka_unit_test(verdicts_appended_after_the_end_arrive_too),
        cmocka_unit_test(hello_lists_the_runs_and_new_runs_are_announced),
        cmocka_unit_test(the_last_sixteen_runs_are_kept),
        cmocka_unit_test(a_page_that_comes_back_goes_on_where_it_was),
        cmocka_unit_test(all_is_seen_when_every_page_has_acknowledged_the_last_event),
        cmocka_unit_test(statuses_reach_open_and_late_pages_as_valid_utf8),
        cmocka_unit_test(frames_that_are_not_understood_close_the_connection),
        cmocka_unit_test(huge_and_unfinished_frames_hurt_nobody),
        cmocka_unit_test(deep_nesting_is_only_not_understood),
        cmocka_unit_test(pages_beyond_the_limit_are_told_so),
        cmocka_unit_test(stopping_says_goodbye_also_beside_a_stalled_client),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
