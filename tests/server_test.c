/* The server over HTTP: answers, malformed requests, start and stop. Access control is in refusal_test.c. */
#define _GNU_SOURCE
#include "event.h"
#include "logs.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "assets.h"
#include "http_client.h"
#include "server.h"
#include "serving.h"

static reply list_things(const request *r)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "rest", r->rest);
    cJSON_AddStringToObject(json, "user", r->user);
    return (reply){200, json};
}

static reply post_thing(const request *r)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "rest", r->rest);
    cJSON_AddItemToObject(json, "body", cJSON_Duplicate(r->body, true));
    return (reply){201, json};
}

/* The stack that handlers may use: civetweb's default would be a few KiB. */
static reply use_stack(const request *r)
{
    volatile char room[200 * 1024];
    for (size_t i = 0; i < sizeof room; i += 1024) room[i] = 1;
    (void)r;
    return (reply){200, cJSON_CreateNumber(room[1024])};
}

static const route routes[] = {
    {"GET", "/api/stack", use_stack},
    {"GET", "/api/things", list_things},
    {"POST", "/api/things", post_thing},
    {"POST", "/api/make", post_thing},
    {NULL, NULL, NULL},
};

static server *test_server;
static char test_host[32], test_origin[48], test_token[33];

static server *start(int port)
{
    char err[256];
    const server_options o = {.port = port, .mode = "view", .routes = routes, .user = "somebody"};
    server *s = server_start(&o, err, sizeof err);
    if (!s) fail_msg("%s", err);
    return s;
}

static int setup(void **state)
{
    (void)state;
    test_server = start(18700);
    snprintf(test_host, sizeof test_host, "127.0.0.1:%d", server_port(test_server));
    snprintf(test_origin, sizeof test_origin, "http://%s", test_host);
    const char *found = strstr(server_url(test_server), "#token=");
    assert_non_null(found);
    snprintf(test_token, sizeof test_token, "%s", found + 7);
    char err[256];
    int fd = log_to_write(100);
    feed *f = feed_of_log(dup(fd), err, sizeof err);
    FY_EMIT(NULL, mark, .text = fy_ref_str("kept"), .now = FY_ABSENT);
    close(fd);
    assert_non_null(f);
    assert_int_equal(server_add_run(test_server, f, NULL, "view", "a run"), 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    server_stop(test_server);
    return 0;
}

static int status(http_request a) { return http_ask_status(server_port(test_server), a); }

/* ---- answers ---- */

static void every_asset_is_served_with_a_strict_policy(void **state)
{
    (void)state;
    for (const asset *a = fy_assets; a->path; a++) {
        char *answer =
            http_ask(server_port(test_server), (http_request){.method = "GET", .path = a->path, .host = test_host});
        const char *body = strstr(answer, "\r\n\r\n");
        assert_int_equal(status_of(answer), 200);
        assert_non_null(strstr(answer, "Content-Security-Policy: default-src 'none'; script-src 'self'"));
        assert_non_null(strstr(answer, "frame-ancestors 'none'"));
        assert_non_null(strstr(answer, "X-Content-Type-Options: nosniff"));
        assert_non_null(strstr(answer, "Referrer-Policy: no-referrer"));
        assert_non_null(strstr(answer, "Cache-Control: no-store"));
        assert_non_null(strstr(answer, asset_type(a->path)));
        assert_null(strstr(answer, "Access-Control"));
        assert_null(strstr(answer, "unsafe-inline"));
        assert_memory_equal(body + 4, a->data, a->size);
        free(answer);
    }
}

static void every_file_of_www_is_in_the_table(void **state)
{
    (void)state;
    const char *home = getenv("FERRY_HOME");
    char folder[4096], path[4400];
    snprintf(folder, sizeof folder, "%s/www", home ? home : ".");
    DIR *www = opendir(folder);
    assert_non_null(www);
    int files = 0;
    for (struct dirent *e; (e = readdir(www));) {
        const char *dot = strrchr(e->d_name, '.');
        if (e->d_name[0] == '.' || !dot || !strcmp(dot, ".md")) continue;
        if (!strcmp(dot, ".js")) snprintf(e->d_name, sizeof e->d_name, "main.js"); /* all modules are in it */
        snprintf(path, sizeof path, "/%s", e->d_name);
        if (!asset_find(path)) fail_msg("%s is not in the library", path);
        assert_string_not_equal(asset_type(path), "application/octet-stream");
        files++;
    }
    closedir(www);
    assert_true(files > 0);
}

/* ---- codes for the command line ---- */

/* Does the redirect for this path contain the token? */
static bool gets_token(const server *s, const char *path)
{
    char *answer = http_ask(server_port(s), (http_request){.method = "GET", .path = path, .host = "localhost"});
    bool in = strstr(answer, strstr(server_url(s), "#token=")) != NULL;
    assert_int_equal(status_of(answer), 303);
    assert_non_null(strstr(answer, in ? "Location: /#token=" : "Location: /\r\n"));
    assert_non_null(strstr(answer, "Cache-Control: no-store"));
    free(answer);
    return in;
}

static void a_code_is_good_for_the_token_once(void **state)
{
    (void)state;
    server *s = start(18705);
    const char *path = strstr(server_one_time_url(s), "/open/");
    assert_null(strstr(server_one_time_url(s), strstr(server_url(s), "#token=") + 7));
    assert_int_equal(strlen(path), 6 + 32);
    assert_false(gets_token(s, "/open/00000000000000000000000000000000"));
    assert_false(gets_token(s, "/open/"));
    assert_true(gets_token(s, path));
    assert_false(gets_token(s, path));
    assert_int_equal(
        http_ask_status(server_port(s), (http_request){"POST", path, test_host, test_origin, test_token, "{}"}), 403);
    server_stop(s);
}

static void another_user_gets_nothing_for_the_code(void **state)
{
    (void)state;
    if (geteuid() != 0) skip();
    server *s = start(18705);
    const char *path = strstr(server_one_time_url(s), "/open/");
    int status = 0;
    fflush(NULL);
    pid_t another = fork();
    if (!another) _exit(setuid(4711) ? 2 : gets_token(s, path));
    assert_int_equal(waitpid(another, &status, 0), another);
    assert_int_equal(status, 0);
    assert_true(gets_token(s, path)); /* failed attempts do not consume the code */
    server_stop(s);
}

static void the_root_is_the_index(void **state)
{
    (void)state;
    if (!asset_find("/index.html")) skip();
    char *answer = http_ask(server_port(test_server), (http_request){.method = "GET", .path = "/", .host = test_host});
    assert_int_equal(status_of(answer), 200);
    assert_non_null(strstr(answer, "Content-Type: text/html; charset=utf-8"));
    free(answer);
}

static void the_lines_of_a_run_can_be_downloaded(void **state)
{
    (void)state;
    char *answer =
        http_ask(server_port(test_server),
                 (http_request){.method = "GET", .path = "/api/runs/1/log", .host = test_host, .token = test_token});
    assert_int_equal(status_of(answer), 200);
    assert_non_null(strstr(answer, "application/x-ndjson"));
    assert_non_null(strstr(answer, "\"kind\":\"mark\""));
    free(answer);
    assert_int_equal(
        status((http_request){.method = "GET", .path = "/api/runs/7/log", .host = test_host, .token = test_token}),
        404);
    assert_int_equal(
        status((http_request){.method = "GET", .path = "/api/runs/1/logs", .host = test_host, .token = test_token}),
        404);
    assert_int_equal(
        status((http_request){.method = "GET", .path = "/api/runs/-1/log", .host = test_host, .token = test_token}),
        404);
}

static void routes_get_the_rest_of_the_path_and_the_body(void **state)
{
    (void)state;
    char *answer =
        http_ask(server_port(test_server),
                 (http_request){.method = "GET", .path = "/api/things/01-a/b", .host = test_host, .token = test_token});
    assert_int_equal(status_of(answer), 200);
    assert_non_null(strstr(answer, "{\"rest\":\"/01-a/b\",\"user\":\"somebody\"}"));
    free(answer);
    answer = http_ask(server_port(test_server),
                      (http_request){"POST", "/api/things", test_host, test_origin, test_token, "{\"a\":[1,2]}"});
    assert_int_equal(status_of(answer), 201);
    assert_non_null(strstr(answer, "{\"rest\":\"\",\"body\":{\"a\":[1,2]}}"));
    free(answer);
    assert_int_equal(
        status((http_request){.method = "GET", .path = "/api/thingsandmore", .host = test_host, .token = test_token}),
        404);
    assert_int_equal(
        status((http_request){.method = "GET", .path = "/api/make", .host = test_host, .token = test_token}), 405);
    assert_int_equal(status((http_request){"POST", "/style.css", test_host, test_origin, test_token, "{}"}),
                     asset_find("/style.css") ? 405 : 404);
}

static void bodies_must_be_json_objects_of_at_most_a_mebibyte(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "[]", "1", "null", "\"x\"", "{", "{}{}", "{\"a\":}", "{} x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(status((http_request){"POST", "/api/make", test_host, test_origin, test_token, bad[i]}), 400);
    assert_int_equal(status((http_request){"POST", "/api/make", test_host, test_origin, test_token, " {} \n"}), 201);
    assert_int_equal(status((http_request){"POST", "/api/make", test_host, test_origin, test_token, NULL}), 411);

    size_t most = 1 << 20;
    char *body = malloc(most + 2);
    memset(body, ' ', most + 1);
    memcpy(body, "{}", 2);
    body[most] = 0;
    assert_int_equal(status((http_request){"POST", "/api/make", test_host, test_origin, test_token, body}), 201);
    body[most] = ' ';
    body[most + 1] = 0;
    assert_int_equal(status((http_request){"POST", "/api/make", test_host, test_origin, test_token, body}), 413);
    free(body);
}

static void handlers_have_stack_enough(void **state)
{
    (void)state;
    assert_int_equal(status((http_request){"GET", "/api/stack", test_host, NULL, test_token, NULL}), 200);
}

/* ---- malformed requests ---- */

static void garbage_does_no_harm(void **state)
{
    (void)state;
    static const char nul[] = "GET /\0/../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    static const char *const garbage[] = {
        "\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        "BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /api/make HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        "POST /api/make HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        int fd = dial(server_port(test_server));
        assert_true(fd >= 0);
        send_bytes(fd, garbage[i], strlen(garbage[i]));
        shutdown(fd, SHUT_WR);
        char *answer = read_to_end(fd);
        assert_int_not_equal(status_of(answer), 200);
        free(answer);
        close(fd);
    }
    char *answer = http_ask_bytes(server_port(test_server), nul, sizeof nul - 1);
    assert_int_not_equal(status_of(answer), 200);
    free(answer);
    size_t size = 100000;
    char *lengthy = malloc(size);
    memset(lengthy, 'A', size);
    memcpy(lengthy, "GET /", 5);
    answer = http_ask_bytes(server_port(test_server), lengthy, size);
    assert_int_not_equal(status_of(answer), 200);
    free(answer);
    free(lengthy);
    assert_int_equal(status((http_request){"GET", "/nothing", test_host, NULL, NULL, NULL}), 404);
}

/* ---- connections that only occupy ---- */

/* Waits until the server closes; discards what it sent before. */
static bool is_closed(int fd)
{
    char some[512];
    ssize_t n;
    while ((n = recv(fd, some, sizeof some, MSG_DONTWAIT)) > 0) continue;
    return n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

static void dial_all(int *fds, int count, const char *text)
{
    for (int i = 0; i < count; i++) {
        fds[i] = dial(server_port(test_server));
        assert_true(fds[i] >= 0);
        assert_true(send_bytes(fds[i], text, strlen(text)));
    }
}

/* Is the request answered before the first of so many others, which say this, has ended? Not at the first try on a
 * machine that stalls for as long as they may stay. */
static bool overtakes(int count, const char *text, http_request asked, int wanted)
{
    int fds[2 * WORKERS];
    bool first_is_there = false;
    for (int tries = 0; tries < 20 && !first_is_there; tries++) {
        dial_all(fds, count, text);
        assert_int_equal(status(asked), wanted);
        first_is_there = !is_closed(fds[0]);
        for (int i = 0; i < count; i++) close(fds[i]);
    }
    return first_is_there;
}

static void a_page_overtakes_silent_connections(void **state)
{
    (void)state;
    const http_request page = {"GET", "/nothing", test_host, NULL, NULL, NULL};
    assert_true(overtakes(2 * WORKERS, "", page, 404));
    assert_true(overtakes(2 * WORKERS, "GET / HTTP/1.1\r\nHost: loc", page, 404));
}

static void silence_ends_a_connection(void **state)
{
    (void)state;
    static const char *const said[] = {"", "GET / HTTP/1.1\r\nHost: loc", "GET / HTTP/1.1\r\n"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        char answer;
        int fd = dial(server_port(test_server));
        assert_true(send_bytes(fd, said[i], strlen(said[i])));
        ssize_t n = recv(fd, &answer, 1, 0);
        if (n < 0) assert_int_equal(errno, ECONNRESET); /* what it said was not read */
        assert_true(n <= 0);
        close(fd);
    }
}

/* A header may come byte by byte, as long as it comes. */
static void a_header_in_pieces_is_answered(void **state)
{
    (void)state;
    static const char text[] = "GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    int fd = dial(server_port(test_server));
    for (size_t i = 0; i < sizeof text - 1; i++) {
        assert_true(send_bytes(fd, text + i, 1));
        usleep(200);
    }
    char *answer = read_to_end(fd);
    assert_int_equal(status_of(answer), 404);
    free(answer);
    close(fd);
}

static void a_page_answers_beside_two_thousand_silent_connections(void **state)
{
    (void)state;
    enum { MANY = 2000, ROOM = MANY + 1000 };
    struct rlimit before, most;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    most = before;
    most.rlim_cur = before.rlim_max > ROOM ? ROOM : before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
    int many = most.rlim_cur < ROOM ? (int)most.rlim_cur / 2 : MANY, *fds = calloc(MANY, sizeof *fds);
    dial_all(fds, many, "");
    assert_int_equal(status((http_request){"GET", "/nothing", test_host, NULL, NULL, NULL}), 404);
    for (int i = 0; i < many; i++) close(fds[i]);
    free(fds);
    setrlimit(RLIMIT_NOFILE, &before);
}

/* Each of these has a worker for as long as its body does not come. */
static void without_the_token_most_workers_are_left_alone(void **state)
{
    (void)state;
    static const char stranger[] = "POST /api/make HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n";
    assert_true(
        overtakes(2 * WORKERS, stranger, (http_request){"GET", "/api/things", test_host, NULL, test_token, NULL}, 200));
}

/* ---- starting and stopping ---- */

static void only_the_loopback_address_listens(void **state)
{
    (void)state;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server_port(test_server))};
    inet_pton(AF_INET, "127.0.0.2", &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), -1);
    close(fd);
}

static void a_taken_port_gives_the_next(void **state)
{
    (void)state;
    int port = 18820, taken = -1, free_one = -1;
    for (; port < 18920 && free_one < 0; port++) { /* a port in use, and the next one */
        if (taken >= 0) close(taken);
        taken = listen_on(port);
        free_one = taken >= 0 ? listen_on(port + 1) : -1;
    }
    assert_true(free_one >= 0);
    close(free_one);
    server *next = start(--port);
    assert_int_equal(server_port(next), port + 1);
    assert_null(strstr(server_url(next), test_token)); /* a token of its own */
    assert_int_equal(
        http_ask_status(server_port(next), (http_request){"GET", "/api/things", test_host, NULL, test_token, NULL}),
        403);
    server_stop(next);
    close(taken);
}

/* When server_stop returns all threads have ended. */
static void stopping_closes_all_and_leaves_no_thread(void **state)
{
    (void)state;
    int before = serving_threads(); /* of the other server */
    server *s = start(18750);
    int half = dial(server_port(s)), idle = dial(server_port(s)), port = server_port(s);
    assert_true(serving_threads() > before);
    send_bytes(half, "POST /", 6);
    usleep(20000); /* wait until both are accepted: such connections used to delay mg_stop for seconds */
    server_stop(s);
    assert_true(serving_threads_become(before));
    assert_true(is_closed(half));
    assert_true(is_closed(idle));
    close(half);
    close(idle);
    assert_int_equal(server_socket(port, 0), -1); /* another program may listen there at once */
}

static void the_programs_sigpipe_stays_as_it_was(void **state)
{
    (void)state;
    struct sigaction a;
    signal(SIGPIPE, SIG_DFL);
    server_stop(start(18760));
    sigaction(SIGPIPE, NULL, &a);
    assert_true(a.sa_handler == SIG_DFL);
}

/* A guard page follows the last byte of each body. */
static void a_body_is_read_to_its_end_and_no_further(void **state)
{
    static const char *const bad[] = {
        "", "\\", "{\"a\":\"\\", "{\"a\":\"\\\\\\", "{\"a\":\"\\u000", "{\"a\":\"\\u0000\"}"};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *room = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_int_equal(mprotect(room + page, page, PROT_NONE), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = room + page - strlen(bad[i]) - 1;
        memcpy(text, bad[i], strlen(bad[i]));
        assert_null(http_object(text, strlen(bad[i])));
    }
    munmap(room, 2 * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_asset_is_served_with_a_strict_policy),
        cmocka_unit_test(every_file_of_www_is_in_the_table),
        cmocka_unit_test(the_root_is_the_index),
        cmocka_unit_test(a_code_is_good_for_the_token_once),
        cmocka_unit_test(another_user_gets_nothing_for_the_code),
        cmocka_unit_test(the_lines_of_a_run_can_be_downloaded),
        cmocka_unit_test(routes_get_the_rest_of_the_path_and_the_body),
        cmocka_unit_test(bodies_must_be_json_objects_of_at_most_a_mebibyte),
        cmocka_unit_test(handlers_have_stack_enough),
        cmocka_unit_test(garbage_does_no_harm),
        cmocka_unit_test(a_body_is_read_to_its_end_and_no_further),
        cmocka_unit_test(a_page_overtakes_silent_connections),
        cmocka_unit_test(silence_ends_a_connection),
        cmocka_unit_test(a_header_in_pieces_is_answered),
        cmocka_unit_test(a_page_answers_beside_two_thousand_silent_connections),
        cmocka_unit_test(without_the_token_most_workers_are_left_alone),
        cmocka_unit_test(only_the_loopback_address_listens),
        cmocka_unit_test(a_taken_port_gives_the_next),
        cmocka_unit_test(stopping_closes_all_and_leaves_no_thread),
        cmocka_unit_test(the_programs_sigpipe_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
