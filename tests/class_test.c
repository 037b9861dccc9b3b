/* class_test.c: grading a class: points, rows, resumption, shards, seeds of students, protections, JUnit. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alike.h"
#include "class_folder.h"
#include "class_lock.h"
#include "class_rows.h"
#include "student_seed.h"

/* Is there a total with these points, this total and this end? Its event is the number of what was graded. */
static bool has_total(const char *rows, const char *student, const char *id, const char *points, const char *of_end)
{
    char begin[128], number[16], end[64];
    snprintf(begin, sizeof begin, "\n%s,%s,total,%s,", student, id, points);
    const char *row = strstr(rows, begin);
    if (!row || sscanf(row + strlen(begin), "%9[0-9],%63[^\n]", number, end) != 2) return false;
    return !strcmp(end, of_end);
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
    assert_true(has_total(rows, "ada", ONE, "9", "9,passed"));
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
    assert_true(has_total(rows, "ada", ONE, "2.5", "6.5,failed"));
    free(rows);
    assert_true(file_write(path, "{\"" ONE "\": {\"answered\": \"all\"}}", 38));
    expect(out, 1, "\"answered\" must be");
    assert_true(file_write(path, "[]", 2));
    expect(out, 1, "is not a JSON object of lessons");
    static const char wrong_check[] = "{\"" ONE "\": {\"right-number\": 1}}", wrong_lesson[] = "{\"01-where\": {}}";
    assert_true(file_write(path, wrong_check, sizeof wrong_check - 1));
    expect(out, 1, "points.json: " ONE " has no check \"right-number\"; it has same-device, answered, right-numbers");
    assert_true(file_write(path, wrong_lesson, sizeof wrong_lesson - 1));
    expect(out, 1, "points.json: there is no lesson \"01-where\"");
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
    assert_true(has_total(rows, "bob", ONE, "9", "9,passed"));
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

/* Begins to grade, and ends that by this signal when a line of the student's program was noted `times` times. */
static void kill_while(const char *line, int times, const char *csv, int signal)
{
    char name[PATH_ROOM];
    int seen = 0;
    snprintf(name, sizeof name, "%.3000s.lock", csv);
    pid_t pid = start_class(learner_folder, csv);
    while (seen < times && waitpid(pid, NULL, WNOHANG) == 0) {
        char *text = file_read(name, NULL);
        seen = 0;
        for (const char *at = text; at && (at = strstr(at, line)); at++) seen++;
        free(text);
        usleep(10000);
    }
    assert_int_equal(seen, times);
    assert_int_equal(kill(pid, signal), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    int fd = open(name, O_RDWR);
    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0); /* its workers have ended, too */
    close(fd);
}

/* Whether by SIGKILL or by a signal that it catches. The first time it may have been the teacher. */
static void who_kills_the_grader_is_tried_twice(void **state)
{
    (void)state;
    new_class("killer");
    hand_in("ada", ONE, "solution.c");
    hand_in("bob", ONE, "int main(void) { for (;;) continue; }");
    hand_in("cyd", ONE, "solution.c");
    char csv[PATH_ROOM], out[PATH_ROOM + 64];
    snprintf(csv, sizeof csv, "%s/killer.csv", learner_folder);
    snprintf(out, sizeof out, "--csv %s", csv);
    assert_int_equal(chmod(learner_folder, 0711), 0);
    kill_while("+bob\t", 1, csv, SIGKILL);
    kill_while("+bob\t", 2, csv, SIGTERM);
    char *rows = table("killer.csv");
    assert_true(has_total(rows, "cyd", ONE, "9", "9,passed")); /* the others came before */
    free(rows);
    expect(out, 0, "3 submissions graded, 2 passed");
    rows = table("killer.csv");
    assert_non_null(strstr(rows, "\nbob," ONE ",ran,0,,0,the grader was killed while it ran: grade it by hand\n"));
    free(rows);
    snprintf(out, sizeof out, "%.3000s.lock", csv);
    assert_int_not_equal(access(out, F_OK), 0);

    snprintf(csv, sizeof csv, "%s/once.csv", learner_folder);
    snprintf(out, sizeof out, "--csv %s", csv);
    kill_while("+bob\t", 1, csv, SIGKILL);
    hand_in("bob", ONE, "solution.c");
    expect(out, 0, "begun when an earlier run was killed: graded last, one at a time");
    rows = table("once.csv");
    assert_true(has_total(rows, "bob", ONE, "9", "9,passed"));
    free(rows);
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
    char *printed;
    snprintf(command, sizeof command, "join-class %s/shard1.csv %s/./shard1.csv", learner_folder, learner_folder);
    assert_int_equal(run_ferry(command, &printed), 1);
    assert_non_null(strstr(printed, "shard1.csv is one of the tables to join, and would be lost"));
    free(printed);
    expect("--shard 3/2", 2, "--shard '3/2' must be like 2/8");
    expect("--jobs 0", 2, "invalid value");
}

static void a_join_tells_what_is_in_no_table(void **state)
{
    (void)state;
    char path[PATH_ROOM], command[PATH_ROOM * 2], *printed;
    static const char part[] = "student,lesson,check,points,event,of,message\nada," ONE ",total,1,,9,failed\nada," TWO
                               ",total,1,,9,failed\nbob," TWO ",total,1,,9,failed\n";
    snprintf(path, sizeof path, "%s/gap.csv", learner_folder);
    assert_true(file_write(path, part, sizeof part - 1));
    snprintf(command, sizeof command, "join-class %s/gaps.csv %s", learner_folder, path);
    assert_int_equal(run_ferry(command, &printed), 0);
    assert_non_null(strstr(printed, "1 of the 4 submissions of 2 students for 2 lessons are in none of these tables"));
    free(printed);
}

static void write_secret(const char *path, const char *text)
{
    assert_true(file_write(path, text, strlen(text)));
    assert_int_equal(chmod(path, 0600), 0);
}

static void seeds_are_each_students_own(void **state)
{
    (void)state;
    class_secret open = {{0, 0}}, closed;
    char path[PATH_ROOM], err[PATH_ROOM + 256], out[PATH_ROOM * 2];
    snprintf(path, sizeof path, "%s/secret", learner_folder);
    write_secret(path, "a secret of the teacher");
    assert_true(class_secret_open(&closed, path, err, sizeof err));
    uint64_t ada = student_seed(&closed, "ada", ONE, 1);
    assert_true(ada > 0 && ada < UINT64_C(1) << 53);
    assert_true(ada == student_seed(&closed, "ada", ONE, 1));
    assert_true(ada != student_seed(&closed, "bob", ONE, 1));
    assert_true(ada != student_seed(&closed, "ada", TWO, 1));
    assert_true(ada != student_seed(&closed, "ada", ONE, 2));
    assert_true(ada != student_seed(&open, "ada", ONE, 1));
    write_secret(path, "short");
    assert_false(class_secret_open(&closed, path, err, sizeof err));
    assert_non_null(strstr(err, "has 5 bytes; make one that cannot be guessed"));
    /* Numbers read off a run with the seed that everybody sees are wrong with one's own. */
    new_class("own");
    hand_in("ada", ONE, "solution.c");
    snprintf(out, sizeof out, "--csv %s/secret.csv --secret %s", learner_folder, path);
    expect(out, 1, "has 5 bytes");
    write_secret(path, "a secret of the teacher");
    expect(out, 0, "1 passed");
    assert_int_equal(chmod(path, 0644), 0); /* root's submissions run as other users, who could read it */
    if (geteuid() == 0) expect(out, 1, "can be read by every program that is graded: chmod 600 ");
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
    expect(out, 0, root ? "it runs as a user of its own" : "it runs as you: only root");
    char *rows = table("user.csv");
    assert_non_null(strstr(rows, "the program ended with exit status 4"));
    free(rows);
}

/* It signals every process that it may, for as long as the other one runs. */
static void submissions_cannot_reach_each_other(void **state)
{
    (void)state;
    if (geteuid() != 0) skip(); /* they run as the caller */
    new_class("reach");
    hand_in(
        "ada", ONE,
        "#include <signal.h>\n#include <unistd.h>\nint main(void)\n{\n    if (!getuid()) return 8; /* not as root */\n"
        "    for (int i = 0; i < 20; i++) {\n        kill(-1, SIGKILL);\n        usleep(100000);\n    }\n    "
        "return 7;\n}\n");
    char *solution = file_read("lessons/" ONE "/solution.c", NULL), *body = strstr(solution, "    fy_tensor"),
         late[8192];
    snprintf(late, sizeof late, "#include <unistd.h>\n%.*s    sleep(1);\n%s", (int)(body - solution), solution, body);
    hand_in("bob", ONE, late);
    free(solution);
    char out[PATH_ROOM + 64];
    snprintf(out, sizeof out, "--csv %s/reach.csv --jobs 2", learner_folder);
    expect(out, 0, "2 submissions graded, 1 passed");
}

/* What the machine did is no result: nobody gets a 0 for it, and the next run grades the rest. */
static void a_failure_of_the_machine_is_no_result(void **state)
{
    (void)state;
    new_class("machine");
    hand_in("ada", ONE, "solution.c");
    hand_in("bob", ONE, "int main(");
    char out[PATH_ROOM + 64];
    snprintf(out, sizeof out, "--csv %s/machine.csv", learner_folder);
    setenv("CC", "no-such-compiler", 1);
    expect(out, 1, "2 submissions are not graded, as the machine failed: ");
    unsetenv("CC");
    char *rows = table("machine.csv");
    assert_string_equal(rows, class_header);
    free(rows);
    expect(out, 0, "2 submissions graded, 1 passed");
}

static void a_linked_folder_is_not_read(void **state)
{
    (void)state;
    new_class("linked");
    hand_in("bob", ONE, "solution.c");
    hand_in("ada", TWO, "solution.c");
    char path[PATH_ROOM], out[PATH_ROOM + 64];
    snprintf(path, sizeof path, "%.2000s/ada/my", folder);
    assert_int_equal(symlink("../bob", path), 0);
    snprintf(out, sizeof out, "--csv %s/linked.csv", learner_folder);
    expect(out, 0, "4 submissions graded, 2 passed");
    char *rows = table("linked.csv");
    assert_non_null(strstr(rows, "\nada," ONE ",submitted,0,,0,no file was handed in\n"));
    free(rows);
}

static void a_huge_file_is_refused_unread(void **state)
{
    (void)state;
    new_class("huge");
    hand_in("ada", ONE, "solution.c");
    hand_in("bob", ONE, "solution.c");
    char path[PATH_ROOM], out[PATH_ROOM + 64];
    snprintf(path, sizeof path, "%.2000s/ada/" ONE ".c", folder);
    assert_int_equal(truncate(path, (off_t)6 << 30), 0);
    snprintf(out, sizeof out, "--csv %s/huge.csv", learner_folder);
    expect(out, 0, "2 submissions graded, 1 passed");
    char *rows = table("huge.csv");
    assert_non_null(strstr(rows, "the file has 6442450944 bytes, and at most 1048576 are read"));
    free(rows);
}

static void programs_are_alike_whatever_their_names(void **state)
{
    (void)state;
    char *a = alike_form(
             "int main(void)\n{\n    fy_tensor *sum = fy_add(x, y); // mine\n    fy_print(sum, .device = 1);\n}\n"),
         *b = alike_form("int main(void) { fy_tensor *s=fy_add(x,y); /* \"not mine\" */ fy_print(s, .device = 1); }"),
         *c = alike_form("int main(void) { fy_tensor *s=fy_add(y,x); fy_print(s, .device = 1); }"),
         *d = alike_form("int main(void) { fy_tensor *s=fy_add(x,y); fy_print(s, .dtype = 1); }");
    assert_string_equal(a, b);
    assert_string_equal(b, c); /* the order in which names come is all that is left of them */
    assert_string_not_equal(b, d);
    free(a), free(b), free(c), free(d);

    static const char plain[] =
        "#include <ferry.h>\nint main(void) { if (x) fy_print(x); for (;;) { fy_add(x, y); y = x; } "
        "fy_tensor *m[2][1] = {{x}, {y}}; }";
    static const char *const padded[] = {"int unused;;", "if (x) { fy_print(x); };",
                                         "for (;;) {; long n = 5; fy_add(x, y); y = x;;",
                                         "{ fy_tensor *m[2][1] = {{x}, {y}}; } }"};
    char much[512];
    snprintf(much, sizeof much, "#include <ferry.h>\n%s int main(void) { {} %s %s } %s", padded[0], padded[1],
             padded[2], padded[3]);
    a = alike_form(plain), b = alike_form(much), c = alike_form("int f(void) { if (x) { if (y) g(); } else h(); }"),
    d = alike_form("int f(void) { if (x) if (y) g(); else h(); }");
    assert_string_equal(a, b);
    assert_string_not_equal(c, d);
    free(a), free(b), free(c), free(d);
    a = alike_form("int main(void) { for (;;) x(); }"), b = alike_form("int main(void) { for (;) x(); }"),
    c = alike_form("int main(void) { int used; f(used); { a(); b(); } }"),
    d = alike_form("int main(void) { f(used); { a(); } b(); }");
    assert_string_not_equal(a, b);
    assert_string_not_equal(c, d);
    free(a), free(b), free(c), free(d);

    new_class("alike");
    hand_in("ada", TWO, "wrong_twice.c");
    char *copy = file_read("lessons/" TWO "/wrong_twice.c", NULL), *body = strstr(copy, "#include"), text[4096];
    snprintf(text, sizeof text, "// all my own work\n%s", body);
    hand_in("bob", TWO, text);
    free(copy);
    hand_in("cyd", TWO, "solution.c");
    hand_in("dan", TWO, "starter.c");
    hand_in("eve", TWO, "starter.c");
    hand_in("fay", "2-To-returns", "int x;");
    char out[PATH_ROOM + 64], *printed, command[PATH_ROOM * 3];
    snprintf(out, sizeof out, "--csv %s/alike.csv", learner_folder);
    snprintf(command, sizeof command, "grade-class %s %s", folder, out);
    assert_int_equal(run_ferry(command, &printed), 0);
    assert_non_null(strstr(printed, "\n  " TWO ": ada, bob\n"));
    assert_non_null(strstr(printed, "\n  " TWO ", as the solution: cyd\n"));
    assert_null(strstr(printed, "dan, eve"));
    assert_non_null(strstr(printed, "\n  fay/2-To-returns.c (meant: " TWO ".c?)\n"));
    free(printed);
}

static void a_starter_that_nobody_touched_earns_nothing(void **state)
{
    (void)state;
    new_class("untouched");
    char *starter = file_read("lessons/" TWO "/starter.c", NULL), *body = strstr(starter, "#include"), text[4096];
    char *unused = strstr(body, "    fy_to(mat2, \"cuda\");\n");
    assert_non_null(unused);
    snprintf(text, sizeof text, "// I tried\n%s", body);
    hand_in("ada", TWO, text);
    snprintf(text, sizeof text, "%.*s%s", (int)(unused - body), body, strchr(unused, '\n') + 1);
    hand_in("bob", TWO, text);
    free(starter);
    char out[PATH_ROOM + 64];
    snprintf(out, sizeof out, "--csv %s/untouched.csv", learner_folder);
    expect(out, 0, "2 submissions graded, 0 passed");
    char *rows = table("untouched.csv");
    assert_non_null(strstr(rows, "ada," TWO ",changed,0,,0,\"the program is the starter, comments and names"));
    assert_non_null(strstr(rows, "ada," TWO ",right-numbers,0,"));
    assert_true(has_total(rows, "ada", TWO, "0", "10,failed"));
    assert_null(strstr(rows, "bob," TWO ",changed"));
    assert_non_null(strstr(rows, "bob," TWO ",right-numbers,1,"));
    free(rows);
}

static void a_table_has_one_writer(void **state)
{
    (void)state;
    new_class("twice");
    hand_in("ada", ONE, "solution.c");
    char path[PATH_ROOM], out[PATH_ROOM + 64], err[PATH_ROOM];
    snprintf(path, sizeof path, "%s/twice.csv", learner_folder);
    snprintf(out, sizeof out, "--csv %s", path);
    int lock = class_lock(path, err, sizeof err);
    assert_true(lock >= 0);
    expect(out, 1, "twice.csv is being written by another ferry grade-class");
    class_unlock(lock, path, false);
    expect(out, 0, "1 passed");
    snprintf(err, sizeof err, "%.3000s.lock", path);
    assert_int_not_equal(access(err, F_OK), 0);
}

static void a_table_damaged_by_hand_is_refused(void **state)
{
    (void)state;
    new_class("damaged");
    hand_in("ada", ONE, "solution.c");
    char path[PATH_ROOM], out[PATH_ROOM + 64];
    snprintf(path, sizeof path, "%s/damaged.csv", learner_folder);
    snprintf(out, sizeof out, "--csv %s", path);
    const char open[] = "student,lesson,check,points,event,of,message\nada," ONE ",answered,1,,1,\"half\nada," ONE
                        ",total,5,,9,by hand\n";
    assert_true(file_write(path, open, sizeof open - 1));
    expect(out, 1, "damaged.csv: record 2 is not of a class, or a quote in it does not end");
    char *rows = table("damaged.csv");
    assert_string_equal(rows, open);
    free(rows);
}

/* kill and a closed terminal end the workers, and leave nothing in the folder for temporary files. */
static void ending_a_class_ends_its_workers(void **state)
{
    (void)state;
    new_class("ended");
    for (char name[] = "a"; *name < 'e'; ++*name) hand_in(name, ONE, "int main(void) { for (;;) continue; }");
    char scratch[PATH_ROOM], csv[PATH_ROOM];
    snprintf(scratch, sizeof scratch, "%s/scratch", learner_folder);
    snprintf(csv, sizeof csv, "%s/ended.csv", learner_folder);
    assert_true(folder_make(scratch));
    assert_int_equal(chmod(learner_folder, 0711), 0); /* the submissions' users pass through */
    pid_t pid = start_class(scratch, csv);
    int status = 0;
    while (entries_of(scratch) == 0 && waitpid(pid, &status, WNOHANG) == 0) usleep(10000);
    usleep(300000); /* a program runs */
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_int_equal(entries_of(scratch), 0);
    char *rows = table("ended.csv");
    assert_string_equal(rows, class_header);
    free(rows);
    usleep(300000);
    rows = table("ended.csv"); /* no worker goes on */
    assert_string_equal(rows, class_header);
    free(rows);
}

static void a_table_that_is_stale_says_so(void **state)
{
    (void)state;
    new_class("stale");
    hand_in("ada", ONE, "solution.c");
    hand_in("bob", ONE, "int main(");
    hand_in("cyd", TWO, "int main(");
    char out[PATH_ROOM + 64], with[PATH_ROOM * 3], path[PATH_ROOM], *printed, command[PATH_ROOM * 3];
    snprintf(out, sizeof out, "--csv %s/stale.csv", learner_folder);
    snprintf(command, sizeof command, "grade-class %s %s", folder, out);
    expect(out, 0, "6 submissions graded, 1 passed");
    assert_int_equal(run_ferry(command, &printed), 0);
    assert_null(strstr(printed, "not graded again"));
    assert_null(strstr(printed, "graded with"));
    free(printed);
    hand_in("bob", ONE, "solution.c");
    hand_in("ada", TWO, "int main("); /* late */
    expect(out, 0,
           "2 submissions have changed since they were graded, and are not graded again: ada's " TWO ", bob's " ONE
           "; to grade anew, remove the rows from ");
    snprintf(path, sizeof path, "%s/stale-secret", learner_folder);
    write_secret(path, "a secret of the teacher");
    snprintf(with, sizeof with, "%s --secret %s", out, path);
    expect(with, 0, "6 submissions were graded with another --secret, and keep their results: ada's " ONE);
    snprintf(path, sizeof path, "%s/stale.json", learner_folder);
    static const char points[] = "{\"" TWO "\": {\"right-numbers\": 1}}";
    assert_true(file_write(path, points, sizeof points - 1));
    snprintf(with, sizeof with, "%s --points %s", out, path);
    expect(with, 0, "6 submissions were graded with other points, and keep them: ada's " ONE);
    expect(out, 0, "6 submissions graded, 1 passed");
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
        cmocka_unit_test(who_kills_the_grader_is_tried_twice),
        cmocka_unit_test(shards_join_into_the_whole_table),
        cmocka_unit_test(a_join_tells_what_is_in_no_table),
        cmocka_unit_test(seeds_are_each_students_own),
        cmocka_unit_test(siphash_is_the_published_one),
        cmocka_unit_test(submissions_run_as_another_user_where_possible),
        cmocka_unit_test(submissions_cannot_reach_each_other),
        cmocka_unit_test(a_failure_of_the_machine_is_no_result),
        cmocka_unit_test(a_linked_folder_is_not_read),
        cmocka_unit_test(a_huge_file_is_refused_unread),
        cmocka_unit_test(programs_are_alike_whatever_their_names),
        cmocka_unit_test(a_starter_that_nobody_touched_earns_nothing),
        cmocka_unit_test(a_table_has_one_writer),
        cmocka_unit_test(a_table_damaged_by_hand_is_refused),
        cmocka_unit_test(ending_a_class_ends_its_workers),
        cmocka_unit_test(a_table_that_is_stale_says_so),
        cmocka_unit_test(what_is_no_class_is_refused),
    };
    return cmocka_run_group_tests_name("class", tests, make_learner_folder, remove_learner_folder);
}
