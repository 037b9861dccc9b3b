/* WebSocket clients that send garbage, stall, or are too many; and the close frame at the end. */
#define _GNU_SOURCE
#include "live_server.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "page_stream.h"

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
                                      "{\"ack\":{\"run\":1,\"seq\":0}}",
                                      "{\"watch\":1e300}",
                                      "\xff\xfe"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) expect_close(1003, 0x81, bad[i], strlen(bad[i]));
    expect_close(1003, 0x82, "{\"watch\":1}", 11); /* binary */
    expect_close(1003, 0x01, "{\"watch\":1}", 11); /* a fragment */
    expect_close(1003, 0xc1, "{\"watch\":1}", 11); /* a reserved bit */
    char *big = malloc(5000);
    memset(big, ' ', 5000);
    expect_close(1009, 0x81, big, 5000);
    free(big);
    wait_until_no_clients();
}

static void frames_are_judged_at_their_header(void **state)
{
    (void)state;
    static const uint64_t claims[] = {4097, 1u << 20, 1u << 30, 0x7fff0000, 1ull << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        int fd = join();
        ws_send_claiming(fd, 0x81, "", 0, claims[i]);
        assert_int_equal(ws_read_close(fd), 1009);
        close(fd);
    }
    wait_until_no_clients();
}

static void what_follows_a_refused_frame_is_not_read(void **state)
{
    (void)state;
    int fd = join();
    char *more = calloc(1, 4 << 20);
    ws_send_claiming(fd, 0x81, "", 0, 1u << 30);
    send_bytes(fd, more, 4 << 20);
    assert_int_equal(ws_read_close(fd), 1009);
    free(more);
    close(fd);
    wait_until_no_clients();
}

static void unmasked_frames_end_the_connection(void **state)
{
    (void)state;
    int fd = join();
    send_bytes(fd, "\x81\x0b{\"watch\":1}", 13);
    assert_int_equal(ws_read_close(fd), 1002);
    close(fd);
    expect_close(1002, 0x89, (char[126]){0}, 126); /* a ping is short */
    wait_until_no_clients();
}

static void masked_bytes_in_pieces_are_put_together(void **state)
{
    (void)state;
    static const char data[] = "there?";
    unsigned char sent[2 + 4 + sizeof data - 1] = {0x89, 0x80 | (sizeof data - 1), 1, 20, 99, 200};
    int fd = join(), opcode = 0;
    size_t size;
    for (size_t i = 0; i < sizeof data - 1; i++) sent[6 + i] = (unsigned char)(data[i] ^ sent[2 + i % 4]);
    for (size_t i = 0; i < sizeof sent; i++) {
        assert_true(send_bytes(fd, sent + i, 1));
        usleep(1000);
    }
    char *answer = NULL;
    while (opcode != 10) { /* beside what every page is told */
        free(answer);
        assert_non_null(answer = ws_read(fd, &opcode, &size));
    }
    assert_string_equal(answer, data);
    free(answer);
    close(fd);
    wait_until_no_clients();
}

static void huge_and_unfinished_frames_do_no_harm(void **state)
{
    (void)state;
    int fds[4];
    static const uint64_t claims[] = {1u << 20, 1u << 30, 0x7fff0000, UINT64_MAX};
    for (int i = 0; i < 4; i++) ws_send_claiming(fds[i] = join(), 0x81, "{\"wat", 5, claims[i]);
    run_follower f = {.fd = join()};
    f.run = new_run();
    emit(100);
    server_run_ended(live_server, f.run);
    follow_to_end(&f);
    for (int i = 0; i < 4; i++) close(fds[i]);
    close(f.fd);
    wait_until_no_clients();
}

static void deep_nesting_is_only_not_understood(void **state)
{
    (void)state;
    char deep[4000];
    memset(deep, '[', sizeof deep);
    expect_close(1003, 0x81, deep, sizeof deep);
    wait_until_no_clients();
}

static void pages_beyond_the_limit_get_a_message(void **state)
{
    (void)state;
    int fds[80], open = 0, status = 0;
    for (; open < 80; open++) {
        fds[open] = ws_dial(server_port(live_server), "/ws", live_host, live_origin, live_token, &status);
        if (fds[open] < 0) break;
        free(ws_read_until(fds[open], "{\"type\":\"hello\""));
    }
    assert_int_equal(status, 503);
    assert_int_equal(open, 48);
    assert_int_equal(
        http_ask_status(server_port(live_server), (http_request){"GET", "/nothing", live_host, NULL, NULL, NULL}), 404);
    for (int i = 0; i < open; i++) close(fds[i]);
    wait_until_no_clients();
}

/* Waits until the server's socket has bytes that its peer has no room for; false: it has given the peer up. */
static bool stalls(int fd)
{
    struct sockaddr_in own = {0};
    socklen_t size = sizeof own;
    int there, unsent = 0;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &size), 0);
    while ((there = server_socket(server_port(live_server), ntohs(own.sin_port))) >= 0 && !unsent)
        ioctl(there, SIOCOUTQ, &unsent);
    return there >= 0;
}

static int join_and_watch(int run)
{
    char text[32];
    int fd = join(), n = snprintf(text, sizeof text, "{\"watch\":%d}", run);
    ws_send_claiming(fd, 0x81, text, (size_t)n, (uint64_t)n);
    return fd;
}

/* Two pages follow a run that has nothing new, one takes nothing of another. */
static void stopping_closes_connections_despite_a_stalled_client(void **state)
{
    stop_live_server(state);
    start_live_server(state);
    int large = new_run();
    emit(150000);
    server_run_ended(live_server, large);
    new_run();
    int fds[2] = {join(), join()}, stalled = -1, port = server_port(live_server);
    for (int i = 0; i < 2; i++) free(ws_read_until(fds[i], "{\"type\":\"hello\""));
    while (!stalls(stalled = join_and_watch(large))) close(stalled);
    assert_true(serving_threads() > 0);
    server_stop(live_server);
    assert_int_equal(server_socket(port, 0), -1); /* it listens no more; another program may, at once */
    for (int i = 0; i < 2; i++) assert_int_equal(ws_read_close(fds[i]), 1001);
    assert_true(serving_threads_become(0)); /* the blocked sender has ended as well */
    for (int i = 0; i < 2; i++) close(fds[i]);
    close(stalled);
    start_live_server(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_that_are_not_understood_close_the_connection),
        cmocka_unit_test(frames_are_judged_at_their_header),
        cmocka_unit_test(what_follows_a_refused_frame_is_not_read),
        cmocka_unit_test(unmasked_frames_end_the_connection),
        cmocka_unit_test(masked_bytes_in_pieces_are_put_together),
        cmocka_unit_test(huge_and_unfinished_frames_do_no_harm),
        cmocka_unit_test(deep_nesting_is_only_not_understood),
        cmocka_unit_test(pages_beyond_the_limit_get_a_message),
        cmocka_unit_test(stopping_closes_connections_despite_a_stalled_client),
    };
    return cmocka_run_group_tests_name("rough_client", tests, start_live_server, stop_live_server);
}
