/* live_server.c: see live_server.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "live_server.h"

server *here;

char host[32], origin[48], token[33];

int start_live_server(void **state)
{
    (void)state;
    char err[256];
    const server_options o = {.port = 18770, .mode = "lessons", .why = "no card"};
    here = server_start(&o, err, sizeof err);
    if (!here) fail_msg("%s", err);
    snprintf(host, sizeof host, "localhost:%d", server_port(here));
    snprintf(origin, sizeof origin, "http://%s", host);
    snprintf(token, sizeof token, "%s", strstr(server_url(here), "#token=") + 7);
    return 0;
}

int stop_live_server(void **state)
{
    (void)state;
    server_stop(here);
    return 0;
}

int join(void)
{
    int status = 0, fd = ws_dial(server_port(here), "/ws", host, origin, token, &status);
    assert_int_equal(status, 101);
    return fd;
}

int new_run(void)
{
    char err[256] = "";
    int fd = log_to_write(200000);
    feed *f = feed_of_log(fd, err, sizeof err);
    if (!f) fail_msg("%s", err);
    int run = server_add_run(here, f, "01-where-am-i", "demo", "a label");
    assert_true(run > 0);
    return run;
}

void emit(int n)
{
    for (int i = 0; i < n; i++) FY_EMIT(NULL, mark, .text = fy_ref_str("a note of some length"), .now = i);
}

void wait_until_nobody_is_here(void)
{
    for (int i = 0; i < PATIENCE_S * 100 && server_clients(here); i++) usleep(10000);
    assert_int_equal(server_clients(here), 0);
}
