/* loop_test.c: the learner's loop on the terminal: list, next, predict, solution, check-all, doctor, completion; as
 * text and as JSON, without a terminal or browser. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "child.h"
#include "learner_folder.h"
#include "lesson_folders.h"

#define ID "01-where-am-i"

static void expect(const char *arguments, int status, const char *part)
{
    char *printed;
    int got = run_ferry(arguments, &printed);
    if (got != status || !strstr(printed, part))
        fail_msg("ferry %s: status %d (wanted %d), '%s' wanted in:\n%s", arguments, got, status, part, printed);
    free(printed);
}

/* The JSON that is printed; the caller frees it. */
static cJSON *json_of(const char *arguments, int status)
{
    char *printed;
    int got = run_ferry(arguments, &printed);
    cJSON *json = cJSON_Parse(printed);
    if (got != status || !json)
        fail_msg("ferry %s: status %d (wanted %d), no JSON:\n%s", arguments, got, status, printed);
    free(printed);
    return json;
}

static const char *text_of(const cJSON *json, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
    return text ? text : "";
}

/* Passes every lesson before ID, so that ID is next. */
static void pass_those_before(const char *id)
{
    const char *const *ids = lessons_in_order();
    char arguments[128], *printed;
    for (int i = 0; strcmp(ids[i], id) != 0; i++) {
        assert_true(copy_answer(ids[i], "solution.c"));
        snprintf(arguments, sizeof arguments, "grade %s", ids[i]);
        assert_int_equal(run_ferry(arguments, &printed), 0);
        free(printed);
    }
}

/* A file of the lesson as the learner's, in the folder that FERRY_MY names. */
static void write_own(const char *id, const char *file)
{
    char path[256], *text = lesson_text(id, file);
    snprintf(path, sizeof path, "%s/%s.c", getenv("FERRY_MY"), id);
    assert_true(folder_make(getenv("FERRY_MY")) && file_write(path, text, strlen(text)));
    free(text);
}

static void list_tells_parts_minutes_and_state(void **state)
{
    (void)state;
    expect("list", 0, "Where is it?\n");
    expect("list", 0, "new      " ID);
    expect("list", 0, "Where am I? (15 min)");
    cJSON *all = json_of("list --json", 0), *one;
    int n = 0;
    cJSON_ArrayForEach(one, all)
    {
        assert_string_equal(text_of(one, "id"), lessons_in_order()[n++]);
        assert_true(*text_of(one, "part") && *text_of(one, "goal") && *text_of(one, "limit"));
    }
    assert_null(lessons_in_order()[n]);
    cJSON_Delete(all);
}

static void next_is_the_first_lesson_not_done(void **state)
{
    (void)state;
    pass_those_before(ID);
    expect("next", 0, ID ": Where am I? (about 15 minutes)");
    expect("next", 0, "  edit     ");
    expect("next", 0, "/my/" ID ".c\n"); /* as it is called from the current folder */
    expect("next", 0, "  limit    1 copy to the card");
    assert_true(copy_answer(ID, "solution.c")); /* next has made the file */
    expect("grade 1", 0, "Passed.");
    cJSON *next = json_of("next --json", 0);
    assert_string_equal(text_of(next, "id"), "02-to-returns");
    assert_string_equal(text_of(next, "state"), "new");
    cJSON_Delete(next);
}

static void predictions_are_compared_with_the_run(void **state)
{
    (void)state;
    expect("predict 1 1 0", 0, "right  copies to the card: 1 (line 9)\n");
    expect("predict 1 1 0", 0, "wrong  tensors that come into being in VRAM: you said 0; it is 3 (line 9, 11, 13)\n");
    expect("predict 1 1 3 </dev/null", 0, "right  tensors that come into being in VRAM: 3");
    expect("predict 1 </dev/null", 2, "give 2 answers, one to each question");
    expect("predict 1 </dev/null", 2, "  2. tensors that come into being in VRAM (a whole number)\n");
    expect("predict 1 1", 2, "ferry predict: question 2 has no answer: tensors that come into being in VRAM\n");
    expect("predict 1 </dev/null", 2, "and this is demo.c, the example:\n");
    expect("predict 1 1 1 1", 2, "'1' is one answer too many");
    expect("predict 1 many 0", 2, "'many' does not answer: copies to the card");
    expect("predict 1 -1 0", 2, "unknown option");
    cJSON *json = json_of("predict 1 3 1 --json", 0);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "predictions"), 0);
    assert_string_equal(text_of(first, "guess"), "3");
    assert_string_equal(text_of(first, "answer"), "1");
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(first, "right")));
    cJSON_Delete(json);
}

static void no_prompt_for_an_answer_that_lacks(void **state)
{
    (void)state;
    char *printed;
    assert_int_equal(run_ferry("predict 1 1", &printed), 2);
    assert_null(strstr(printed, "?"));
    free(printed);
}

static void predictions_are_asked_for_on_the_terminal(void **state)
{
    (void)state;
    char command[1024], text[4096] = "";
    snprintf(command, sizeof command, "printf 'no idea\\n1\\n1\\n' | FERRY_MY='%s/my' '%s' predict 1", learner_folder,
             ferry_command);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    fread(text, 1, 2000, out);
    while (fgetc(out) != EOF) continue;
    assert_int_equal(pclose(out), 0);
    assert_non_null(
        strstr(text, "copies to the card? (a whole number) a whole number: tensors that come into being in VRAM? "));
}

static void launches_block_where_nothing_is_graded(void **state)
{
    (void)state;
    setenv("FERRY_LAUNCH_BLOCKING", "1", 1);
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    expect("run 24", 1, "24-which-line.c:15: cuda:0 could not do the work of this call"); /* as the error's fix says */
    expect("grade 24", 1, "24-which-line.c:20: Line 20 reports an error, and did not cause it");
    unsetenv("FERRY_LAUNCH_BLOCKING");
    unsetenv("CUDA_LAUNCH_BLOCKING");
    expect("run 24", 1, "24-which-line.c:20: CUDA error: device-side assert triggered");
}

static void a_report_shows_all_that_was_printed(void **state)
{
    (void)state;
    expect("grade 20", 1,
           "  | ferry: my/20-read-early.c:16: fy_add(first, second): data race: nothing makes this wait");
    expect("grade 24", 1, "and did not cause it");
}

static void a_solution_is_shown_after_passing_or_with_yes(void **state)
{
    (void)state;
    char *printed;
    expect("solution 3", 1, "you have not passed 03-round-trip yet");
    assert_int_equal(run_ferry("solution 3 --yes", &printed), 0);
    char *text = lesson_text("03-round-trip", "solution.c");
    assert_non_null(strstr(printed, text));
    free(printed);
    assert_true(copy_answer("03-round-trip", "solution.c"));
    expect("grade 3", 0, "Passed.");
    cJSON *json = json_of("solution 3 --json", 0);
    assert_string_equal(text_of(json, "text"), text);
    cJSON_Delete(json);
    free(text);
}

static void a_failure_shows_its_event_and_every_limit(void **state)
{
    (void)state;
    assert_true(copy_answer("03-round-trip", "starter.c"));
    expect("grade 3", 1, "  got       5 copies to the card\n  event 37  ");
    expect("grade 3", 1, " copy  h -> h  512 B  cpu -> cuda:0, staged");
    expect("grade 3", 1, "  copies back to the CPU              5          1\n");
    expect("grade 3", 1, "  bytes on the bus                 5120       1024\n");
    cJSON *json = json_of("grade 3 --json", 1);
    assert_non_null(strstr(text_of(json, "event"), "copy  h -> h"));
    cJSON_Delete(json);
    assert_true(copy_answer("03-round-trip", "solution.c"));
}

/* With an empty folder of one's own. */
static void without_files_check_all_is_fine(void **state)
{
    (void)state;
    char own[128], *before = strdup(getenv("FERRY_MY"));
    snprintf(own, sizeof own, "%s/empty", learner_folder);
    setenv("FERRY_MY", own, 1);
    expect("check-all", 0, "no file of a lesson is in ");
    cJSON *list = json_of("check-all --json", 0);
    assert_true(cJSON_IsArray(list) && cJSON_GetArraySize(list) == 0);
    cJSON_Delete(list);
    setenv("FERRY_MY", before, 1);
    free(before);
}

static void check_all_judges_the_files_that_are_there(void **state)
{
    (void)state;
    char *before = strdup(getenv("FERRY_MY")), own[128];
    snprintf(own, sizeof own, "%s/two", learner_folder);
    setenv("FERRY_MY", own, 1);
    write_own("00-start", "solution.c");
    write_own(ID, "solution.c");
    expect("check-all", 0, "\n2 of 2 files passed; 43 lessons have no file yet\n");
    write_own(ID, "starter.c");
    expect("check-all", 1, "\n1 of 2 files passed; 43 lessons have no file yet\n");
    for (int i = 0; i < 2; i++) {
        cJSON *list = json_of(i ? "check-all --json" : "grade --all --json", 1);
        assert_int_equal(cJSON_GetArraySize(list), 2);
        assert_true(cJSON_IsTrue(cJSON_GetObjectItem(cJSON_GetArrayItem(list, 0), "pass")));
        assert_string_equal(text_of(cJSON_GetArrayItem(list, 1), "lesson"), ID);
        cJSON_Delete(list);
    }
    setenv("FERRY_MY", before, 1);
    free(before);
}

static void a_refusal_is_json_when_asked(void **state)
{
    (void)state;
    cJSON *json = json_of("solution 6 --json", 1);
    assert_non_null(strstr(text_of(json, "error"), "you have not passed 06-page-locked yet"));
    cJSON_Delete(json);
    assert_true(write_answer("06-page-locked", "int mine;\n"));
    json = json_of("reset 6 --json", 1);
    assert_non_null(strstr(text_of(json, "error"), "add --yes"));
    assert_string_equal(text_of(json, "lesson"), "06-page-locked");
    cJSON_Delete(json);
}

static void check_all_grades_every_file(void **state)
{
    (void)state;
    assert_true(copy_answer("02-to-returns", "starter.c"));
    expect("check-all", 1, "failed     02-to-returns: ");
    expect("check-all", 1, "passed     03-round-trip\n");
    expect("check-all 1", 2, "one argument too many");
}

static void doctor_tries_what_lessons_need(void **state)
{
    (void)state;
    expect("doctor", 0, "ok       C compiler       builds and links");
    expect("doctor", 0, "ok       simulated card   runs the first example");
    setenv("CC", "/nowhere/cc", 1);
    expect("doctor", 1, "MISSING  C compiler");
    unsetenv("CC");
    cJSON *all = json_of("doctor --json", 0);
    assert_string_equal(text_of(cJSON_GetArrayItem(all, 0), "state"), "ok");
    cJSON_Delete(all);
}

/* Neither by right nor in a user namespace: as in most containers. */
static int doctor_without_namespaces(void)
{
    char *printed;
    if (geteuid() == 0 && prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) != 0) return 1;
    if (run_ferry("doctor", &printed) != 0) return 2;
    const char *says = strstr(printed, "without  class grading    not isolated: ");
    if (!says) return 3;
    return strstr(says, geteuid() ? "as you, they can read and change your files; "
                                  : "no namespace of processes, so what they start may stay; with network; ")
               ? 0
               : 4;
}

static void doctor_says_whether_a_class_is_isolated(void **state)
{
    (void)state;
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) _exit(doctor_without_namespaces());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    if (geteuid() == 0 && child_can_isolate() && child_can_unplug())
        expect("doctor", 0, "ok       class grading    isolated: ");
}

/* What bash completes: words, the last of which is begun; "''" is a word not begun. Sorted as the script gives it. */
static void expect_completed(const char *words, const char *last, const char *completed)
{
    char command[2048], text[8192] = "";
    int count = 0;
    for (const char *p = words; *p; p++) count += *p == ' ';
    snprintf(command, sizeof command,
             "bash -c 'source <(%s completion bash); COMP_WORDS=(%s %s\"%s\"); COMP_CWORD=%d; _ferry; "
             "echo \"${COMPREPLY[*]}\"'",
             ferry_command, ferry_command, words, last, count + 1);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    size_t n = fread(text, 1, sizeof text - 1, out);
    text[n] = '\0';
    assert_int_equal(pclose(out), 0);
    if (strncmp(text, completed, strlen(completed)) != 0)
        fail_msg("ferry %s'%s' completes to '%s', not '%s'", words, last, text, completed);
}

static void a_shell_completes_commands_and_lessons(void **state)
{
    (void)state;
    expect_completed("", "pre", "predict\n");
    expect_completed("grade ", "02", "02-to-returns\n");
    expect_completed("prove ", "02", "02-to-returns\n");
    expect_completed("prove ", "", "00-start 01-where-am-i ");
    expect_completed("handout tests ", "02", "02-to-returns\n");
    expect_completed("handout ", "READ", "README.md\n"); /* first the folder of a class */
    expect_completed("run 01 --trace ", "READ", "README.md\n");
    expect("completion tcsh", 2, "say for which shell");
    expect("completion zsh", 0, "bashcompinit");
    expect("completion fish", 0, "complete -c ferry");
    expect("completion fish", 0, "from run' -l trace\n");
    expect("completion fish", 0, "from predict run grade watch hint solution reset handout prove' ");
}

static void a_shell_completes_options(void **state)
{
    (void)state;
    expect_completed("run 01 ", "--", "--demo --json --trace --seconds --lessons\n");
    expect_completed("check-all ", "--j", "--json\n");
    expect_completed("export x.jsonl ", "--p", "--perfetto --png\n");
    expect_completed("prove ", "--", "--all --seconds --lessons\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_tells_parts_minutes_and_state),
        cmocka_unit_test(next_is_the_first_lesson_not_done),
        cmocka_unit_test(predictions_are_compared_with_the_run),
        cmocka_unit_test(no_prompt_for_an_answer_that_lacks),
        cmocka_unit_test(predictions_are_asked_for_on_the_terminal),
        cmocka_unit_test(launches_block_where_nothing_is_graded),
        cmocka_unit_test(a_report_shows_all_that_was_printed),
        cmocka_unit_test(a_solution_is_shown_after_passing_or_with_yes),
        cmocka_unit_test(a_failure_shows_its_event_and_every_limit),
        cmocka_unit_test(without_files_check_all_is_fine),
        cmocka_unit_test(check_all_judges_the_files_that_are_there),
        cmocka_unit_test(a_refusal_is_json_when_asked),
        cmocka_unit_test(check_all_grades_every_file),
        cmocka_unit_test(doctor_tries_what_lessons_need),
        cmocka_unit_test(doctor_says_whether_a_class_is_isolated),
        cmocka_unit_test(a_shell_completes_commands_and_lessons),
        cmocka_unit_test(a_shell_completes_options),
    };
    return cmocka_run_group_tests_name("loop", tests, make_learner_folder, remove_learner_folder);
}
