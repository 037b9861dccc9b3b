/* Programs that truncate the log that others read: readers survive and report it. */
#define _GNU_SOURCE 1

#include "event.h"
#include "log.h"
#include "logs.h"
#include "session_hooks.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "ferry_process.h"

#define ID "01-where-am-i"

/* Truncates every open file, then does what the lesson requires. */
static const char cutter[] = "#include <ferry.h>\n"
                             "#include <unistd.h>\n"
                             "int main(void)\n"
                             "{\n"
                             "    fy_tensor *mat1 = fy_given(\"mat1\");\n"
                             "    for (int fd = 3; fd < 100; fd++)\n"
                             "        if (ftruncate(fd, 0) != 0) continue;\n"
                             "    fy_tensor *x = fy_to(mat1, \"cuda\");\n"
                             "    fy_tensor *w = fy_full((fy_size(mat1, 1), 2), 0.5, .device = \"cuda\");\n"
                             "    fy_answer(\"y\", fy_add(fy_matmul(x, w), fy_ones((2), .device = \"cuda\")));\n"
                             "}\n";

static void a_program_that_cuts_its_log_fails_with_a_message(void **state)
{
    (void)state;
    char *printed;
    assert_true(write_answer(ID, cutter));
    assert_int_equal(run_ferry("grade 1 --json", &printed), 1);
    if (!strstr(printed, "was cut off or overwritten")) fail_msg("%s", printed);
    free(printed);
}

/* Follows a run as a page does. */
static void watch_run(int socket_fd, int run)
{
    char text[64];
    snprintf(text, sizeof text, "{\"watch\":%d,\"from\":0}", run);
    assert_true(ws_send(socket_fd, text));
}

static void the_lessons_go_on_when_a_program_cuts_its_log(void **state)
{
    (void)state;
    page p;
    open_page(&p);
    int fd = join_server(&p.address);
    for (int run = 1; run <= 3; run++) {
        forget(&p.ferry);
        assert_true(copy_answer(ID, "starter.c"));
        await(&p.ferry, "FAIL same-device");
        forget(&p.ferry);
        assert_true(write_answer(ID, cutter));
        await(&p.ferry, "was cut off or overwritten");
        watch_run(fd, 2 * run);
        cJSON_Delete(api(&p, "GET", "/api/lessons", NULL, 200));
    }
    close(fd);
    assert_int_equal(end_ferry(&p.ferry, SIGTERM), 0);
}

/* A log of a process that was killed. */
static void make_killed_log(const char *path)
{
    char err[256];
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        int fd = fy_log_file(path, 0, err, sizeof err);
        if (fd < 0 || !fy_log_adopt(fd, err, sizeof err)) _exit(1);
        FY_EMIT(NULL, session, .schema = FY_SCHEMA_VERSION, .args = fy_ref_bytes("[]", 2),
                .devices = fy_ref_bytes("[]", 2));
        for (int i = 0; i < 5000; i++) FY_EMIT(NULL, mark, .now = i);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void the_viewer_outlives_the_file_that_it_shows(void **state)
{
    (void)state;
    char path[96];
    page p;
    snprintf(path, sizeof path, "%s/run.jsonl", learner_folder);
    make_killed_log(path);
    start_ferry(&p.ferry, (const char *[]){"view", path, "--port", "18820", "--no-browser", NULL});
    await(&p.ferry, "\n");
    p.address = parse_server_address(p.ferry.text);
    int fd = join_server(&p.address);
    free(ws_read_until(fd, "{\"type\":\"ended\""));
    usleep(200000); /* the file is no longer read */
    assert_int_equal(truncate(path, 0), 0);
    for (int i = 0; i < 20; i++) watch_run(fd, 1);
    int again = join_server(&p.address);
    free(ws_read_until(again, "{\"type\":\"hello\""));
    watch_run(again, 1);
    free(http_get(&p.address, "/api/runs/1/log"));
    close(fd);
    close(again);
    assert_int_equal(end_ferry(&p.ferry, SIGTERM), 0);
}

/* Opens its viewer and kills itself. */
static _Noreturn void write_and_die(const char *path, int err)
{
    dup2(err, STDERR_FILENO);
    setenv("FERRY_VIEW", "1", 1);
    setenv("FERRY_TRACE", path, 1);
    fy_session_start();
    raise(SIGKILL);
    _exit(1);
}

static void a_page_that_stays_does_not_hold_the_logs_name(void **state)
{
    (void)state;
    char path[96], err[256];
    int ends[2], viewer = 0;
    snprintf(path, sizeof path, "%s/shown.jsonl", learner_folder);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fflush(NULL);
    running program = {.out = ends[0], .pid = fork()};
    if (!program.pid) write_and_die(path, ends[1]);
    close(ends[1]);
    await(&program, "` stops the viewer)\n");
    assert_int_equal(sscanf(strstr(program.text, "`kill "), "`kill %d`", &viewer), 1);
    int fd = fy_log_file(path, 0, err, sizeof err);
    kill(viewer, SIGTERM);
    while (read(program.out, err, sizeof err) > 0) continue; /* the viewer has exited */
    end_ferry(&program, 0);
    if (fd < 0) fail_msg("%s", err);
    close(fd);
}

static void what_remains_of_a_file_is_shown_with_a_note(void **state)
{
    (void)state;
    char path[96], arguments[128], *printed = NULL;
    snprintf(path, sizeof path, "%s/run.jsonl", learner_folder);
    make_killed_log(path);
    assert_int_equal(truncate(path, 200000), 0);
    snprintf(arguments, sizeof arguments, "log %s", path);
    assert_int_equal(run_ferry(arguments, &printed), 0);
    assert_non_null(strstr(printed, "the file was truncated"));
    assert_true(count_of(printed, "\"kind\":\"mark\"") > 1000);
    free(printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_cuts_its_log_fails_with_a_message),
        cmocka_unit_test(the_lessons_go_on_when_a_program_cuts_its_log),
        cmocka_unit_test(the_viewer_outlives_the_file_that_it_shows),
        cmocka_unit_test(a_page_that_stays_does_not_hold_the_logs_name),
        cmocka_unit_test(what_remains_of_a_file_is_shown_with_a_note),
    };
    return cmocka_run_group_tests_name("cut_log", tests, make_learner_folder, remove_learner_folder);
}
