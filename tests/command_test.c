/* command_test.c: every subcommand of `ferry` and its exit status, without a terminal or browser. Long-running
 * subcommands are tested in serve_test.c. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <errno.h>

#include "findings_log.h"
#include "learner_folder.h"
#include "log.h"

#define ID "01-where-am-i"

static void expect(const char *arguments, int status, const char *part)
{
    char *printed;
    int got = run_ferry(arguments, &printed);
    if (got != status || !strstr(printed, part))
        fail_msg("ferry %s: status %d (wanted %d), '%s' wanted in:\n%s", arguments, got, status, part, printed);
    free(printed);
}

/* ---- subcommands ------------------------------------------------------------------------ */

static void help_and_mistakes_have_their_exit_status(void **state)
{
    (void)state;
    expect("help", 0, "usage: ferry COMMAND");
    expect("", 2, "usage: ferry COMMAND");
    expect("--version", 0, "ferry 0.");
    expect("frobnicate", 2, "no command 'frobnicate'");
    expect("grade", 2, "usage: ferry grade ID");
    expect("grade 99", 2, "there is no lesson '99'; all lessons: ");
    expect("grade 1 --quick", 2, "unknown option '--quick'");
    expect("grade 1 2", 2, "one argument too many: '2'");
    expect("serve --port", 2, "a value is missing after '--port'");
    expect("serve --port 99999", 2, "invalid value: '99999'");
}

static void a_misspelt_command_gets_the_nearest(void **state)
{
    (void)state;
    expect("grad", 2, "there is no command 'grad'; did you mean grade? all commands: ");
    expect("solutoin", 2, "did you mean solution? ");
    expect("lst", 2, "did you mean list? ");
    expect("comp", 2, "did you mean compare? ");
    expect("frobnicate", 2, "there is no command 'frobnicate'; all commands: ");
    expect("''", 2, "there is no command ''; all commands: ");
}

/* The file is made, and what tells clangd about it, by the first command that needs it. */
static char *flags_of_a_new_file(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/my/" ID ".c", learner_folder);
    unlink(path);
    expect("grade 1", 1, "FAIL same-device");
    snprintf(path, sizeof path, "%s/my/compile_flags.txt", learner_folder);
    return file_read(path, NULL);
}

static void clangd_reads_a_learners_file_as_ferry_does(void **state)
{
    (void)state;
    char path[128], command[400], *flags = flags_of_a_new_file();
    assert_non_null(flags);
    free(flags);
    snprintf(command, sizeof command, "cd %s/my && cc -Werror -fsyntax-only $(cat compile_flags.txt) " ID ".c",
             learner_folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "! command -v clangd || clangd --check=%s/my/" ID ".c 2>&1 | grep ' 0 errors'",
             learner_folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/my/compile_flags.txt", learner_folder);
    assert_true(file_write(path, "-DMINE\n", 7));
    assert_non_null(flags = flags_of_a_new_file());
    assert_string_equal(flags, "-DMINE\n"); /* somebody's own stays */
    free(flags);
}

static void a_misspelt_lesson_gets_the_nearest_ones(void **state)
{
    (void)state;
    expect("hint 03-rond-trip", 2, "there is no lesson '03-rond-trip'; did you mean 03-round-trip? all lessons: ");
    expect("hint roundtrip", 2, "did you mean 03-round-trip? ");
    expect("hint elephants", 2, "there is no lesson 'elephants'; all lessons: ");
}

static void a_file_means_its_lesson(void **state)
{
    (void)state;
    expect("hint my/03-round-trip.c 1", 0, "hint 03\n");
    expect("hint 03-round-trip.c 1", 0, "hint 03\n");
    expect("hint my/03-rond-trip.c 1", 2, "did you mean 03-round-trip? ");
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
    expect("list", 0, "started");
}

static void grade_passes_a_solution(void **state)
{
    (void)state;
    assert_true(copy_answer(ID, "solution.c"));
    expect("grade 1", 0, "Passed.");
    expect("grade 1", 0, "copies to the card                  1          1\n");
    expect("list", 0, "done");
}

static void a_mistake_in_a_call_is_no_missing_answer(void **state)
{
    (void)state;
    char *printed;
    assert_true(write_answer(ID, "#include <ferry.h>\n\nint main(void)\n{\n"
                                 "    fy_tensor *y = fy_matmul(fy_ones((2, 3)), fy_ones((2, 3)));\n"
                                 "    fy_answer(\"y\", y);\n}\n"));
    assert_int_equal(run_ferry("grade 1", &printed), 1);
    assert_non_null(strstr(printed, "FAIL stopped by an error"));
    assert_non_null(strstr(printed, "  fix: "));
    assert_null(strstr(strstr(printed, "fix: ") + 1, "fix: "));
    assert_non_null(
        strstr(printed, "\n  expected  no call that fails\n  got       a call that failed (shape)\n  event 12 "));
    assert_null(strstr(printed, "submitted"));
    free(printed);
}

static void grade_json_is_one_object(void **state)
{
    (void)state;
    char *printed;
    assert_true(copy_answer(ID, "starter.c"));
    assert_int_equal(run_ferry("grade 1 --json", &printed), 1);
    cJSON *json = cJSON_Parse(printed);
    assert_non_null(json);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "pass")));
    assert_string_equal(cJSON_GetObjectItem(json, "lesson")->valuestring, ID);
    assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(json, "checks")) > 0);
    assert_true(cJSON_GetObjectItem(json, "line")->valueint > 0);
    cJSON_Delete(json);
    free(printed);
}

static void run_prints_the_events_and_the_output(void **state)
{
    (void)state;
    assert_true(write_answer(ID,
                             "#include <ferry.h>\n#include <stdio.h>\n\nint main(void)\n{\n"
                             "    fy_tensor *a = fy_to(fy_ones((2)), \"cuda\");\n    printf(\"seen \\033[2J\\n\");\n"
                             "    return fy_dim(a) - 1;\n}\n"));
    expect("run 1", 0, "it printed");
    expect("run 1", 0, "seen \\x1b[2J"); /* control characters stay off the terminal */
    expect("run 1 --demo", 0, "matmul");
}

static void a_run_is_saved_for_explain(void **state)
{
    (void)state;
    char file[64], asked[128];
    snprintf(file, sizeof file, "/tmp/ferry-command-%d.jsonl", (int)getpid());
    assert_true(write_answer(ID, "#include <ferry.h>\n\nint main(void)\n{\n"
                                 "    fy_to(fy_randn((2048)), \"cuda\");\n}\n"));
    snprintf(asked, sizeof asked, "run 1 --trace %s", file);
    expect(asked, 0, "copy");
    snprintf(asked, sizeof asked, "explain %s", file);
    expect(asked, 0, "unused-copy");
    unlink(file);
    expect("run 1 --trace /nowhere/run.jsonl", 1, "cannot write /nowhere/run.jsonl");
}

static void hints_come_one_by_one(void **state)
{
    (void)state;
    expect("hint 1", 0, "hint 1 of 3: ");
    expect("hint 1", 0, "hint 2 of 3: ");
    expect("hint 1 1", 0, ferry_command); /* the advice names the command as it was called, so that it can be typed */
    expect("hint 1", 0, "hint 2 of 3: ");
    expect("hint 1", 0, "hint 3 of 3: ");
    expect("hint 1", 0, "hint 3 of 3: "); /* and it is not moved again */
    expect("hint 1 9", 2, "hints 1 to 3");
    expect("hint 1 x", 2, "hints 1 to 3");
    expect("hint m1", 0, "hint m1\n"); /* m10 begins with m1, too */
    expect("hint m10", 0, "hint m10\n");
}

static void reset_asks_and_keeps_the_old_file(void **state)
{
    (void)state;
    char path[256];
    assert_true(write_answer(ID, "int mine;\n"));
    expect("reset 1", 1, "--yes");
    expect("reset 1 --yes", 0, "is the starter again");
    snprintf(path, sizeof path, "%s/my/%s.c.bak", learner_folder, ID);
    char *kept = file_read(path, NULL);
    assert_string_equal(kept, "int mine;\n");
    free(kept);
}

/* What the example of lesson 1 prints on stdout alone; the caller frees it. */
static char *example_prints(const char *environment)
{
    char command[1024], *text = calloc(1, 1 << 14);
    snprintf(command, sizeof command, "env FERRY_GPU=sim %s $(dirname %s)/lessons/" ID " 2>/dev/null | cat",
             environment, ferry_command);
    FILE *from = popen(command, "r");
    assert_true(from && text);
    size_t n = fread(text, 1, (1 << 14) - 1, from);
    text[n] = '\0';
    assert_int_equal(pclose(from), 0);
    return text;
}

static void an_example_tells_its_events_in_a_pipe(void **state)
{
    (void)state;
    char *text = example_prints(""), *copy = strstr(text, "copy    rows -> moved"), *value = strstr(text, "tensor(");
    if (!copy || !value || !(copy < value)) fail_msg("no events, or not in order:\n%s", text);
    assert_non_null(strstr(value, "exit status 0"));
    free(text);
    text = example_prints("FERRY_NARRATE=0");
    assert_int_equal(strncmp(text, "tensor(", 7), 0);
    assert_null(strstr(text, "copy"));
    free(text);
}

static void a_saved_run_becomes_lines(void **state)
{
    (void)state;
    char command[1024], arguments[256], *printed = NULL;
    expect("schema", 0, "\"alloc\"");
    expect("log /nowhere", 1, "/nowhere");
    snprintf(arguments, sizeof arguments, "log %s/run.jsonl", learner_folder);
    snprintf(command, sizeof command, "FERRY_GPU=sim $(dirname %s)/lessons/" ID " --trace %s/run.jsonl >/dev/null 2>&1",
             ferry_command, learner_folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(run_ferry(arguments, &printed), 0);
    assert_non_null(strstr(printed, "\"kind\":\"session\""));
    assert_non_null(strstr(printed, "\"kind\":\"end\""));
    free(printed);
}

/* Without a browser: what it would be asked for is looked at first. */
static void a_step_that_is_not_there_is_said(void **state)
{
    (void)state;
    char arguments[256], said[128];
    snprintf(arguments, sizeof arguments, "export %s/run.jsonl --png --step 99", learner_folder);
    snprintf(said, sizeof said, "%s/run.jsonl has 9 steps: there is no step 99; `ferry where ", learner_folder);
    expect(arguments, 1, said);
}

/* Written by hand, so that no program has to fill one. */
static void a_full_log_is_said_by_all_that_read_it(void **state)
{
    (void)state;
    static const char *const readers[] = {"compare %1$s %1$s",
                                          "export --perfetto %1$s -o /dev/null",
                                          "export --html %1$s -o /dev/null",
                                          "explain %1$s",
                                          "where %1$s",
                                          "log %1$s"};
    char path[128], arguments[400];
    handmade h;
    log_begin(&h);
    log_alloc(&h, 1, 1, "cpu", "pageable", 64);
    hand(&h, "'kind':'log_full','limit':%d", h.seq + 1);
    snprintf(path, sizeof path, "%s/full.jsonl", learner_folder);
    assert_true(file_write(path, h.text, h.size));
    hand_end(&h);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        snprintf(arguments, sizeof arguments, readers[i], path);
        expect(arguments, 0, "the log was full, and later events are missing");
    }
    snprintf(arguments, sizeof arguments, "compare %s %s", path, path);
    expect(arguments, 0, "full.jsonl: the log was full, and later events are missing: what it cost may be incomplete");
}

/* The program was killed before its first. */
static void a_log_without_events_has_no_step_and_says_so(void **state)
{
    (void)state;
    char path[128], arguments[256], err[256] = "";
    snprintf(path, sizeof path, "%s/empty.log", learner_folder);
    int fd = fy_log_file(path, 1000, err, sizeof err);
    if (fd < 0) fail_msg("%s", err);
    close(fd);
    snprintf(arguments, sizeof arguments, "where %s", path);
    expect(arguments, 0, "no step: the log has no event yet");
    snprintf(arguments, sizeof arguments, "where x %s", path);
    expect(arguments, 1, "empty.log: it has no event yet, so no step");
    snprintf(arguments, sizeof arguments, "where x --at 1 %s", path);
    expect(arguments, 1, "empty.log: it has no event yet, so no step");
}

static void reports_name_the_file_from_the_current_folder(void **state)
{
    (void)state;
    char path[128], command[1024], text[512], *printed;
    assert_true(copy_answer(ID, "starter.c"));
    snprintf(text, sizeof text, "\n  %s/my/" ID ".c:18: ", learner_folder);
    expect("grade 1", 1, text);
    snprintf(text, sizeof text, ID "  %s/my/" ID ".c, seed 0\n", learner_folder);
    expect("grade 1", 1, text);
    expect("grade 1 --json", 1, "\"file\":\"my/" ID ".c\""); /* as the log names it */
    snprintf(path, sizeof path, "%s/my", learner_folder);
    snprintf(command, sizeof command, "cd %s && %s grade 1 2>&1", path, ferry_command);
    FILE *from = popen(command, "r");
    printed = calloc(1, 1 << 14);
    assert_true(from && printed && fread(printed, 1, (1 << 14) - 1, from) > 0);
    pclose(from);
    assert_non_null(strstr(printed, ID "  " ID ".c, seed 0\n"));
    assert_non_null(strstr(printed, "\n  " ID ".c:18: "));
    free(printed);
}

static void a_verdict_says_how_to_see_its_event(void **state)
{
    (void)state;
    char *printed;
    assert_int_equal(run_ferry("grade 1", &printed), 1);
    const char *event = strstr(printed, "\n  event 17  ");
    assert_non_null(event);
    assert_non_null(strstr(event, "all events, with their seq: "));
    assert_non_null(strstr(event, "ferry run 01 --trace run.jsonl; "));
    free(printed);
}

static void what_no_rule_explains_is_quoted(void **state)
{
    (void)state;
    assert_true(write_answer(ID, "#include <ferry.h>\nvoid odd(void) __asm__(\"odd$name\");\n"
                                 "int main(void)\n{\n    odd();\n}\n"));
    expect("grade 1", 1, "odd$name");
    assert_true(write_answer(ID, "#include <ferry.h>\nint main(void)\n{\n"
                                 "    __asm__(\".incbin \\\"/nowhere/x\\\"\");\n}\n"));
    expect("grade 1", 1, "/my/" ID ".c:4: ");
    expect("grade 1", 1, "/nowhere/x");
    assert_true(copy_answer(ID, "starter.c"));
}

static void a_folder_that_cannot_be_written_is_no_full_disk(void **state)
{
    (void)state;
    assert_non_null(strstr(folder_advice(EROFS), "this folder cannot be written: choose another one"));
    assert_non_null(strstr(folder_advice(EACCES), "FERRY_MY="));
    assert_null(strstr(folder_advice(EACCES), "disk"));
    assert_string_equal(folder_advice(ENOSPC), "free disk space");
    char *was = strdup(getenv("FERRY_MY"));
    setenv("FERRY_MY", "/sys/ferry-command-test", 1); /* where root cannot write either */
    expect("grade 1", 1, "set FERRY_MY to a folder that you can write to");
    expect("doctor", 1, "MISSING  C compiler       not tried: cannot write /sys/ferry-command-test: ");
    setenv("FERRY_MY", was, 1);
    free(was);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_mistakes_have_their_exit_status),
        cmocka_unit_test(a_misspelt_command_gets_the_nearest),
        cmocka_unit_test(clangd_reads_a_learners_file_as_ferry_does),
        cmocka_unit_test(a_misspelt_lesson_gets_the_nearest_ones),
        cmocka_unit_test(a_file_means_its_lesson),
        cmocka_unit_test(list_names_every_lesson),
        cmocka_unit_test(grade_makes_the_file_and_says_what_failed),
        cmocka_unit_test(grade_passes_a_solution),
        cmocka_unit_test(a_mistake_in_a_call_is_no_missing_answer),
        cmocka_unit_test(grade_json_is_one_object),
        cmocka_unit_test(run_prints_the_events_and_the_output),
        cmocka_unit_test(a_run_is_saved_for_explain),
        cmocka_unit_test(hints_come_one_by_one),
        cmocka_unit_test(reset_asks_and_keeps_the_old_file),
        cmocka_unit_test(an_example_tells_its_events_in_a_pipe),
        cmocka_unit_test(a_saved_run_becomes_lines),
        cmocka_unit_test(a_step_that_is_not_there_is_said),
        cmocka_unit_test(a_full_log_is_said_by_all_that_read_it),
        cmocka_unit_test(a_log_without_events_has_no_step_and_says_so),
        cmocka_unit_test(reports_name_the_file_from_the_current_folder),
        cmocka_unit_test(a_verdict_says_how_to_see_its_event),
        cmocka_unit_test(what_no_rule_explains_is_quoted),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_no_full_disk),
    };
    return cmocka_run_group_tests(tests, make_learner_folder, remove_learner_folder);
}
