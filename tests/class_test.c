/* class_test.c: grading a class: points, rows, resumption, shards, seeds of students, protections, JUnit. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/stat.h>

#include "class_rows.h"
#include "learner_folder.h"
#include "student_seed.h"

#define ONE "01-where-am-i"
#define TWO "02-to-returns"

static char folder[PATH_ROOM]; /* of the class */

/* DIR/STUDENT/ID.c: a file of the lesson, or this text. */
static void hand_in(const char *student, const char *id, const char *text)
{
    char path[PATH_ROOM], from[PATH_ROOM];
    size_t size = 0;
    snprintf(path, sizeof path, "%.2000s/%s", folder, student);
    assert_true(folder_make(path));
    snprintf(path, sizeof path, "%.2000s/%s/%s.c", folder, student, id);
    snprintf(from, sizeof from, "lessons/%s/%.200s", id, text);
    char *file = file_read(from, &size);
    assert_true(file_write(path, file ? file : text, file ? size : strlen(text)));
    free(file);
}

static void new_class(const char *name)
{
    snprintf(folder, sizeof folder, "%s/%s", learner_folder, name);
    assert_true(folder_make(folder));
}

static void expect(const char *arguments, int status, const char *part)
{
    char command[PATH_ROOM * 2], *printed;
    snprintf(command, sizeof command, "grade-class %s %s", folder, arguments);
    int got = run_ferry(command, &printed);
    if (got != status || !strstr(printed, part))
        fail_msg("ferry %s: status %d (wanted %d), '%s' wanted in:\n%s", command, got, status, part, printed);
    free(printed);
}

static char *table(const char *name)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", learner_folder, name);
    char *text = file_read(path, NULL);
    assert_non_null(text);
    return text;
}

static void a_class_is_graded_into_a_table(void **state)
{
    (void)state;
    new_class("first");
    hand_in("ada", ONE, "solution.c");
    hand_in("bob", ONE, "wrong_on_cpu.c");
    hand_in("cyd", ONE, "int main(");
    hand_in("dan, \"d\"", ONE, "int main(void) { for (;;) continue; }");
    hand_in("eve", ONE, "#include <stdlib.h>\nint main(void) { abort(); }");
    hand_in("fay", ONE, "solution.c");
    hand_in("fay", TWO, "wrong_twice.c");
    hand_in("gus", TWO, "wrong_twice.c");
    char out[PATH_ROOM + 64];
    snprintf(out, sizeof out, "--csv %s/first.csv --junit %s/first.xml --seconds 2 --jobs 3", learner_folder,
             learner_folder);
    expect(out, 0, "7 students, 14 submissions graded, 2 passed");
    char *rows = table("first.csv");
    assert_non_null(strstr(rows, "\nada," ONE ",total,9,,9,passed\n"));
    assert_non_null(strstr(rows, "\nbob," ONE ",ran-on-the-card,0,19,1,\"mat1 was never copied to the card: "));
    assert_non_null(strstr(rows, "\ncyd," ONE ",ran,0,,0,"));
    assert_non_null(strstr(rows, "\n\"dan, \"\"d\"\"\"," ONE ",ran,0,,0,the program was still running after 2 s"));
    assert_non_null(strstr(rows, "\neve," ONE ",ran,0,,0,the program aborted"));
    assert_non_null(strstr(rows, "\ngus," ONE ",submitted,0,,0,no file was handed in\n"));
    assert_true(strstr(rows, "\nada,") < strstr(rows, "\nbob,")); /* sorted, whoever was ready first */
    free(rows);
    expect(out, 0, "     2  " TWO " copies-in-budget\n");
    expect(out, 0, "  " TWO ": fay, gus\n");
    char *xml = table("first.xml");
    assert_non_null(strstr(xml, "<testsuite name=\"dan, &quot;d&quot;/" ONE "\" tests=\"2\" failures=\"2\">"));
    assert_non_null(strstr(xml, "<testcase classname=\"" ONE "\" name=\"right-numbers\"/>"));
    free(xml);
}

static void points_come_from_one_file(void **state)
{
    (void)state;
    new_class("worth");
    hand_in("ada", ONE, "wrong_on_cpu.c");
    char path[PATH_ROOM], out[PATH_ROOM * 2 + 64];
    snprintf(path, sizeof path, "%s/points.json", learner_folder);
    const char text[] = "{\"" ONE "\": {\"right-numbers\": 2.5, \"ran-on-the-card\": 4}}";
    assert_true(file_write(path, text, sizeof text - 1));
    snprintf(out, sizeof out, "--csv %s/worth.csv --points %s", learner_folder, path);
    expect(out, 0, "1 students");
    char *rows = table("worth.csv");
    assert_non_null(strstr(rows, ONE ",right-numbers,2.5,"));
    assert_non_null(strstr(rows, ONE ",total,2.5,,6.5,failed\n"));
    free(rows);
    assert_true(file_write(path, "{\"" ONE "\": {\"answered\": \"all\"}}", 38));
    expect(out, 1, "\"answered\" must be");
    assert_true(file_write(path, "[]", 2));
    expect(out, 1, "is not a JSON object of lessons");
}

static void what_was_graded_is_kept_and_the_rest_goes_on(void **state)
{
    (void)state;
    new_class("again");
    hand_in("ada", ONE, "solution.c");
    hand_in("bob", ONE, "solution.c");
    char path[PATH_ROOM], out[PATH_ROOM + 64];
    snprintf(path, sizeof path, "%s/again.csv", learner_folder);
    const char left[] = "student,lesson,check,points,event,of,message\nada," ONE ",total,77,,99,by hand\nbob," ONE
                        ",answered,1,,1,\nbob," ONE ",right-nu";
    assert_true(file_write(path, left, sizeof left - 1));
    snprintf(out, sizeof out, "--csv %s", path);
    expect(out, 0, "again.csv has results already");
    char *rows = table("again.csv");
    assert_non_null(strstr(rows, "\nada," ONE ",total,77,,99,by hand\nbob," ONE ",same-device,1,,1,\n"));
    assert_non_null(strstr(rows, "\nbob," ONE ",total,9,,9,passed\n"));
    free(rows);
    assert_true(file_write(path, "name,mark\nada,3\n", 16));
    expect(out, 1, "record 1 is not of a class");
    rows = table("again.csv");
    assert_string_equal(rows, "name,mark\nada,3\n"); /* untouched */
    free(rows);
}

static void a_killed_run_goes_on_where_it_stopped(void **state)
{
    (void)state;
    new_class("killed");
    char student[16], command[PATH_ROOM * 3], path[PATH_ROOM], err[256];
    for (int i = 0; i < 12; i++) {
        snprintf(student, sizeof student, "s%02d", i);
        hand_in(student, ONE, "solution.c");
    }
    snprintf(path, sizeof path, "%s/killed.csv", learner_folder);
    snprintf(command, sizeof command, "exec '%s' grade-class %s --csv %s --jobs 2 >/dev/null 2>&1", ferry_command,
             folder, path);
    pid_t pid = fork();
    if (pid == 0) execl("/bin/sh", "sh", "-c", command, NULL);
    struct stat st = {0};
    for (int i = 0; i < 6000 && (stat(path, &st) != 0 || st.st_size < 2000); i++) usleep(10000);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    char out[PATH_ROOM + 64];
    snprintf(out, sizeof out, "--csv %s", path);
    expect(out, 0, "12 students, 12 submissions graded, 12 passed");
    class_rows rows;
    assert_true(class_rows_read(&rows, path, err, sizeof err));
    assert_int_equal(rows.count, 12 * 10);
    class_rows_free(&rows);
}

static void shards_join_into_the_whole_table(void **state)
{
    (void)state;
    new_class("shards");
    hand_in("ada", ONE, "solution.c");
    hand_in("bob", ONE, "solution.c");
    hand_in("cyd", ONE, "starter.c");
    char out[PATH_ROOM + 64], command[PATH_ROOM * 2], joined[PATH_ROOM], whole[PATH_ROOM], err[256];
    for (int i = 1; i <= 2; i++) {
        snprintf(out, sizeof out, "--shard %d/2 --csv %s/shard%d.csv", i, learner_folder, i);
        expect(out, 0, i == 1 ? "2 submissions graded" : "1 submissions graded");
    }
    snprintf(whole, sizeof whole, "%s/whole.csv", learner_folder);
    snprintf(joined, sizeof joined, "%s/joined.csv", learner_folder);
    snprintf(command, sizeof command, "cat %s/shard1.csv %s/shard2.csv >%s", learner_folder, learner_folder, joined);
    assert_int_equal(system(command), 0);
    class_rows rows;
    assert_true(class_rows_read(&rows, joined, err, sizeof err));
    assert_true(class_rows_write(&rows, joined));
    class_rows_free(&rows);
    snprintf(out, sizeof out, "--csv %s", whole);
    expect(out, 0, "3 submissions graded");
    char *a = table("whole.csv"), *b = table("joined.csv");
    assert_string_equal(a, b);
    free(a), free(b);
    expect("--shard 3/2", 2, "--shard '3/2' must be like 2/8");
    expect("--jobs 0", 2, "invalid value");
}

static void seeds_are_each_students_own(void **state)
{
    (void)state;
    class_secret open = {{0, 0}}, closed;
    char path[PATH_ROOM], err[PATH_ROOM + 256], out[PATH_ROOM * 2];
    snprintf(path, sizeof path, "%s/secret", learner_folder);
    assert_true(file_write(path, "a secret of the teacher", 23));
    assert_true(class_secret_open(&closed, path, err, sizeof err));
    uint64_t ada = student_seed(&closed, "ada", ONE, 1);
    assert_true(ada > 0 && ada < UINT64_C(1) << 53);
    assert_true(ada == student_seed(&closed, "ada", ONE, 1));
    assert_true(ada != student_seed(&closed, "bob", ONE, 1));
    assert_true(ada != student_seed(&closed, "ada", TWO, 1));
    assert_true(ada != student_seed(&closed, "ada", ONE, 2));
    assert_true(ada != student_seed(&open, "ada", ONE, 1));
    assert_true(file_write(path, "short", 5));
    assert_false(class_secret_open(&closed, path, err, sizeof err));
    assert_non_null(strstr(err, "has 5 bytes; make one that cannot be guessed"));
    /* Numbers read off a run with the seed that everybody sees are wrong with one's own. */
    new_class("own");
    hand_in("ada", ONE, "solution.c");
    snprintf(out, sizeof out, "--csv %s/secret.csv --secret %s", learner_folder, path);
    expect(out, 1, "has 5 bytes");
    assert_true(file_write(path, "a secret of the teacher", 23));
    expect(out, 0, "1 passed");
}

/* Computed with another implementation, which gives the published a129ca6149be45e5 for its key and message. */
static void siphash_is_the_published_one(void **state)
{
    (void)state;
    const class_secret none = {{0, 0}};
    assert_true(student_seed(&none, "ada", "x", 1) == UINT64_C(0xd0305ce099219));
    assert_true(student_seed(&none, "ada", "round-tri", 1) == UINT64_C(0x962bec48bad07));
}

static void submissions_run_as_another_user_where_possible(void **state)
{
    (void)state;
    new_class("user");
    hand_in("ada", ONE,
            "#include <ferry.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n"
            "    FILE *f = fopen(\"/etc/shadow\", \"r\");\n"
            "    fy_print(fy_ones((1)));\n    return f ? 3 : 4;\n}\n");
    char out[PATH_ROOM + 64];
    snprintf(out, sizeof out, "--csv %s/user.csv", learner_folder);
    bool root = geteuid() == 0;
    expect(out, 0, root ? "it runs as another user (nobody), who cannot gain rights" : "it runs as you: only root");
    char *rows = table("user.csv");
    assert_non_null(strstr(rows, "the program ended with exit status 4"));
    free(rows);
}

static void what_is_no_class_is_refused(void **state)
{
    (void)state;
    char *printed;
    assert_int_equal(run_ferry("grade-class", &printed), 2);
    free(printed);
    new_class("empty");
    expect("", 1, "no submission in ");
    snprintf(folder, sizeof folder, "%s/nowhere", learner_folder);
    expect("", 1, "cannot read ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_is_graded_into_a_table),
        cmocka_unit_test(points_come_from_one_file),
        cmocka_unit_test(what_was_graded_is_kept_and_the_rest_goes_on),
        cmocka_unit_test(a_killed_run_goes_on_where_it_stopped),
        cmocka_unit_test(shards_join_into_the_whole_table),
        cmocka_unit_test(seeds_are_each_students_own),
        cmocka_unit_test(siphash_is_the_published_one),
        cmocka_unit_test(submissions_run_as_another_user_where_possible),
        cmocka_unit_test(what_is_no_class_is_refused),
    };
    return cmocka_run_group_tests_name("class", tests, make_learner_folder, remove_learner_folder);
}
