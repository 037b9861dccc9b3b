/* serve_test.c: `ferry serve` and `ferry watch`, started as from a shell: every save is graded, the page edits and
 * runs, a second server for a folder points to the first, and used ports and browsers are reported once. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <pty.h>
#include <sys/stat.h>

#include "ferry_process.h"

#define ID "01-where-am-i"

static void expect(const char *arguments, int status, const char *part)
{
    char *printed;
    int got = run_ferry(arguments, &printed);
    if (got != status || !strstr(printed, part))
        fail_msg("ferry %s: status %d (wanted %d), '%s' wanted in:\n%s", arguments, got, status, part, printed);
    free(printed);
}

/* ---- the watcher ---------------------------------------------------------------------------------------- */

static void watch_grades_each_save(void **state)
{
    (void)state;
    running r;
    char path[256];
    assert_true(copy_answer(ID, "starter.c"));
    start_ferry(&r, (const char *[]){"watch", "1", NULL});
    await(&r, "FAIL same-device");
    await(&r, "Ctrl-C stops");
    forget(&r);
    assert_true(copy_answer(ID, "solution.c")); /* by rename */
    await(&r, "Passed.");
    forget(&r);
    snprintf(path, sizeof path, "%s/my/%s.c", learner_folder, ID);
    FILE *f = fopen(path, "w"); /* in place, in several writes */
    assert_non_null(f);
    fputs("#include <ferry.h>\n\nint main(void)\n{\n", f);
    fflush(f);
    usleep(300000);
    fputs("    fy_print(fy_ones((2)))\n}\n", f);
    fclose(f);
    await(&r, "a semicolon is missing");
    assert_null(strstr(r.text, "brace"));
    end_ferry(&r, SIGTERM);
}

/* ---- the lessons, served -------------------------------------------------------------------------------- */

static void check_lessons(const page *p)
{
    cJSON *all = api(p, "GET", "/api/lessons", NULL, 200);
    assert_true(cJSON_GetArraySize(all) >= 3);
    cJSON_Delete(all);
    cJSON *one = api(p, "GET", "/api/lessons/" ID, NULL, 200);
    assert_non_null(strstr(json_field(one, "demo"), "#include <ferry.h>"));
    assert_non_null(strstr(json_field(one, "source"), "fy_answer"));
    assert_string_equal(json_field(one, "path"), "my/" ID ".c");
    assert_true(*json_field(one, "html"));
    cJSON_Delete(one);
    cJSON *hint = api(p, "GET", "/api/lessons/" ID "/hints/2", NULL, 200);
    assert_true(*json_field(hint, "html"));
    cJSON_Delete(hint);
}

static void check_bad_requests(const page *p)
{
    api_fails(p, "GET", "/api/lessons/1", NULL, 404);
    api_fails(p, "GET", "/api/lessons/..%2f..%2fetc", NULL, 400);
    api_fails(p, "GET", "/api/lessons/" ID "/hints/0", NULL, 404);
    api_fails(p, "GET", "/api/lessons/" ID "/solution", NULL, 404);
    api_fails(p, "POST", "/api/lessons/" ID "/run", "{\"what\":\"rm\"}", 400);
    api_fails(p, "POST", "/api/lessons/" ID "/run", "{\"what\":7}", 400);
    api_fails(p, "POST", "/api/lessons/" ID "/save", "{}", 400);
    api_fails(p, "POST", "/api/lessons/" ID "/save", "[1]", 400);
    api_fails(p, "POST", "/api/lessons/" ID "/save", "{\"source\":\"int a;\\u0000int b;\"}", 400);
    api_fails(p, "POST", "/api/lessons/none/run", "{\"what\":\"demo\"}", 404);
    api_fails(p, "POST", "/api/lessons/" ID "/destroy", "{}", 404);
}

/* A save in the page is built, run and judged; the terminal shows it as well. */
static void check_save(page *p)
{
    char *text = file_read("lessons/" ID "/solution.c", NULL);
    cJSON *body = cJSON_CreateObject();
    cJSON_AddStringToObject(body, "source", text);
    char *json = cJSON_PrintUnformatted(body);
    forget(&p->ferry);
    cJSON_Delete(api(p, "POST", "/api/lessons/" ID "/save", json, 200));
    await(&p->ferry, "Passed.");
    cJSON *one = api(p, "GET", "/api/lessons/" ID, NULL, 200);
    assert_string_equal(json_field(one, "source"), text);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(one, "done")));
    cJSON_Delete(one);
    cJSON_free(json);
    cJSON_Delete(body);
    free(text);
}

static void check_download(const page *p)
{
    char *answer = http_get(&p->address, "/api/runs/1/log");
    assert_non_null(strstr(answer, "\"kind\":\"grade\""));
    free(answer);
}

/* A connected page receives the example's output without reading its events. */
static void check_example(const page *p)
{
    static const char begins[] = "{\"type\":\"status\",\"lesson\":\"" ID "\",\"state\":\"done\",\"what\":\"demo\"";
    int fd = join_server(&p->address);
    cJSON_Delete(api(p, "POST", "/api/lessons/" ID "/run", "{\"what\":\"demo\"}", 200));
    char *status = ws_read_until(fd, begins);
    assert_non_null(status);
    cJSON *json = cJSON_Parse(status);
    assert_non_null(strstr(json_field(json, "output"), "tensor("));
    assert_true(cJSON_IsNumber(cJSON_GetObjectItem(json, "run")));
    cJSON_Delete(json);
    free(status);
    close(fd);
}

static void the_page_edits_runs_and_resets(void **state)
{
    (void)state;
    page p;
    expect("reset 1 --yes", 0, "starter");
    open_page(&p);
    check_lessons(&p);
    check_bad_requests(&p);
    check_save(&p);
    check_download(&p);
    forget(&p.ferry);
    assert_true(copy_answer(ID, "starter.c")); /* an editor besides the page */
    await(&p.ferry, "FAIL same-device");
    check_example(&p);
    cJSON *fresh = api(&p, "POST", "/api/lessons/" ID "/reset", "{}", 200);
    assert_non_null(strstr(json_field(fresh, "source"), "fy_answer"));
    cJSON_Delete(fresh);
    assert_int_equal(end_ferry(&p.ferry, SIGINT), 0);
}

/* not only the first one's */
static void the_files_of_all_lessons_are_watched(void **state)
{
    (void)state;
    static const char *const others[] = {"03-round-trip", "02-to-returns"};
    page p;
    open_page(&p);
    for (int i = 0; i < 2; i++) {
        forget(&p.ferry);
        assert_true(copy_answer(others[i], "solution.c"));
        await(&p.ferry, "Passed.");
    }
    assert_int_equal(end_ferry(&p.ferry, SIGTERM), 0);
}

static void a_newer_save_supersedes_a_run_that_hangs(void **state)
{
    (void)state;
    page p;
    open_page(&p);
    cJSON_Delete(api(&p, "GET", "/api/lessons/" ID, NULL, 200));
    forget(&p.ferry);
    assert_true(write_answer(ID, "int main(void)\n{\n    for (volatile int i = 0;;) i = 1;\n}\n"));
    usleep(1500000); /* it should be running; otherwise the newer save is first, which is no failure */
    assert_true(copy_answer(ID, "solution.c"));
    await(&p.ferry, "Passed.");
    assert_null(strstr(p.ferry.text, "still running"));
    assert_int_equal(end_ferry(&p.ferry, SIGTERM), 0);
}

/* The files that list the running servers, readable only by their owner. */
static int locks(void)
{
    char pattern[128];
    glob_t found = {0};
    struct stat st;
    snprintf(pattern, sizeof pattern, "%s/state/ferry/serve-*.lock", learner_folder);
    glob(pattern, 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        assert_int_equal(stat(found.gl_pathv[i], &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
    int count = (int)found.gl_pathc;
    globfree(&found);
    return count;
}

static void a_second_serve_points_to_the_first(void **state)
{
    (void)state;
    page p;
    char port[64];
    open_page(&p);
    assert_int_equal(locks(), 1);
    snprintf(port, sizeof port, "on port %d", p.address.port);
    expect("serve --no-browser", 0, port);
    assert_int_equal(end_ferry(&p.ferry, SIGTERM), 0);
    page again;
    assert_int_equal(locks(), 0);
    open_page(&again); /* the lock ended with its owner */
    assert_int_equal(end_ferry(&again.ferry, SIGTERM), 0);
}

/* The folder named in its first message to a page. */
static void assert_names_folder(const page *p, const char *folder)
{
    int fd = join_server(&p->address);
    char *text = ws_read_until(fd, "{\"type\":\"hello\""), *real = realpath(folder, NULL);
    cJSON *hello = cJSON_Parse(text);
    assert_string_equal(json_field(hello, "folder"), real);
    cJSON_Delete(hello);
    free(text), free(real);
    close(fd);
}

static void another_folder_is_served_in_addition_to_the_first(void **state)
{
    (void)state;
    page first, second;
    char mine[128], other[128], link[128], port[64];
    snprintf(mine, sizeof mine, "%s/my", learner_folder);
    snprintf(other, sizeof other, "%s/other", learner_folder);
    snprintf(link, sizeof link, "%s/link", learner_folder);
    open_page(&first);
    setenv("FERRY_MY", other, 1);
    open_page(&second);
    assert_int_not_equal(second.address.port, first.address.port);
    assert_int_equal(locks(), 2);
    assert_names_folder(&first, mine);
    assert_names_folder(&second, other);
    assert_int_equal(symlink(other, link), 0); /* the same folder by another name */
    setenv("FERRY_MY", link, 1);
    snprintf(port, sizeof port, "on port %d", second.address.port);
    expect("serve --no-browser", 0, port);
    setenv("FERRY_MY", mine, 1);
    assert_int_equal(end_ferry(&second.ferry, SIGTERM), 0);
    assert_int_equal(end_ferry(&first.ferry, SIGTERM), 0);
}

/* ---- address and browser ----------------------------------------------------------------------------------- */

static int count_in(const char *text, const char *part)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, part)); p++) n++;
    return n;
}

/* Listens on a port whose successor is free; -1: none in a hundred. */
static int occupy(int *port)
{
    for (*port = 18900; *port < 19000; ++*port) {
        int fd = listen_on(*port), next = listen_on(*port + 1);
        if (next >= 0) close(next);
        if (fd >= 0 && next >= 0) return fd;
        if (fd >= 0) close(fd);
    }
    return -1;
}

static void a_taken_port_gives_the_next_and_is_said_once(void **state)
{
    (void)state;
    page p;
    int port, fd = occupy(&port);
    char asked[16], words[80];
    assert_true(fd >= 0);
    snprintf(asked, sizeof asked, "%d", port);
    snprintf(words, sizeof words, "ferry: port %d is taken; the page is on port %d\n", port, port + 1);
    start_ferry(&p.ferry, (const char *[]){"serve", "--no-browser", "--port", asked, NULL});
    enter_page(&p);
    assert_int_equal(p.address.port, port + 1);
    assert_int_equal(count_in(p.ferry.text, words), 1);
    assert_int_equal(count_in(p.ferry.text, "is taken"), 1);
    cJSON_Delete(api(&p, "GET", "/api/lessons", NULL, 200));
    assert_int_equal(end_ferry(&p.ferry, SIGTERM), 0);
    close(fd);
}

/* Runs in its own terminal, on a desktop. */
static void open_page_on_a_desktop(page *p, const char *browser)
{
    int controller, terminal;
    struct termios raw = {0}; /* no echo, \n unchanged */
    setenv("DISPLAY", ":99", 1);
    unsetenv("SSH_CONNECTION"), unsetenv("SSH_TTY");
    setenv("BROWSER", browser, 1);
    assert_int_equal(openpty(&controller, &terminal, NULL, &raw, NULL), 0);
    fcntl(controller, F_SETFD, FD_CLOEXEC);
    start_ferry_on(&p->ferry, controller, terminal, (const char *[]){"serve", "--port", "8780", NULL});
    enter_page(p);
    unsetenv("DISPLAY");
    setenv("BROWSER", "none", 1);
}

static void a_missing_browser_is_said_once_and_stops_nothing(void **state)
{
    (void)state;
    page p;
    open_page_on_a_desktop(&p, "/nonexistent");
    assert_int_equal(count_in(p.ferry.text, "ferry: no browser could be started; open that URL yourself"), 1);
    assert_int_equal(count_in(p.ferry.text, "browser"), 1);
    cJSON_Delete(api(&p, "GET", "/api/lessons", NULL, 200));
    close(join_server(&p.address));
    assert_int_equal(end_ferry(&p.ferry, SIGTERM), 0);
}

/* A fake browser that records the URL to open: every user of the machine can see a command line. */
static void a_browser_gets_a_way_in_without_the_token(void **state)
{
    (void)state;
    page p;
    char script[128], kept[128], text[512], url[128];
    snprintf(script, sizeof script, "%s/browser", learner_folder);
    snprintf(kept, sizeof kept, "%s/opened", learner_folder);
    snprintf(text, sizeof text, "#!/bin/sh\necho \"$#\" \"$1\" >%s.new\nmv %s.new %s\n", kept, kept, kept);
    assert_true(file_write(script, text, strlen(text)));
    assert_int_equal(chmod(script, 0700), 0);
    open_page_on_a_desktop(&p, script);
    assert_null(strstr(p.ferry.text, "no browser"));
    for (int i = 0; i < GUARD_MS / 10 && access(kept, R_OK); i++) usleep(10000);
    char *opened = file_read(kept, NULL);
    assert_non_null(opened);
    assert_null(strstr(opened, p.address.token));
    snprintf(url, sizeof url, "1 http://127.0.0.1:%d", p.address.port);
    assert_memory_equal(opened, url, strlen(url));
    opened[strcspn(opened, "\n")] = '\0';
    snprintf(url, sizeof url, "Location: /#token=%s\r\n", p.address.token);
    char *answer = http_ask(p.address.port,
                            (http_request){.method = "GET", .path = strstr(opened, "/open/"), .host = p.address.host});
    assert_non_null(strstr(answer, url));
    free(answer);
    free(opened);
    assert_int_equal(end_ferry(&p.ferry, SIGTERM), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watch_grades_each_save),
        cmocka_unit_test(the_page_edits_runs_and_resets),
        cmocka_unit_test(the_files_of_all_lessons_are_watched),
        cmocka_unit_test(a_newer_save_supersedes_a_run_that_hangs),
        cmocka_unit_test(a_second_serve_points_to_the_first),
        cmocka_unit_test(another_folder_is_served_in_addition_to_the_first),
        cmocka_unit_test(a_taken_port_gives_the_next_and_is_said_once),
        cmocka_unit_test(a_missing_browser_is_said_once_and_stops_nothing),
        cmocka_unit_test(a_browser_gets_a_way_in_without_the_token),
    };
    return cmocka_run_group_tests(tests, make_learner_folder, remove_learner_folder);
}
