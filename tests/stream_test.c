/* The server's WebSocket: every event, once, in order, to every client; live; and clients' messages. */
#define _GNU_SOURCE
#include "live_server.h"
#include "text.h"

/* ---- all events ---- */

static void five_thousand_events_reach_everyone_once_and_in_order(void **state)
{
    (void)state;
    int stalled = join(); /* never reads */
    run_follower early[3];
    for (int i = 0; i < 3; i++) early[i] = (run_follower){.fd = join()};
    int run = new_run();
    emit(2500);
    run_follower late = {.fd = join(), .run = run};
    emit(2500);
    server_run_ended(live_server, run);
    run_follower later = {.fd = join(), .run = run};
    for (int i = 0; i < 3; i++) early[i].run = run;
    for (int i = 0; i < 3; i++) follow_to_end(&early[i]);
    follow_to_end(&late);
    follow_to_end(&later);
    assert_true(late.next >= 5000);
    assert_int_equal(late.next, early[0].next);
    assert_int_equal(later.next, early[2].next);
    for (int i = 0; i < 3; i++) close(early[i].fd);
    close(late.fd);
    close(later.fd);
    close(stalled);
    wait_until_no_clients();
}

static void a_client_that_stops_reading_disturbs_no_other(void **state)
{
    (void)state;
    int stalled = join(), run = new_run();
    emit(150000); /* about 15 MB: far more than the kernel buffers for a client */
    run_follower good = {.fd = join(), .run = run};
    server_run_ended(live_server, run);
    follow_to_end(&good);
    assert_true(good.next >= 150000);
    close(good.fd);
    close(stalled);
    wait_until_no_clients();
}

static void the_first_event_arrives_before_the_second_exists(void **state)
{
    (void)state;
    run_follower f = {.fd = join()};
    f.run = new_run();
    emit(1);
    while (!f.next) assert_true(process_frame(&f)); /* would wait forever if only the end triggered it */
    uint64_t first = f.next;
    emit(1);
    while (f.next == first) assert_true(process_frame(&f));
    assert_int_equal(f.ended, 0);
    server_run_ended(live_server, f.run);
    follow_to_end(&f);
    close(f.fd);
    wait_until_no_clients();
}

static void verdicts_appended_after_the_end_arrive_too(void **state)
{
    (void)state;
    run_follower f = {.fd = join()};
    f.run = new_run();
    emit(3);
    server_run_ended(live_server, f.run);
    follow_to_end(&f);
    uint64_t before = f.next;
    f.ended = 0;
    emit(2);
    cJSON *status = cJSON_CreateObject();
    cJSON_AddStringToObject(status, "state", "done");
    server_status(live_server, status);
    follow_to_end(&f);
    assert_int_equal(f.next, before + 2);
    close(f.fd);
    wait_until_no_clients();
}

/* ---- messages of pages ---- */

static void hello_lists_the_runs_and_new_runs_are_announced(void **state)
{
    (void)state;
    int run = new_run(), fd = join();
    char *text = ws_read_until(fd, "{\"type\":\"hello\"");
    assert_non_null(text);
    cJSON *hello = cJSON_Parse(text);
    assert_string_equal(cJSON_GetObjectItem(hello, "mode")->valuestring, "lessons");
    assert_string_equal(cJSON_GetObjectItem(hello, "why")->valuestring, "no card");
    assert_int_equal(cJSON_GetObjectItem(hello, "current")->valueint, run);
    const cJSON *runs = cJSON_GetObjectItem(hello, "runs"),
                *last = cJSON_GetArrayItem(runs, cJSON_GetArraySize(runs) - 1);
    assert_int_equal(cJSON_GetObjectItem(last, "run")->valueint, run);
    assert_string_equal(cJSON_GetObjectItem(last, "lesson")->valuestring, "01-where-am-i");
    assert_string_equal(cJSON_GetObjectItem(last, "what")->valuestring, "demo");
    assert_string_equal(cJSON_GetObjectItem(last, "label")->valuestring, "a label");
    assert_null(cJSON_GetObjectItem(last, "over"));
    cJSON_Delete(hello);
    free(text);
    server_run_ended(live_server, run);
    run_follower f = {.fd = fd, .run = new_run()};
    text = ws_read_until(fd, "{\"type\":\"run\"");
    assert_non_null(text);
    free(text);
    emit(4);
    server_run_ended(live_server, f.run);
    follow_to_end(&f);
    close(fd);
    fd = join();
    text = ws_read_until(fd, "{\"type\":\"hello\"");
    assert_non_null(strstr(text, "\"over\":true}]"));
    free(text);
    close(fd);
    wait_until_no_clients();
}

static void the_last_sixteen_runs_are_kept(void **state)
{
    (void)state;
    int last = 0;
    for (int i = 0; i < 20; i++) server_run_ended(live_server, last = new_run());
    int fd = join();
    char *text = ws_read_until(fd, "{\"type\":\"hello\"");
    cJSON *hello = cJSON_Parse(text);
    const cJSON *runs = cJSON_GetObjectItem(hello, "runs");
    assert_int_equal(cJSON_GetArraySize(runs), 16);
    assert_int_equal(cJSON_GetObjectItem(cJSON_GetArrayItem(runs, 0), "run")->valueint, last - 15);
    cJSON_Delete(hello);
    free(text);
    assert_true(ws_send(fd, "{\"watch\":1}")); /* already removed: no effect */
    close(fd);
    wait_until_no_clients();
}

static void a_page_that_comes_back_goes_on_where_it_was(void **state)
{
    (void)state;
    int run = new_run();
    emit(1000);
    server_run_ended(live_server, run);
    char text[64];
    snprintf(text, sizeof text, "{\"watch\":%d,\"from\":700}", run);
    run_follower f = {.fd = join(), .run = run, .next = 700};
    ws_send(f.fd, text);
    follow_to_end(&f); /* a limit below 700 would fail at the first event */
    int older = run;
    run = new_run();
    snprintf(text, sizeof text, "{\"watch\":%d}", older);
    ws_send(f.fd, text);
    f = (run_follower){.fd = f.fd, .run = older};
    follow_to_end(&f);
    assert_true(f.next >= 1000);
    server_run_ended(live_server, run);
    close(f.fd);
    wait_until_no_clients();
}

static void statuses_reach_open_and_late_pages_as_valid_utf8(void **state)
{
    (void)state;
    int fd = join(), opcode;
    free(ws_read_until(fd, "{\"type\":\"hello\""));
    cJSON *status = cJSON_CreateObject();
    cJSON_AddStringToObject(status, "type", "status");
    cJSON_AddStringToObject(status, "output", "broken \xff\xc3 text");
    server_status(live_server, status);
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
    assert_non_null(text); /* a close frame is answered */
    free(text);
    close(late);
    wait_until_no_clients();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_thousand_events_reach_everyone_once_and_in_order),
        cmocka_unit_test(a_client_that_stops_reading_disturbs_no_other),
        cmocka_unit_test(the_first_event_arrives_before_the_second_exists),
        cmocka_unit_test(verdicts_appended_after_the_end_arrive_too),
        cmocka_unit_test(hello_lists_the_runs_and_new_runs_are_announced),
        cmocka_unit_test(the_last_sixteen_runs_are_kept),
        cmocka_unit_test(a_page_that_comes_back_goes_on_where_it_was),
        cmocka_unit_test(statuses_reach_open_and_late_pages_as_valid_utf8),
    };
    return cmocka_run_group_tests(tests, start_live_server, stop_live_server);
}
