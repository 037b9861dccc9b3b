/* live_server.c: see live_server.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "live_server.h"

server *live_server;

char live_host[32], live_origin[48], live_token[33];

int start_live_server(void **state)
{
    (void)state;
    char err[256];
    const server_options o = {.port = 18770, .mode = "lessons", .why = "no card"};
    live_server = server_start(&o, err, sizeof err);
    if (!live_server) fail_msg("%s", err);
    snprintf(live_host, sizeof live_host, "localhost:%d", server_port(live_server));
    snprintf(live_origin, sizeof live_origin, "http://%s", live_host);
    snprintf(live_token, sizeof live_token, "%s", strstr(server_url(live_server), "#token=") + 7);
    return 0;
}

int stop_live_server(void **state)
{
    (void)state;
    server_stop(live_server);
    return 0;
}

int join(void)
{
    int status = 0, fd = ws_dial(server_port(live_server), "/ws", live_host, live_origin, live_token, &status);
    assert_int_equal(status, 101);
    return fd;
}

int new_run(void)
{
    char err[256] = "";
    int fd = log_to_write(200000);
    feed *f = feed_of_log(fd, err, sizeof err);
    if (!f) fail_msg("%s", err);
    int run = server_add_run(live_server, f, "01-where-am-i", "demo", "a label");
    assert_true(run > 0);
    return run;
}

void emit(int n)
{
    for (int i = 0; i < n; i++) FY_EMIT(NULL, mark, .text = fy_ref_str("a note of some length"), .now = i);
}

void wait_until_no_clients(void)
{
    for (int i = 0; i < TIMEOUT_S * 100 && server_clients(live_server); i++) usleep(10000);
    assert_int_equal(server_clients(live_server), 0);
}
