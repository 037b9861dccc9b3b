/* class_test.c: grading a class: points, rows, resumption, shards, seeds of students, protections, JUnit. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alike.h"
#include "class_rows.h"
#include "learner_folder.h"
#include "scratch.h"
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

/* Files and folders in a folder. */
static int entries_of(const char *path)
{
    int n = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
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
    hand_in("ada", ONE,
            "#include <signal.h>\n#include <unistd.h>\nint main(void)\n{\n"
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
    int lock = class_rows_lock(path, err, sizeof err);
    assert_true(lock >= 0);
    expect(out, 1, "twice.csv is being written by another ferry grade-class");
    class_rows_unlock(lock, path);
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

/* Grades in the background, with temporary files here. */
static pid_t start_class(const char *scratch, const char *csv)
{
    pid_t pid = fork();
    if (pid) return pid;
    setenv("TMPDIR", scratch, 1);
    assert_non_null(freopen("/dev/null", "w", stdout));
    assert_non_null(freopen("/dev/null", "w", stderr));
    execl(ferry_command, "ferry", "grade-class", folder, "--csv", csv, "--jobs", "2", (char *)NULL);
    _exit(127);
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

/* What would have been taken for a failure of the machine: the table would never be complete. */
static void a_file_that_exhausts_the_compiler_earns_nothing(void **state)
{
    (void)state;
    new_class("exhausting");
    hand_in("ada", ONE, "int too_much;");
    hand_in("bob", ONE, "solution.c");
    char compiler[PATH_ROOM], out[PATH_ROOM + 64];
    static const char script[] = "#!/bin/sh\ngrep -qs too_much my/*.c && exec yes\nexec cc \"$@\"\n";
    snprintf(compiler, sizeof compiler, "%s/own-cc", learner_folder);
    assert_true(file_write(compiler, script, sizeof script - 1));
    assert_int_equal(chmod(compiler, 0755), 0);
    assert_int_equal(chmod(learner_folder, 0711), 0); /* the submissions' users pass through */
    snprintf(out, sizeof out, "--csv %s/exhausting.csv", learner_folder);
    setenv("CC", compiler, 1);
    expect(out, 0, "2 submissions graded, 1 passed");
    unsetenv("CC");
    char *rows = table("exhausting.csv");
    assert_non_null(strstr(rows, "\nada," ONE ",ran,0,,0,this file does not compile: the compiler printed more"));
    free(rows);
}

/* A full disk of its own, in a namespace of its own: 77 where that cannot be had. */
static int grade_on_a_small_disk(const char *disk, const char *csv)
{
    char path[PATH_ROOM];
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return 77;
    if (mount("tmpfs", disk, "tmpfs", 0, "size=100m") != 0) return 77;
    snprintf(path, sizeof path, "%.2900s/state", disk);
    setenv("TMPDIR", disk, 1);
    setenv("XDG_STATE_HOME", path, 1);
    execl(ferry_command, "ferry", "grade-class", folder, "--csv", csv, "--jobs", "1", (char *)NULL);
    return 127;
}

static void who_fills_the_disk_takes_nobodys_points(void **state)
{
    (void)state;
    if (geteuid() != 0) skip(); /* only root can mount a small disk */
    new_class("filling");
    hand_in("ada", ONE,
            "#include <fcntl.h>\n#include <stdlib.h>\n#include <unistd.h>\nstatic char block[1 << 20];\nint "
            "main(void)\n{\n    chdir(getenv(\"TMPDIR\"));\n    int fd = open(\"big\", O_WRONLY | O_CREAT, 0600);\n"
            "    while (write(fd, block, sizeof block) > 0) continue;\n    return 3;\n}\n");
    hand_in("bob", ONE, "solution.c");
    char disk[PATH_ROOM], csv[PATH_ROOM];
    int status = 0;
    snprintf(disk, sizeof disk, "%s/disk", learner_folder);
    snprintf(csv, sizeof csv, "%s/filling.csv", learner_folder);
    assert_true(folder_make(disk));
    assert_int_equal(chmod(learner_folder, 0711), 0);
    pid_t pid = fork();
    if (pid == 0) _exit(grade_on_a_small_disk(disk, csv));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip();
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    char *rows = table("filling.csv");
    assert_non_null(strstr(rows, "\nada," ONE ",ran,0,,0,the program filled the disk: it left files of "));
    assert_non_null(strstr(rows, "\nbob," ONE ",total,9,"));
    free(rows);
}

/* Each answers with its exit status. */
static void submissions_get_a_bare_environment_and_a_folder(void **state)
{
    (void)state;
    new_class("bare");
    hand_in("ada", ONE,
            "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\nint main(void)\n{\n"
            "    const char *user = getenv(\"HOME\"), *folder = getenv(\"TMPDIR\");\n"
            "    if (getenv(\"CLASS_TOKEN\") || !getenv(\"PATH\")) return 3;\n"
            "    if (!user || !folder || strcmp(user, folder)) return 4;\n"
            "    return chdir(folder) == 0 && fopen(\"mine\", \"w\") ? 5 : 6;\n}\n");
    hand_in("bob", ONE,
            "#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n    return ftruncate(fileno(tmpfile()), "
            "3L << 30);\n}\n");
    char out[PATH_ROOM + 64];
    setenv("CLASS_TOKEN", "x", 1);
    snprintf(out, sizeof out, "--csv %s/bare.csv", learner_folder);
    expect(out, 0, "2 submissions graded, 0 passed");
    unsetenv("CLASS_TOKEN");
    char *rows = table("bare.csv");
    assert_non_null(strstr(rows, "ada," ONE ",ran,0,,0,the program ended with exit status 5"));
    assert_non_null(strstr(rows, "bob," ONE ",ran,0,,0,\"the program wrote a file that is too large"));
    free(rows);
}

static void what_a_killed_run_left_is_removed_later(void **state)
{
    (void)state;
    new_class("left");
    hand_in("ada", ONE, "int main(void) { for (;;) continue; }");
    char scratch[PATH_ROOM], csv[PATH_ROOM], path[PATH_ROOM];
    int status = 0;
    snprintf(scratch, sizeof scratch, "%s/left-over", learner_folder);
    snprintf(csv, sizeof csv, "%s/left.csv", learner_folder);
    assert_true(folder_make(scratch));
    assert_int_equal(chmod(learner_folder, 0711), 0);
    pid_t pid = start_class(scratch, csv);
    while (entries_of(scratch) == 0 && waitpid(pid, &status, WNOHANG) == 0) usleep(10000);
    usleep(300000); /* a program runs */
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(entries_of(scratch), 1);
    hand_in("ada", ONE, "int main(void) { return 1; }");
    setenv("TMPDIR", scratch, 1);
    int held = scratch_make(path); /* removes the other, once its workers have ended */
    for (int i = 0; i < 600 && entries_of(scratch) > 1; i++) {
        usleep(100000);
        scratch_remove(path, held);
        held = scratch_make(path);
    }
    assert_true(held >= 0);
    assert_int_equal(entries_of(scratch), 1);
    char out[PATH_ROOM + 64];
    snprintf(out, sizeof out, "--csv %s", csv);
    expect(out, 0, "1 submissions graded");
    unsetenv("TMPDIR");
    assert_int_equal(access(path, F_OK), 0); /* that of a process that lives */
    scratch_remove(path, held);
    assert_int_equal(entries_of(scratch), 0);
}

/* Seen as the users see it that submissions run as. */
static void an_open_class_is_told_with_the_fix(void **state)
{
    (void)state;
    new_class("open");
    hand_in("ada", ONE, "solution.c");
    char out[PATH_ROOM + 64], *printed, command[PATH_ROOM * 3], part[PATH_ROOM + 64];
    assert_int_equal(chmod(learner_folder, 0711), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    snprintf(out, sizeof out, "--csv %s/open.csv", learner_folder);
    snprintf(part, sizeof part, "chmod 700 %s\n", folder);
    expect(out, 0, geteuid() == 0 ? part : "so it can read and change what you can");
    snprintf(command, sizeof command, "grade-class %s %s", folder, out);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(run_ferry(command, &printed), 0);
    assert_null(strstr(printed, "chmod 700"));
    free(printed);
}

/* A name that is no text has one form everywhere, and two of them stay two. */
static void odd_names_are_graded_once_and_told_apart(void **state)
{
    (void)state;
    static const char *const names[] = {"a\x1b[31m", "b\xff", "b\xfe", "c\\", "d\xc2\x9b", "\xc3\xa9va"};
    new_class("odd");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) hand_in(names[i], ONE, "int main(");
    hand_in(names[0], "odd\x1b", "int x;");
    char out[PATH_ROOM + 64], *printed, command[PATH_ROOM * 3];
    snprintf(out, sizeof out, "--csv %s/odd.csv", learner_folder);
    snprintf(command, sizeof command, "grade-class %s %s", folder, out);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(run_ferry(command, &printed), 0);
        assert_non_null(strstr(printed, "6 students, 6 submissions graded"));
        assert_non_null(strstr(printed, "\n  a\\x1b[31m/odd\\x1b.c\n"));
        assert_non_null(strstr(printed, ": a\\x1b[31m, b\\xfe, b\\xff, c\\x5c, d\\xc2\\x9b, \xc3\xa9va\n"));
        for (const char *p = printed; *p; p++) assert_true((unsigned char)*p >= ' ' || *p == '\n');
        free(printed);
    }
    char *rows = table("odd.csv");
    assert_non_null(strstr(rows, "\nb\\xff," ONE ",total,0,"));
    assert_non_null(strstr(rows, "\nb\\xfe," ONE ",total,0,"));
    free(rows);
}

static void what_is_not_graded_is_named(void **state)
{
    (void)state;
    new_class("stray");
    hand_in("ada", ONE, "solution.c");
    hand_in(".", ONE, "solution.c");
    char path[PATH_ROOM], out[PATH_ROOM + 64], *printed, command[PATH_ROOM * 3];
    snprintf(path, sizeof path, "%.2000s/bob", folder);
    assert_true(folder_make(path));
    snprintf(path, sizeof path, "%.2000s/bob/" ONE ".c", folder);
    assert_int_equal(symlink("../ada/" ONE ".c", path), 0);
    snprintf(path, sizeof path, "%.2000s/bob/" ONE ".cpp", folder);
    assert_true(file_write(path, "int x;", 6));
    snprintf(path, sizeof path, "%.2000s/cyd", folder);
    assert_int_equal(symlink("ada", path), 0);
    snprintf(out, sizeof out, "--csv %s/stray.csv", learner_folder);
    snprintf(command, sizeof command, "grade-class %s %s", folder, out);
    assert_int_equal(run_ferry(command, &printed), 0);
    assert_non_null(strstr(printed, "\nfiles that are not graded:\n  " ONE ".c (in nobody's folder)\n"
                                    "  cyd (a link: put the folder itself there)\n"
                                    "  bob/" ONE ".c (a link: put the file itself there)\n"
                                    "  bob/" ONE ".cpp (meant: " ONE ".c?)\n"));
    free(printed);
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
        cmocka_unit_test(a_file_that_exhausts_the_compiler_earns_nothing),
        cmocka_unit_test(who_fills_the_disk_takes_nobodys_points),
        cmocka_unit_test(submissions_get_a_bare_environment_and_a_folder),
        cmocka_unit_test(what_a_killed_run_left_is_removed_later),
        cmocka_unit_test(an_open_class_is_told_with_the_fix),
        cmocka_unit_test(odd_names_are_graded_once_and_told_apart),
        cmocka_unit_test(what_is_not_graded_is_named),
        cmocka_unit_test(a_table_that_is_stale_says_so),
        cmocka_unit_test(what_is_no_class_is_refused),
    };
    return cmocka_run_group_tests_name("class", tests, make_learner_folder, remove_learner_folder);
}
