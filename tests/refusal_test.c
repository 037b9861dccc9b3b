/* All routes of `ferry serve`, requested by clients that must be refused. No request reaches a lesson: the learner's
 * folder is unchanged. */
#define _GNU_SOURCE
#include "event.h"
#include "logs.h"

#include <ctype.h>

#include "assets.h"
#include "http_client.h"
#include "learner_folder.h"
#include "run_manager.h"

static home where;
static catalogue lessons;
static run_manager *manager; /* not started: queues requests and runs nothing */
static server *test_server;
static char test_host[32], test_origin[48], test_token[33];

static void add_run(void)
{
    char err[256];
    int fd = log_to_write(100);
    feed *f = feed_of_log(dup(fd), err, sizeof err);
    FY_EMIT(NULL, mark, .text = fy_ref_str("kept"), .now = FY_ABSENT);
    close(fd);
    assert_non_null(f);
    assert_int_equal(server_add_run(test_server, f, NULL, "mine", "a run"), 1);
}

static int setup(void **state)
{
    char err[2048] = "";
    if (make_learner_folder(state)) return -1;
    bool found = paths_find(&where, err, sizeof err) && catalogue_open(&lessons, &where, err, sizeof err);
    manager = found ? run_manager_open(&where, &lessons, 0) : NULL;
    const server_options o = {.port = 18720, .mode = "lessons", .routes = lesson_routes, .user = manager};
    test_server = manager ? server_start(&o, err, sizeof err) : NULL;
    if (!test_server) fail_msg("%s", err);
    snprintf(test_host, sizeof test_host, "127.0.0.1:%d", server_port(test_server));
    snprintf(test_origin, sizeof test_origin, "http://%s", test_host);
    snprintf(test_token, sizeof test_token, "%s", strstr(server_url(test_server), "#token=") + 7);
    add_run();
    return 0;
}

static int teardown(void **state)
{
    server_stop(test_server);
    run_manager_free(manager);
    catalogue_close(&lessons);
    return remove_learner_folder(state);
}

/* ---- on every route ---- */

typedef void on_path(const char *method, const char *path);

#define LESSON "/api/lessons/01-where-am-i"
#define DEMO "{\"what\":\"demo\"}"

/* Paths below the routes. */
static const char *const below[][2] = {
    {"GET", LESSON},           {"GET", LESSON "/hints/1"}, {"POST", LESSON "/run"}, {"POST", LESSON "/save"},
    {"POST", LESSON "/reset"}, {"GET", "/api/runs"},       {"GET", "/api/nothing"},
};

static void walk(on_path *visit)
{
    visit("GET", "/");
    for (const asset *a = fy_assets; a->path; a++) visit("GET", a->path);
    for (const route *r = lesson_routes; r->method; r++) visit(r->method, r->prefix);
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) visit(below[i][0], below[i][1]);
    visit("GET", "/api/runs/1/log");
    visit("GET", "/ws");
    visit("GET", "/nothing/here");
}

static const char *body_for(const char *method) { return strcmp(method, "POST") ? NULL : "{}"; }

static void expect(int wanted, http_request a)
{
    int got = http_ask_status(server_port(test_server), a);
    if (got != wanted)
        fail_msg("%s %s, Host %s, Origin %s, token %s: %d instead of %d", a.method, a.path, a.host ? a.host : "-",
                 a.origin ? a.origin : "-", a.token ? "some" : "none", got, wanted);
}

static void from_foreign_hosts(const char *method, const char *path)
{
    static const char *const bad[] = {"evil.example", "localhost.evil.example:8700", "127.0.0.2", "127.0.0.1.nip.io"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char theirs[80];
        snprintf(theirs, sizeof theirs, "http://%s", bad[i]);
        expect(403, (http_request){method, path, bad[i], theirs, test_token, body_for(method)});
    }
    expect(400, (http_request){method, path, NULL, test_origin, test_token, body_for(method)});
}

static void from_foreign_origins(const char *method, const char *path)
{
    static const char *const bad[] = {"http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect(403, (http_request){method, path, test_host, bad[i], test_token, body_for(method)});
}

static void without_token(const char *method, const char *path)
{
    if (strncmp(path, "/api/", 5) != 0 && strcmp(path, "/ws") != 0) return; /* needs no token */
    char wrong_token[33];
    snprintf(wrong_token, sizeof wrong_token, "%s", test_token);
    wrong_token[31] = wrong_token[31] == '0' ? '1' : '0';
    expect(403, (http_request){method, path, test_host, test_origin, wrong_token, body_for(method)});
    expect(403, (http_request){method, path, test_host, test_origin, NULL, body_for(method)});
    expect(403, (http_request){method, path, test_host, test_origin, "", body_for(method)});
}

static void without_an_origin(const char *method, const char *path)
{
    if (!strcmp(method, "POST")) expect(403, (http_request){method, path, test_host, NULL, test_token, "{}"});
}

static void with_unknown_methods(const char *method, const char *path)
{
    (void)method;
    static const char *const odd[] = {"PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        expect(405, (http_request){odd[i], path, test_host, test_origin, test_token, NULL});
}

static void with_dot_segments(const char *method, const char *path)
{
    static const char *const patterns[] = {
        "/..%s",    "/../..%s",       "/%%2e%%2e%s",          "/x/..%s",          "//%s",
        "/.%%2e%s", "%s/../Makefile", "%s/%%2e%%2e/Makefile", "%s\\..\\Makefile", "%s%%00"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        char dotted[300];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(dotted, sizeof dotted, patterns[i], path);
#pragma GCC diagnostic pop
        expect(400, (http_request){method, dotted, test_host, test_origin, test_token, body_for(method)});
    }
}

static void a_foreign_host_is_refused_on_every_route(void **state) { (void)state, walk(from_foreign_hosts); }
static void a_foreign_origin_is_refused_on_every_route(void **state) { (void)state, walk(from_foreign_origins); }
static void missing_or_wrong_tokens_are_refused_on_every_data_route(void **state) { (void)state, walk(without_token); }
static void a_post_without_origin_is_refused_on_every_route(void **state) { (void)state, walk(without_an_origin); }
static void odd_methods_are_refused_on_every_route(void **state) { (void)state, walk(with_unknown_methods); }
static void dotted_and_escaped_paths_are_refused_on_every_route(void **state) { (void)state, walk(with_dot_segments); }

static int upgrade(const char *path, const char *from_host, const char *from_origin, const char *with)
{
    int got = 0, fd = ws_dial(server_port(test_server), path, from_host, from_origin, with, &got);
    if (fd >= 0) close(fd);
    return got;
}

static void a_websocket_wants_host_origin_and_token(void **state)
{
    (void)state;
    assert_int_equal(upgrade("/ws", test_host, test_origin, test_token), 101);
    assert_int_equal(upgrade("/ws", test_host, NULL, test_token), 403);
    assert_int_equal(upgrade("/ws", test_host, "null", test_token), 403);
    assert_int_equal(upgrade("/ws", test_host, "http://evil.example", test_token), 403);
    assert_int_equal(upgrade("/ws", "evil.example", "http://evil.example", test_token), 403);
    assert_int_equal(upgrade("/ws", NULL, test_origin, test_token), 400);
    assert_int_equal(upgrade("/ws", test_host, test_origin, NULL), 403);
    assert_int_equal(upgrade("/ws", test_host, test_origin, "0123456789abcdef0123456789abcdef"), 403);
    assert_int_equal(upgrade("/", test_host, test_origin, test_token), 400);
    assert_int_equal(upgrade("/api/lessons", test_host, test_origin, test_token), 400);
    assert_int_equal(upgrade("/../ws", test_host, test_origin, test_token), 400);
}

static void a_forwarded_port_works(void **state)
{
    (void)state;
    assert_int_equal(upgrade("/ws", "localhost:9999", "http://localhost:9999", test_token), 101);
    expect(200, (http_request){"GET", "/api/lessons", "localhost:9999", NULL, test_token, NULL});
    expect(200, (http_request){"POST", LESSON "/run", "localhost:9999", "http://localhost:9999", test_token, DEMO});
    expect(403, (http_request){"POST", LESSON "/run", "localhost:9999", test_origin, test_token, DEMO});
}

static void doubled_headers_are_refused(void **state)
{
    (void)state;
    char text[256];
    int n = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: %s\r\nhost: evil.example\r\n\r\n", test_host);
    char *answer = http_ask_bytes(server_port(test_server), text, (size_t)n);
    assert_int_equal(status_of(answer), 400);
    free(answer);
}

static void check_token_is_secret(const char *method, const char *path)
{
    http_request requests[] = {{method, path, test_host, NULL, NULL, NULL},
                               {method, path, test_host, test_origin, test_token, body_for(method)},
                               {method, path, "evil.example", NULL, test_token, NULL},
                               {"PUT", path, test_host, NULL, test_token, NULL}};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        char *answer = http_ask(server_port(test_server), requests[i]);
        assert_null(strstr(answer, test_token));
        free(answer);
    }
}

static void the_token_is_in_no_answer(void **state)
{
    (void)state;
    walk(check_token_is_secret);
    assert_int_equal(strlen(test_token), 32);
    for (const char *p = test_token; *p; p++) assert_true(isxdigit((unsigned char)*p));
}

/* Refused requests have no effect. */
static void no_file_was_made(void **state)
{
    (void)state;
    assert_int_equal(access(where.my, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_foreign_host_is_refused_on_every_route),
        cmocka_unit_test(a_foreign_origin_is_refused_on_every_route),
        cmocka_unit_test(missing_or_wrong_tokens_are_refused_on_every_data_route),
        cmocka_unit_test(a_post_without_origin_is_refused_on_every_route),
        cmocka_unit_test(odd_methods_are_refused_on_every_route),
        cmocka_unit_test(dotted_and_escaped_paths_are_refused_on_every_route),
        cmocka_unit_test(no_file_was_made),
        cmocka_unit_test(a_websocket_wants_host_origin_and_token),
        cmocka_unit_test(a_forwarded_port_works),
        cmocka_unit_test(doubled_headers_are_refused),
        cmocka_unit_test(the_token_is_in_no_answer),
    };
    return cmocka_run_group_tests_name("refusal", tests, setup, teardown);
}
