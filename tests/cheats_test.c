/* Programs that produce the right values without the card's work must fail, and honest unusual ones must pass. These
 * logs are handwritten; the lessons' wrong_*.c are real programs. Answers that include files other than the learner's
 * own are graded for real. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>

#include "right_run.h"
#include "learner_folder.h"

#define ID "01-where-am-i"

/* A correct run in which the host accessed `storage` before (at 0) or after the work (at 1). */
static void touched_run(handmade *h, int at, const char *kind, const char *via, int storage)
{
    hand_begin(h);
    hand_copy(h, 1, 2, "h2d", 24);
    if (!at) hand(h, "'kind':'%s','tensor':1,'storage':%d,'via':'%s','line':16", kind, storage, via);
    hand_op(h, "mul", "cuda:0", 2, 3);
    hand_op(h, "add", "cuda:0", 3, 4);
    hand_turns(h, 4);
    hand_copy(h, 4, 5, "d2h", 24);
    if (at) hand(h, "'kind':'%s','tensor':1,'storage':%d,'via':'%s','line':16", kind, storage, via);
    hand_answer(h, "h", 5, "cpu", NULL);
    hand(h, "'kind':'end','status':0");
}

static void a_pointer_into_the_answers_bytes_fails_at_its_line(void **state)
{
    (void)state;
    handmade h = {0};
    touched_run(&h, 1, "host_read", "data", 5);
    verdict v = judge_lines(&h);
    assert_int_equal(verdict_failure(&v)->line, 16);
    assert_fails(&h, "computed-by-ferry", "fy_data at line 16");
    touched_run(&h, 1, "host_write", "data", 5);
    assert_fails(&h, "computed-by-ferry", "fy_data at line 16");
    touched_run(&h, 0, "host_read", "data", 3);
    assert_fails(&h, "computed-by-ferry", "fy_data at line 16");
}

static void looks_and_pointers_elsewhere_pass(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *via;
        int storage;
    } fine[] = {
        {"host_read", "print", 5}, {"host_read", "item", 5}, {"host_read", "data", 77}, {"host_write", "given", 1}};
    for (size_t i = 0; i < 2 * sizeof fine / sizeof *fine; i++) {
        handmade h = {0};
        touched_run(&h, i % 2, fine[i / 2].kind, fine[i / 2].via, fine[i / 2].storage);
        verdict v = judge_lines(&h);
        if (!v.pass) fail_msg("%s: %s", verdict_failure(&v)->name, verdict_message(&v));
        hand_end(&h);
    }
}

static void a_pointer_taken_after_the_answer_passes(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    hand(&h, "'kind':'host_read','tensor':5,'storage':5,'via':'data','line':20");
    verdict v = judge_lines(&h);
    if (!v.pass) fail_msg("%s: %s", verdict_failure(&v)->name, verdict_message(&v));
    hand_end(&h);
}

static void a_trip_without_work_fails(void **state)
{
    (void)state;
    handmade h = {0};
    hand_begin(&h);
    hand_copy(&h, 1, 2, "h2d", 24);
    hand_copy(&h, 2, 5, "d2h", 24);
    hand_answer(&h, "h", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "computed-by-ferry", "h was not computed with fy_relu on the card");
}

static void too_little_work_fails_and_unrelated_work_does_not_count(void **state)
{
    (void)state;
    handmade h = {0};
    hand_begin(&h);
    hand_copy(&h, 1, 2, "h2d", 24);
    hand_op(&h, "relu", "cuda:0", 2, 4);
    for (int i = 0; i < 20; i++) hand_op(&h, "relu", "cuda:0", 2, 30 + i);
    hand_copy(&h, 4, 5, "d2h", 24);
    hand_answer(&h, "h", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "computed-by-ferry", "h was computed with 1 operation on the card; the lesson needs 15");
}

/* ---- graded files ---- */

static char *grade(const char *text)
{
    char *printed = NULL;
    assert_true(write_answer(ID, text));
    run_ferry("grade 1 --json", &printed);
    return printed;
}

static void assert_refused(const char *text, const char *word)
{
    char *printed = grade(text);
    if (!strstr(printed, "\"pass\":false") || !strstr(printed, word))
        fail_msg("'%s' wanted of %s in %s", word, text, printed);
    free(printed);
}

static void write_in(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/%s", learner_folder, folder, name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    assert_true(folder_make(path));
    *slash = '/';
    assert_true(file_write(path, text, strlen(text)));
}

static void link_in_my(const char *name, const char *to)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/my/%s", learner_folder, name);
    unlink(path);
    assert_int_equal(symlink(to, path), 0);
}

static void a_solution_that_is_read_in_does_not_pass(void **state)
{
    (void)state;
    char solution[PATH_MAX], text[PATH_MAX + 80];
    assert_non_null(realpath("lessons/" ID "/solution.c", solution));
    snprintf(text, sizeof text, "#include \"%s\"\n", solution);
    assert_refused(text, "solution.c, which belongs to the lesson");
    snprintf(text, sizeof text, "#define IN \"../../..%s\"\n#include IN\n", solution);
    assert_refused(text, "solution.c, which belongs to the lesson");
    link_in_my("mine.h", solution);
    assert_refused("#include \"mine.h\"\n", "\"line\":1");
    assert_refused("#include \"mine.h\"\n", "solution.c, which belongs to the lesson");
    static const char *const odd[] = {"a\tb.h", "c\\ d.h", "e f.h", "g#h.h", "$$i.h", "\\j.h"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        link_in_my(odd[i], solution);
        snprintf(text, sizeof text, "#include \"%s\"\n", odd[i]);
        assert_refused(text, "solution.c, which belongs to the lesson");
    }
    snprintf(text, sizeof text, "#pragma GCC system_header\n#include \"%s\"\n", solution);
    write_in("my", "deep.h", text);
    assert_refused("#include \"deep.h\"\n", "solution.c, which belongs to the lesson");
}

static void copy_in_mine(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "lessons/" ID "/%s", name);
    char *text = file_read(path, NULL);
    assert_non_null(text);
    write_in("mine/" ID, name, text);
    free(text);
}

static void a_link_to_the_solution_does_not_pass(void **state)
{
    (void)state;
    char solution[PATH_MAX], mine[PATH_MAX], *printed = NULL;
    assert_non_null(realpath("lessons/" ID "/solution.c", solution));
    link_in_my(ID ".c", solution);
    int status = run_ferry("grade 1", &printed);
    snprintf(mine, sizeof mine, "%s/my/" ID ".c", learner_folder);
    assert_int_equal(unlink(mine), 0); /* remove it first: a write to it would change the solution */
    assert_int_equal(status, 1);
    assert_non_null(strstr(printed, "solution.c, which belongs to the lesson"));
    free(printed);
}

/* A teacher's own lesson: the learner may be another user, who cannot link to Ferry's. */
static void a_hard_link_to_the_solution_does_not_pass(void **state)
{
    (void)state;
    char solution[PATH_MAX], linked[PATH_MAX], *printed;
    static const char *const files[] = {"lesson.json", "starter.c", "check.c", "solution.c", "demo.c", "README.md"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) copy_in_mine(files[i]);
    snprintf(solution, sizeof solution, "%s/mine/" ID "/solution.c", learner_folder);
    snprintf(linked, sizeof linked, "%s/my/hard.h", learner_folder);
    assert_int_equal(link(solution, linked), 0);
    write_in("my", ID ".c", "\n#include \"hard.h\"\n");
    snprintf(linked, sizeof linked, "grade 1 --json --lessons %s/mine", learner_folder);
    run_ferry(linked, &printed);
    if (!strstr(printed, "hard.h, which is a link to a file of the lesson") || !strstr(printed, "\"line\":2"))
        fail_msg("%s", printed);
    free(printed);
}

static void a_file_from_elsewhere_does_not_pass(void **state)
{
    (void)state;
    char *solution = file_read("lessons/" ID "/solution.c", NULL);
    write_in("elsewhere", "copy.c", solution);
    free(solution);
    assert_refused("#include \"../elsewhere/copy.c\"\n", "copy.c, which is outside my");
}

static void ferrys_inside_is_not_a_learners_to_read(void **state)
{
    (void)state;
    char inner[PATH_MAX], text[PATH_MAX + 80];
    assert_refused("#include <ferry.h>\n#include <trace/log_format.h>\nint main(void) { return 0; }\n",
                   "trace/log_format.h");
    assert_non_null(realpath("lib/base/lock.h", inner));
    snprintf(text, sizeof text, "#include <ferry.h>\n#include \"%s\"\nint main(void) { return 0; }\n", inner);
    assert_refused(text, "lock.h, which is inside Ferry");
    assert_refused(text, "\"line\":2");
}

static void headers_of_ferry_the_system_and_ones_own_are_fine(void **state)
{
    (void)state;
    size_t size;
    char *solution = file_read("lessons/" ID "/solution.c", &size), *text = NULL;
    assert_true(
        asprintf(
            &text,
            "#include <ferry.h>\n#include <math.h>\n#include <pthread.h>\n#include <stdint.h>\n#include <sys/stat.h>\n"
            "#include <ferry_math.h>\n#include \"parts/a name.h\"\n%s",
            solution) > 0);
    write_in("my", "parts/a name.h", "#include <ferry_stream.h>\n#define OWN 1\n");
    char *printed = grade(text);
    if (!strstr(printed, "\"pass\":true")) fail_msg("%s", printed);
    free(printed);
    free(text);
    free(solution);
}

/* ---- honest programs, and what they are told ---- */

static char *grade_third(const char *before, const char *after)
{
    char *text = NULL, *printed, path[PATH_MAX];
    assert_true(
        asprintf(&text,
                 "#include <ferry.h>\n#include <math.h>\nint main(void)\n{\n    fy_tensor *x = fy_given(\"x\"), *h;\n%s"
                 "    for (int i = 0; i < 5; i++) h = fy_relu(fy_add(fy_mul(h, 0.5), 1.0));\n    h = fy_cpu(h);\n%s"
                 "    fy_answer(\"h\", h);\n}\n",
                 before, after) > 0);
    assert_true(write_answer(LESSON, text));
    run_ferry("grade 3 --json", &printed);
    free(text);
    snprintf(path, sizeof path, "%s/my/" LESSON ".c", learner_folder);
    assert_int_equal(unlink(path), 0);
    return printed;
}

static void assert_third(const char *before, const char *after, const char *says)
{
    char *printed = grade_third(before, after);
    if (!strstr(printed, says)) fail_msg("'%s' wanted of '%s%s' in %s", says, before, after, printed);
    free(printed);
}

static void page_locked_memory_may_be_filled_for_the_bus(void **state)
{
    (void)state;
    assert_third("    h = fy_cuda(fy_pin_memory(x));\n", "", "\"pass\":true,\"message\":\"All checks");
    assert_third("    fy_tensor *box = fy_empty((fy_size(x, 0), fy_size(x, 1)), .pin_memory = true);\n"
                 "    fy_copy_(box, x);\n    fy_copy_(box, x);\n    h = fy_cuda(box);\n",
                 "", "\"pass\":true,\"message\":\"All checks");
    assert_third("    h = fy_cuda(x);\n",
                 "    fy_tensor *box = fy_empty((fy_size(x, 0), fy_size(x, 1)), .pin_memory = true);\n"
                 "    fy_copy_(box, h);\n    h = box;\n",
                 "\"pass\":true,\"message\":\"All checks");
}

/* Elements put elsewhere in CPU RAM are no arithmetic. */
static void what_only_moves_elements_may_run_on_the_cpu(void **state)
{
    (void)state;
    assert_third("    h = fy_cuda(fy_clone(x));\n", "", "\"pass\":true,\"message\":\"All checks");
    assert_third("    h = fy_cuda(fy_cat((fy_narrow(x, 0, 0, 1), fy_narrow(x, 0, 1, fy_size(x, 0) - 1)), 0));\n", "",
                 "\"pass\":true,\"message\":\"All checks");
    assert_third("    h = fy_cuda(fy_mul(x, 1.0));\n", "", "fy_mul at line 6 ran on cpu");
}

/* A fifth operation, in line 6, is over the limit of that lesson. */
static void assert_fifth(const char *operation, const char *says)
{
    char *text = NULL, *printed;
    assert_true(
        asprintf(&text,
                 "#include <ferry.h>\nint main(void)\n{\n    fy_tensor *x = fy_given(\"x\"), *g = fy_cuda(x), *h = "
                 "fy_empty((fy_size(x, 0), fy_size(x, 1)));\n    fy_mark(\"false\"), fy_add_(g, 1), fy_add_(g, 1), "
                 "fy_add_(g, 1);\n    %s;\n    (void)h;\n}\n",
                 operation) > 0);
    assert_true(write_answer("m1-in-place", text));
    run_ferry("grade m1 --json", &printed);
    if (!strstr(printed, says)) fail_msg("'%s' wanted of %s in %s", says, text, printed);
    free(text);
    free(printed);
}

static void a_copy_into_a_tensor_is_told_as_that_call(void **state)
{
    (void)state;
    char path[PATH_MAX];
    assert_fifth("fy_copy_(h, x)", "over it is fy_copy_ at line 6");
    assert_fifth("h = fy_clone(x)", "over it is fy_clone at line 6");
    assert_fifth("h = fy_pin_memory(x)", "over it is fy_pin_memory at line 6");
    snprintf(path, sizeof path, "%s/my/m1-in-place.c", learner_folder);
    assert_int_equal(unlink(path), 0);
}

/* Include folders from the environment can be any folder. */
static void a_folder_of_the_environment_is_not_the_systems(void **state)
{
    (void)state;
    char folder[PATH_MAX];
    write_in("elsewhere", "sol.h", "#define ODD 1\n");
    snprintf(folder, sizeof folder, "%s/elsewhere", learner_folder);
    setenv("CPATH", folder, 1);
    assert_refused("#include <ferry.h>\n#include <sol.h>\nint main(void) { return ODD; }\n",
                   "sol.h, which is outside my");
    unsetenv("CPATH");
}

/* System include folders are those that the compiler reports. */
static void headers_in_an_odd_place_of_the_systems_are_fine(void **state)
{
    (void)state;
    char cc[PATH_MAX];
    write_in("sys", "odd.h", "#define ODD 1\n");
    snprintf(cc, sizeof cc, "gcc -isystem %s/sys", learner_folder);
    setenv("CC", cc, 1);
    char *printed =
        grade("#include <ferry.h>\n#include <odd.h>\nint main(void) { fy_answer(\"y\", fy_ones((ODD))); }\n");
    unsetenv("CC");
    if (strstr(printed, "outside my") || !strstr(printed, "\"check\":\"answered\"")) fail_msg("%s", printed);
    free(printed);
}

static void a_written_progress_file_passes_nothing(void **state)
{
    (void)state;
    char *printed;
    write_in("my", "progress.json", "{\"" ID "\":{\"done\":true,\"attempts\":1,\"hints\":0}}");
    assert_true(copy_answer(ID, "starter.c"));
    assert_int_equal(run_ferry("check-all", &printed), 1);
    assert_non_null(strstr(printed, "failed     " ID));
    assert_non_null(strstr(printed, "\n0 of 1 file passed; "));
    free(printed);
    assert_true(copy_answer(ID, "solution.c"));
    assert_int_equal(run_ferry("check-all", &printed), 0);
    assert_non_null(strstr(printed, "passed     " ID));
    assert_non_null(strstr(printed, "\n1 of 1 file passed; "));
    free(printed);
    assert_int_equal(run_ferry("list", &printed), 0);
    assert_non_null(strstr(printed, "check-all"));
    free(printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pointer_into_the_answers_bytes_fails_at_its_line),
        cmocka_unit_test(looks_and_pointers_elsewhere_pass),
        cmocka_unit_test(a_pointer_taken_after_the_answer_passes),
        cmocka_unit_test(a_trip_without_work_fails),
        cmocka_unit_test(too_little_work_fails_and_unrelated_work_does_not_count),
        cmocka_unit_test(a_solution_that_is_read_in_does_not_pass),
        cmocka_unit_test(a_link_to_the_solution_does_not_pass),
        cmocka_unit_test(a_hard_link_to_the_solution_does_not_pass),
        cmocka_unit_test(a_file_from_elsewhere_does_not_pass),
        cmocka_unit_test(ferrys_inside_is_not_a_learners_to_read),
        cmocka_unit_test(headers_of_ferry_the_system_and_ones_own_are_fine),
        cmocka_unit_test(page_locked_memory_may_be_filled_for_the_bus),
        cmocka_unit_test(what_only_moves_elements_may_run_on_the_cpu),
        cmocka_unit_test(a_copy_into_a_tensor_is_told_as_that_call),
        cmocka_unit_test(a_folder_of_the_environment_is_not_the_systems),
        cmocka_unit_test(headers_in_an_odd_place_of_the_systems_are_fine),
        cmocka_unit_test(a_written_progress_file_passes_nothing),
    };
    return cmocka_run_group_tests_name("cheats", tests, make_learner_folder, remove_learner_folder);
}
