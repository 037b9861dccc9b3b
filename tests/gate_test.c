/* Every rule of gate(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "gate.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define HOST "127.0.0.1:8700"
#define ORIGIN "http://127.0.0.1:8700"

static int gate(gate_request r) { return gate_check(&r, TOKEN, NULL).status; }

static void a_plain_visit_gets_the_page(void **state)
{
    (void)state;
    assert_int_equal(gate((gate_request){"GET", "/", HOST, NULL, NULL, false, false}), 0);
    assert_int_equal(gate((gate_request){"GET", "/state.js", HOST, ORIGIN, NULL, false, false}), 0);
    assert_int_equal(gate((gate_request){"GET", "/api.js", HOST, NULL, NULL, false, false}), 0);
}

static void loopback_names_are_welcome_on_any_port(void **state)
{
    (void)state;
    static const char *const good[] = {"localhost",   "LOCALHOST:9999", "127.0.0.1",
                                       "127.0.0.1:1", "[::1]",          "[::1]:65535"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(gate((gate_request){"GET", "/", good[i], NULL, NULL, false, false}), 0);
}

static void other_hosts_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"evil.example",
                                      "evil.example:8700",
                                      "localhost.evil.example",
                                      "127.0.0.1.evil.example",
                                      "localhost:",
                                      "localhost:80a",
                                      "localhost:123456",
                                      "localhost.",
                                      "127.0.0.2",
                                      "::1",
                                      "[::1].evil",
                                      "xlocalhost",
                                      "127.0.0.1@evil.example",
                                      "0.0.0.0",
                                      "127.1",
                                      " localhost"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(gate((gate_request){"GET", "/", bad[i], NULL, NULL, false, false}), 403);
    assert_int_equal(gate((gate_request){"GET", "/", NULL, NULL, NULL, false, false}), 400);
    assert_int_equal(gate((gate_request){"GET", "/", "", NULL, NULL, false, false}), 400);
}

static void one_more_host_can_be_allowed(void **state)
{
    (void)state;
    gate_request r = {"GET", "/", "lab.example:8700", NULL, NULL, false, false};
    assert_int_equal(gate_check(&r, TOKEN, NULL).status, 403);
    assert_int_equal(gate_check(&r, TOKEN, "lab.example").status, 0);
    assert_int_equal(gate_check(&r, TOKEN, "").status, 403);
    r.host = "lab.example.evil";
    assert_int_equal(gate_check(&r, TOKEN, "lab.example").status, 403);
}

static void a_foreign_origin_is_refused_even_with_the_token(void **state)
{
    (void)state;
    static const char *const bad[] = {"null",
                                      "",
                                      "http://evil.example",
                                      "https://127.0.0.1:8700",
                                      "http://127.0.0.1:8701",
                                      "http://localhost:8700",
                                      "http://127.0.0.1:8700.evil",
                                      "127.0.0.1:8700",
                                      "http://127.0.0.1:8700/",
                                      "http://127.0.0.1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(gate((gate_request){"GET", "/", HOST, bad[i], NULL, false, false}), 403);
        assert_int_equal(gate((gate_request){"GET", "/api/lessons", HOST, bad[i], TOKEN, false, false}), 403);
        assert_int_equal(gate((gate_request){"POST", "/api/x", HOST, bad[i], TOKEN, false, false}), 403);
        assert_int_equal(gate((gate_request){"GET", "/ws", HOST, bad[i], TOKEN, true, false}), 403);
    }
}

static void data_wants_the_token(void **state)
{
    (void)state;
    static const char *const bad[] = {
        NULL, "", "0", TOKEN "0", "0123456789abcdef0123456789abcdee", "0123456789ABCDEF0123456789ABCDEF"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(gate((gate_request){"GET", "/api/lessons", HOST, NULL, bad[i], false, false}), 403);
        assert_int_equal(gate((gate_request){"GET", "/api", HOST, NULL, bad[i], false, false}), 403);
        assert_int_equal(gate((gate_request){"POST", "/", HOST, ORIGIN, bad[i], false, false}), 403);
        assert_int_equal(gate((gate_request){"GET", "/ws", HOST, ORIGIN, bad[i], true, false}), 403);
        assert_int_equal(gate((gate_request){"GET", "/", HOST, ORIGIN, bad[i], true, false}), 403);
    }
    assert_int_equal(gate((gate_request){"GET", "/api/lessons", HOST, NULL, TOKEN, false, false}), 0);
    gate_request nothing = {"GET", "/api", HOST, NULL, "", false, false};
    assert_int_equal(gate_check(&nothing, "", NULL).status, 403); /* a server without a token refuses everyone */
}

static void post_and_websocket_want_an_origin_too(void **state)
{
    (void)state;
    assert_int_equal(gate((gate_request){"POST", "/api/x", HOST, NULL, TOKEN, false, false}), 403);
    assert_int_equal(gate((gate_request){"GET", "/ws", HOST, NULL, TOKEN, true, false}), 403);
    assert_int_equal(gate((gate_request){"POST", "/api/x", HOST, ORIGIN, TOKEN, false, false}), 0);
    assert_int_equal(gate((gate_request){"GET", "/ws", HOST, ORIGIN, TOKEN, true, false}), 0);
    assert_int_equal(gate((gate_request){"POST", "/ws", HOST, ORIGIN, TOKEN, true, false}), 405);
}

static void a_forwarded_port_works(void **state)
{
    (void)state;
    assert_int_equal(gate((gate_request){"GET", "/ws", "localhost:9999", "http://localhost:9999", TOKEN, true, false}),
                     0);
    assert_int_equal(
        gate((gate_request){"POST", "/api/x", "localhost:9999", "http://localhost:9999", TOKEN, false, false}), 0);
    assert_int_equal(gate((gate_request){"POST", "/api/x", "localhost:9999", ORIGIN, TOKEN, false, false}), 403);
}

static void paths_that_are_not_plain_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "index.html",
                                      "/../etc/passwd",
                                      "/..",
                                      "/a/../b",
                                      "/%2e%2e/x",
                                      "/%2E./x",
                                      "//x",
                                      "/a//b",
                                      "/a\\..\\b",
                                      "/a b",
                                      "/a\tb",
                                      "/%00",
                                      "/a%2fb",
                                      "/\xc3\xa4",
                                      "/x;y",
                                      "http://evil.example/",
                                      "*"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(gate((gate_request){"GET", bad[i], HOST, NULL, TOKEN, false, false}), 400);
    assert_int_equal(gate((gate_request){"GET", NULL, HOST, NULL, TOKEN, false, false}), 400);
    char lengthy[3000];
    memset(lengthy, 'a', sizeof lengthy);
    lengthy[0] = '/';
    lengthy[sizeof lengthy - 1] = 0;
    assert_int_equal(gate((gate_request){"GET", lengthy, HOST, NULL, TOKEN, false, false}), 400);
}

static void other_methods_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"PUT", "DELETE", "OPTIONS", "TRACE", "HEAD", "PATCH", "CONNECT", "get", "", NULL};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(gate((gate_request){bad[i], "/", HOST, ORIGIN, TOKEN, false, false}), 405);
}

static void doubled_headers_are_refused(void **state)
{
    (void)state;
    assert_int_equal(gate((gate_request){"GET", "/", HOST, NULL, NULL, false, true}), 400);
}

static void every_refusal_says_why(void **state)
{
    (void)state;
    gate_request r = {"GET", "/api", HOST, NULL, "wrong", false, false};
    const char *reason = gate_check(&r, TOKEN, NULL).reason;
    assert_non_null(strstr(reason, "token"));
    assert_null(strstr(reason, TOKEN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_visit_gets_the_page),
        cmocka_unit_test(loopback_names_are_welcome_on_any_port),
        cmocka_unit_test(other_hosts_are_refused),
        cmocka_unit_test(one_more_host_can_be_allowed),
        cmocka_unit_test(a_foreign_origin_is_refused_even_with_the_token),
        cmocka_unit_test(data_wants_the_token),
        cmocka_unit_test(post_and_websocket_want_an_origin_too),
        cmocka_unit_test(a_forwarded_port_works),
        cmocka_unit_test(paths_that_are_not_plain_are_refused),
        cmocka_unit_test(other_methods_are_refused),
        cmocka_unit_test(doubled_headers_are_refused),
        cmocka_unit_test(every_refusal_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
