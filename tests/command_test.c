/* command_test.c: the `ferry` command without a terminal and without a browser: every subcommand, its
 * exit status, the watcher end to end, and the lessons served to a page. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "http_client.h"
#include "school.h"

#define ID "01-where-am-i"
enum { GUARD_MS = 60000 }; /* nothing is timed; this ends a test that hangs */

static void expect(const char *arguments, int status, const char *part)
{
    char *printed;
    int got = school_run(arguments, &printed);
    if (got != status || !strstr(printed, part))
        fail_msg("ferry %s: status %d (wanted %d), '%s' wanted in:\n%s", arguments, got, status, part, printed);
    free(printed);
}

/* ---- one command after the other ------------------------------------------------------------------------ */

static void help_and_mistakes_have_their_exit_status(void **state)
{
    (void)state;
    expect("help", 0, "usage: ferry COMMAND");
    expect("", 2, "usage: ferry COMMAND");
    expect("--version", 0, "ferry 0.");
    expect("frobnicate", 2, "no command 'frobnicate'");
    expect("grade", 2, "usage: ferry grade ID");
    expect("grade 99", 2, "there is no lesson '99'; there are 01-where-am-i");
    expect("grade 1 --quick", 2, "unknown option '--quick'");
    expect("grade 1 2", 2, "one argument too many: '2'");
    expect("serve --port", 2, "a value is missing after '--port'");
    expect("serve --port 99999", 2, "this value cannot be used: '99999'");
}

static void list_names_every_lesson(void **state)
{
    (void)state;
    expect("list", 0, ID);
    expect("list", 0, "03-round-trip");
}

static void grade_makes_the_file_and_says_what_failed(void **state)
{
    (void)state;
    expect("grade 1", 1, "FAIL same-device");
    expect("grade 01", 1, "my/" ID ".c:");
    expect("grade " ID, 1, "ferry hint 01");
    expect("list", 0, "begun");
}

static void grade_passes_a_solution(void **state)
{
    (void)state;
    assert_true(school_hand_in(ID, "solution.c"));
    expect("grade 1", 0, "Passed.");
    expect("list", 0, "done");
}

static void grade_json_is_one_object(void **state)
{
    (void)state;
    char *printed;
    assert_true(school_hand_in(ID, "starter.c"));
    assert_int_equal(school_run("grade 1 --json", &printed), 1);
    cJSON *json = cJSON_Parse(printed);
    assert_non_null(json);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "pass")));
    assert_string_equal(cJSON_GetObjectItem(json, "lesson")->valuestring, ID);
    assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(json, "checks")) > 0);
    assert_true(cJSON_GetObjectItem(json, "line")->valueint > 0);
    cJSON_Delete(json);
    free(printed);
}

static void run_tells_the_events_and_what_was_printed(void **state)
{
    (void)state;
    assert_true(school_write(ID,
                             "#include <ferry.h>\n#include <stdio.h>\n\nint main(void)\n{\n"
                             "    fy_tensor *a = fy_to(fy_ones((2)), \"cuda\");\n    printf(\"seen \\033[2J\\n\");\n"
                             "    return fy_dim(a) - 1;\n}\n"));
    expect("run 1", 0, "it printed");
    expect("run 1", 0, "seen \\x1b[2J"); /* control characters stay off the terminal */
    expect("run 1 --demo", 0, "matmul");
}

static void hints_come_one_by_one(void **state)
{
    (void)state;
    expect("hint 1", 0, "the next one: ferry hint 01 2");
    expect("hint 1 3", 0, "");
    expect("hint 1 9", 2, "hints 1 to 3");
    expect("hint 1 x", 2, "hints 1 to 3");
}

static void reset_asks_and_keeps_the_old_file(void **state)
{
    (void)state;
    char path[256];
    assert_true(school_write(ID, "int mine;\n"));
    expect("reset 1", 1, "--yes");
    expect("reset 1 --yes", 0, "is the starter again");
    snprintf(path, sizeof path, "%s/my/%s.c.bak", school_folder, ID);
    char *kept = file_read(path, NULL);
    assert_string_equal(kept, "int mine;\n");
    free(kept);
}

static void a_saved_run_becomes_lines(void **state)
{
    (void)state;
    char command[1024], arguments[256], *printed = NULL;
    expect("schema", 0, "\"alloc\"");
    expect("log /nowhere", 1, "/nowhere");
    snprintf(arguments, sizeof arguments, "log %s/run.jsonl", school_folder);
    snprintf(command, sizeof command, "FERRY_GPU=sim $(dirname %s)/lessons/" ID " --trace %s/run.jsonl >/dev/null 2>&1",
             school_ferry, school_folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(school_run(arguments, &printed), 0);
    assert_non_null(strstr(printed, "\"kind\":\"session\""));
    assert_non_null(strstr(printed, "\"kind\":\"end\""));
    free(printed);
}

/* ---- a command that goes on ----------------------------------------------------------------------------- */

typedef struct running {
    pid_t pid;
    int out;
    char text[65536];
    size_t size;
} running;

static void start_ferry(running *r, const char *const *arguments)
{
    int ends[2];
    const char *argv[8] = {school_ferry};
    for (int i = 0; arguments[i]; i++) argv[i + 1] = arguments[i];
    *r = (running){0};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    r->pid = fork();
    if (r->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(open("/dev/null", O_RDONLY), 0);
        dup2(ends[1], 1), dup2(ends[1], 2);
        execv(school_ferry, (char *const *)(const void *)argv);
        _exit(127);
    }
    close(ends[1]);
    r->out = ends[0];
}

/* Until `part` was printed. */
static void await(running *r, const char *part)
{
    while (!strstr(r->text, part)) {
        struct pollfd p = {.fd = r->out, .events = POLLIN};
        ssize_t n = poll(&p, 1, GUARD_MS) > 0 ? read(r->out, r->text + r->size, sizeof r->text - r->size - 1) : 0;
        if (n <= 0) fail_msg("waited for '%s' in vain; there is:\n%s", part, r->text);
        r->size += (size_t)n;
        r->text[r->size] = '\0';
    }
}

static void forget(running *r)
{
    r->size = 0;
    r->text[0] = '\0';
}

/* Its exit status after a signal. */
static int end_ferry(running *r, int signal_number)
{
    int status;
    kill(r->pid, signal_number);
    assert_int_equal(waitpid(r->pid, &status, 0), r->pid);
    close(r->out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void watch_grades_each_save(void **state)
{
    (void)state;
    running r;
    char path[256];
    assert_true(school_hand_in(ID, "starter.c"));
    start_ferry(&r, (const char *[]){"watch", "1", NULL});
    await(&r, "FAIL same-device");
    await(&r, "Ctrl-C ends");
    forget(&r);
    assert_true(school_hand_in(ID, "solution.c")); /* by rename */
    await(&r, "Passed.");
    forget(&r);
    snprintf(path, sizeof path, "%s/my/%s.c", school_folder, ID);
    FILE *f = fopen(path, "w"); /* in place, and slowly */
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

typedef struct page {
    running ferry;
    int port;
    char token[40], origin[64], host[64];
} page;

static void open_page(page *p)
{
    start_ferry(&p->ferry, (const char *[]){"serve", "--no-browser", "--port", "8760", NULL});
    await(&p->ferry, "Ctrl-C ends");
    const char *url = strstr(p->ferry.text, "http://127.0.0.1:");
    assert_non_null(url);
    assert_int_equal(sscanf(url, "http://127.0.0.1:%d/#token=%39[0-9a-f]", &p->port, p->token), 2);
    snprintf(p->host, sizeof p->host, "127.0.0.1:%d", p->port);
    snprintf(p->origin, sizeof p->origin, "http://127.0.0.1:%d", p->port);
}

/* The object or array that comes back; fails on another status. */
static cJSON *api(const page *p, const char *method, const char *path, const char *body, int status)
{
    char *answer = ask(p->port, (asking){.method = method,
                                         .path = path,
                                         .host = p->host,
                                         .token = p->token,
                                         .origin = body ? p->origin : NULL,
                                         .body = body});
    const char *json = strstr(answer, "\r\n\r\n");
    if (status_of(answer) != status || !json) fail_msg("%s %s: %s", method, path, answer);
    cJSON *parsed = cJSON_Parse(json + 4);
    if (!parsed) fail_msg("%s %s: %s", method, path, answer);
    free(answer);
    return parsed;
}

static void api_fails(const page *p, const char *method, const char *path, const char *body, int status)
{
    cJSON *json = api(p, method, path, body, status);
    assert_true(cJSON_IsString(cJSON_GetObjectItem(json, "error")));
    cJSON_Delete(json);
}

static const char *field(const cJSON *json, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(json, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static void lessons_come_over_http(const page *p)
{
    cJSON *all = api(p, "GET", "/api/lessons", NULL, 200);
    assert_true(cJSON_GetArraySize(all) >= 3);
    cJSON_Delete(all);
    cJSON *one = api(p, "GET", "/api/lessons/" ID, NULL, 200);
    assert_non_null(strstr(field(one, "demo"), "#include <ferry.h>"));
    assert_non_null(strstr(field(one, "source"), "fy_answer"));
    assert_string_equal(field(one, "path"), "my/" ID ".c");
    assert_true(*field(one, "text"));
    cJSON_Delete(one);
    cJSON *hint = api(p, "GET", "/api/lessons/" ID "/hints/2", NULL, 200);
    assert_true(*field(hint, "hint"));
    cJSON_Delete(hint);
}

static void bad_requests_are_told_apart(const page *p)
{
    api_fails(p, "GET", "/api/lessons/1", NULL, 404);
    api_fails(p, "GET", "/api/lessons/..%2f..%2fetc", NULL, 400);
    api_fails(p, "GET", "/api/lessons/" ID "/hints/0", NULL, 404);
    api_fails(p, "GET", "/api/lessons/" ID "/solution", NULL, 404);
    api_fails(p, "POST", "/api/lessons/" ID "/run", "{\"what\":\"rm\"}", 400);
    api_fails(p, "POST", "/api/lessons/" ID "/run", "{\"what\":7}", 400);
    api_fails(p, "POST", "/api/lessons/" ID "/save", "{}", 400);
    api_fails(p, "POST", "/api/lessons/" ID "/save", "[1]", 400);
    api_fails(p, "POST", "/api/lessons/none/run", "{\"what\":\"demo\"}", 404);
    api_fails(p, "POST", "/api/lessons/" ID "/destroy", "{}", 404);
}

/* A save in the page is built, run and judged: the terminal says so too. */
static void a_save_in_the_page_is_graded(page *p)
{
    char *text = file_read("lessons/" ID "/solution.c", NULL);
    cJSON *body = cJSON_CreateObject();
    cJSON_AddStringToObject(body, "source", text);
    char *json = cJSON_PrintUnformatted(body);
    forget(&p->ferry);
    cJSON_Delete(api(p, "POST", "/api/lessons/" ID "/save", json, 200));
    await(&p->ferry, "Passed.");
    cJSON *one = api(p, "GET", "/api/lessons/" ID, NULL, 200);
    assert_string_equal(field(one, "source"), text);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(one, "done")));
    cJSON_Delete(one);
    cJSON_free(json);
    cJSON_Delete(body);
    free(text);
}

static void the_last_run_is_there_to_download(const page *p)
{
    char *answer =
        ask(p->port, (asking){.method = "GET", .path = "/api/runs/1/log", .host = p->host, .token = p->token});
    assert_int_equal(status_of(answer), 200);
    assert_non_null(strstr(answer, "\"kind\":\"grade\""));
    free(answer);
}

static void the_page_edits_runs_and_resets(void **state)
{
    (void)state;
    page p;
    expect("reset 1 --yes", 0, "starter");
    open_page(&p);
    lessons_come_over_http(&p);
    bad_requests_are_told_apart(&p);
    a_save_in_the_page_is_graded(&p);
    the_last_run_is_there_to_download(&p);
    forget(&p.ferry);
    assert_true(school_hand_in(ID, "starter.c")); /* an editor beside the page */
    await(&p.ferry, "FAIL same-device");
    cJSON_Delete(api(&p, "POST", "/api/lessons/" ID "/run", "{\"what\":\"demo\"}", 200));
    cJSON *fresh = api(&p, "POST", "/api/lessons/" ID "/reset", "{}", 200);
    assert_non_null(strstr(field(fresh, "source"), "fy_answer"));
    cJSON_Delete(fresh);
    assert_int_equal(end_ferry(&p.ferry, SIGINT), 0);
}

static void a_newer_save_supersedes_a_run_that_hangs(void **state)
{
    (void)state;
    page p;
    open_page(&p);
    cJSON_Delete(api(&p, "GET", "/api/lessons/" ID, NULL, 200));
    forget(&p.ferry);
    assert_true(school_write(ID, "int main(void)\n{\n    for (volatile int i = 0;;) i = 1;\n}\n"));
    usleep(1500000); /* it runs by now; if not, the newer save comes first, which is no failure */
    assert_true(school_hand_in(ID, "solution.c"));
    await(&p.ferry, "Passed.");
    assert_null(strstr(p.ferry.text, "still running"));
    assert_int_equal(end_ferry(&p.ferry, SIGTERM), 0);
}

static void a_second_serve_points_to_the_first(void **state)
{
    (void)state;
    page p;
    char path[256], port[64];
    struct stat st;
    open_page(&p);
    snprintf(path, sizeof path, "%s/state/ferry/serve.lock", school_folder);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    snprintf(port, sizeof port, "on port %d", p.port);
    expect("serve --no-browser", 0, port);
    assert_int_equal(end_ferry(&p.ferry, SIGTERM), 0);
    page again;
    open_page(&again); /* the lock went with its owner */
    assert_int_equal(end_ferry(&again.ferry, SIGTERM), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_mistakes_have_their_exit_status),
        cmocka_unit_test(list_names_every_lesson),
        cmocka_unit_test(grade_makes_the_file_and_says_what_failed),
        cmocka_unit_test(grade_passes_a_solution),
        cmocka_unit_test(grade_json_is_one_object),
        cmocka_unit_test(run_tells_the_events_and_what_was_printed),
        cmocka_unit_test(hints_come_one_by_one),
        cmocka_unit_test(reset_asks_and_keeps_the_old_file),
        cmocka_unit_test(a_saved_run_becomes_lines),
        cmocka_unit_test(watch_grades_each_save),
        cmocka_unit_test(the_page_edits_runs_and_resets),
        cmocka_unit_test(a_newer_save_supersedes_a_run_that_hangs),
        cmocka_unit_test(a_second_serve_points_to_the_first),
    };
    return cmocka_run_group_tests(tests, school_make, school_remove);
}
