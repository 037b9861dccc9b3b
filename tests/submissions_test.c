/* submissions_test.c: what submissions can do to the machine, to the class and to each other; odd names, stray files. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "class_folder.h"
#include "class_rows.h"
#include "hidden.h"
#include "scratch.h"

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

/* Each compiler adds its user. What one leaves anywhere is not the next one's. */
static void no_two_submissions_have_one_user(void **state)
{
    (void)state;
    if (geteuid() != 0) skip(); /* they run as the caller */
    new_class("users");
    for (char name[] = "a"; *name < 'e'; ++*name) hand_in(name, ONE, "int main(");
    char compiler[PATH_ROOM], out[PATH_ROOM + 64], script[PATH_ROOM * 2], path[PATH_ROOM];
    snprintf(compiler, sizeof compiler, "%s/user-cc", learner_folder);
    snprintf(path, sizeof path, "%s/users.txt", learner_folder);
    snprintf(script, sizeof script, "#!/bin/sh\necho \"`id -u`\" >>%s\nexec cc \"$@\"\n", path);
    assert_true(file_write(compiler, script, strlen(script)) && file_write(path, "", 0));
    assert_true(chmod(compiler, 0755) == 0 && chmod(learner_folder, 0711) == 0 && chmod(path, 0666) == 0);
    snprintf(out, sizeof out, "--csv %s/users.csv --jobs 2", learner_folder);
    setenv("CC", compiler, 1);
    expect(out, 0, "4 submissions graded");
    unsetenv("CC");
    snprintf(script, sizeof script, "test `sort -u %s | grep -vx 0 | wc -l` -eq 4", path);
    assert_int_equal(system(script), 0);
}

/* A full disk of its own, in a namespace of its own: 77 where that cannot be had. */
static int grade_on_a_small_disk(const char *disk, const char *csv)
{
    char path[PATH_ROOM];
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0) return 77;
    if (mount("tmpfs", disk, "tmpfs", 0, "size=300m") != 0) return 77;
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

/* grade-class of the folder by a process that may mount nothing, as in most containers: status and output. */
static char *grade_without_mounts(const char *arguments)
{
    char command[PATH_ROOM * 3], out[PATH_ROOM], *printed;
    int status;
    snprintf(out, sizeof out, "%s/printed", learner_folder);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0);
        snprintf(command, sizeof command, "grade-class %s %s", folder, arguments);
        _exit(run_ferry(command, &printed) != 0 || !file_write(out, printed, strlen(printed)));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return file_read(out, NULL);
}

/* Seen as the users see it that submissions run as. */
static void what_is_open_is_told_with_the_fix(void **state)
{
    (void)state;
    new_class("open");
    hand_in("ada", ONE, "solution.c");
    char out[PATH_ROOM + 64], part[PATH_ROOM + 128], *printed;
    assert_int_equal(chmod(learner_folder, 0711), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    snprintf(out, sizeof out, "--csv %s/open.csv", learner_folder);
    if (geteuid() != 0) {
        expect(out, 0, "so it can read and change what you can, solutions and others' files too");
        return;
    }
    printed = grade_without_mounts(out);
    snprintf(part, sizeof part,
             "open: programs that are graded can read the files of others in %s; close it: chmod 700", folder);
    if (!strstr(printed, part)) fail_msg("'%s' wanted in %s", part, printed);
    free(printed);
    assert_int_equal(chmod(folder, 0700), 0);
    printed = grade_without_mounts(out);
    assert_null(strstr(printed, "the files of others in"));
    free(printed);
}

/* As far as the modes allow it; the checkout of this test may lie where other users cannot go. */
static const char spy[] = "#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n"
                          "    static const char *const files[] = {\"%s\", \"%s/bob/" ONE ".c\", \"%s\"};\n"
                          "    for (int i = 0; i < 3; i++)\n        if (access(files[i], R_OK) == 0) return 10 + i;\n"
                          "    return 7;\n}\n";

static void a_submission_sees_no_solution_and_no_others_file(void **state)
{
    (void)state;
    if (geteuid() != 0) skip(); /* it runs as the caller */
    const char *const hidden[] = {"/tmp", NULL};
    pid_t pid = fork();
    int status;
    if (pid == 0) _exit(hide_folders(hidden) ? 0 : 77);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0) skip(); /* no right to mount */
    char own[PATH_ROOM], text[PATH_ROOM * 4], out[PATH_ROOM + 128];
    snprintf(own, sizeof own, "%s/course/" ONE "/solution.c", learner_folder);
    snprintf(text, sizeof text, "cp -r lessons %s/course && chmod -R a+rX %s/course", learner_folder, learner_folder);
    assert_int_equal(system(text), 0);
    new_class("spied");
    char *solution = realpath("lessons/" ONE "/solution.c", NULL);
    snprintf(text, sizeof text, spy, solution, folder, own);
    free(solution);
    hand_in("ada", ONE, text);
    hand_in("bob", ONE, "solution.c");
    assert_int_equal(chmod(learner_folder, 0711), 0);
    snprintf(text, sizeof text, "chmod -R a+rX %s", folder);
    assert_int_equal(system(text), 0);
    snprintf(out, sizeof out, "--lessons %s/course --csv %s/spied.csv", learner_folder, learner_folder);
    expect(out, 0, "closed: programs that are graded see neither the solutions nor the files of others\n");
    char *rows = table("spied.csv");
    if (!strstr(rows, "the program ended with exit status 7")) fail_msg("%s", rows);
    free(rows);
}

/* The library and its headers are copied to where submissions are built. */
static void a_ferry_that_others_cannot_enter_grades_them(void **state)
{
    (void)state;
    char command[PATH_ROOM * 4], ferry[sizeof ferry_command], *built = realpath(ferry_command, NULL), *printed;
    assert_non_null(built);
    *strrchr(built, '/') = '\0';
    snprintf(command, sizeof command,
             "d=%s/closed; mkdir -p $d/f/build && chmod 700 $d && cp -r lessons lib $d/f && cp %s/ferry %s/libferry.a "
             "$d/f/build && cp -r %s/include $d/f/build",
             learner_folder, built, built, built);
    free(built);
    assert_int_equal(system(command), 0);
    new_class("behind");
    hand_in("ada", ONE, "solution.c");
    memcpy(ferry, ferry_command, sizeof ferry);
    snprintf(command, sizeof command, "%s/closed/f", learner_folder);
    setenv("FERRY_HOME", command, 1);
    snprintf(ferry_command, sizeof ferry_command, "%s/closed/f/build/ferry", learner_folder);
    snprintf(command, sizeof command, "grade-class %s --csv %s/behind.csv", folder, learner_folder);
    int status = run_ferry(command, &printed);
    memcpy(ferry_command, ferry, sizeof ferry);
    setenv("FERRY_HOME", ".", 1);
    if (status != 0 || !strstr(printed, "1 submissions graded, 1 passed")) fail_msg("status %d: %s", status, printed);
    free(printed);
}

static void a_place_that_others_cannot_enter_is_refused_by_name(void **state)
{
    (void)state;
    if (geteuid() != 0) skip(); /* they run as the caller */
    char closed[PATH_ROOM], scratch[PATH_ROOM + 16], out[PATH_ROOM + 64], part[PATH_ROOM + 128];
    snprintf(closed, sizeof closed, "%s/nobody", learner_folder);
    snprintf(scratch, sizeof scratch, "%s/tmp", closed);
    assert_true(folder_make(scratch));
    assert_int_equal(chmod(learner_folder, 0711), 0);
    assert_int_equal(chmod(closed, 0700), 0);
    new_class("nowhere");
    hand_in("ada", ONE, "solution.c");
    setenv("TMPDIR", scratch, 1);
    snprintf(out, sizeof out, "--csv %s/nowhere.csv", learner_folder);
    snprintf(part, sizeof part, "cannot enter %s (its mode is 0700); set TMPDIR to a folder that all may enter",
             closed);
    expect(out, 1, part);
    unsetenv("TMPDIR");
    char *rows = table("nowhere.csv");
    assert_null(strstr(rows, "\nada,")); /* nobody gets 0 points for it */
    free(rows);
    assert_int_equal(entries_of(scratch), 0);
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

static bool has_namespaces(void)
{
    int status = -1, flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC;
    pid_t pid = fork();
    if (pid == 0) _exit(unshare(geteuid() ? flags | CLONE_NEWUSER : flags) != 0);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

/* One student's program leaves files; the next one's looks for them, and both can write. */
static void what_a_submission_leaves_is_gone_after_it(void **state)
{
    (void)state;
    if (!has_namespaces()) skip();
    new_class("leaving");
    char text[2048], out[PATH_ROOM + 64], path[PATH_ROOM];
    const char *mark = strrchr(learner_folder, '/') + 1;
    snprintf(text, sizeof text,
             "#include <fcntl.h>\n#include <unistd.h>\nint main(void)\n{\n"
             "    const char *const paths[] = {\"/tmp/left-%s\", \"/dev/shm/left-%s\", \"/var/tmp/left-%s\"};\n"
             "    for (int i = 0; i < 3; i++)\n        if (access(paths[i], F_OK) == 0) return 6 + i;\n"
             "    for (int i = 0; i < 3; i++)\n        if (creat(paths[i], 0666) < 0) return 10 + i;\n"
             "    return 5;\n}\n",
             mark, mark, mark);
    for (char name[] = "a"; *name < 'c'; ++*name) hand_in(name, ONE, text);
    hand_in("c", "19-checkpoint", "solution.c"); /* whose file is in /tmp */
    snprintf(out, sizeof out, "--csv %s/leaving.csv --jobs 1", learner_folder);
    expect(out, 0, "3 students, 6 submissions graded, 1 passed");
    char *rows = table("leaving.csv");
    assert_non_null(strstr(rows, "\na," ONE ",ran,0,,0,the program ended with exit status 5"));
    assert_non_null(strstr(rows, "\nb," ONE ",ran,0,,0,the program ended with exit status 5"));
    free(rows);
    static const char *const folders[] = {"/tmp", "/dev/shm", "/var/tmp"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/left-%s", folders[i], mark);
        assert_int_not_equal(access(path, F_OK), 0);
    }
}

/* What a spreadsheet would compute; each is in the table as text, and comes back as it was. */
static void formulas_in_a_table_are_text(void **state)
{
    (void)state;
    static const char *const names[] = {"=1+1", "-2+3", "+1+cmd|calc", "@SUM(1,2)", "'=1",
                                        "''-1", " =1",  "'ada",        "a=1"};
    char out[PATH_ROOM + 64], path[PATH_ROOM], command[PATH_ROOM * 3], err[256], *printed;
    class_rows rows;
    fy_text one = {0};
    new_class("formulas");
    for (size_t i = 0; i < 4; i++) hand_in(names[i], ONE, "int main(");
    snprintf(out, sizeof out, "--csv %s/formulas.csv", learner_folder);
    for (int again = 0; again < 2; again++) expect(out, 0, "4 students, 4 submissions graded");
    snprintf(command, sizeof command, "join-class %s/joined.csv %s/formulas.csv", learner_folder, learner_folder);
    assert_int_equal(run_ferry(command, &printed), 0);
    free(printed);
    char *table_1 = table("formulas.csv"), *table_2 = table("joined.csv");
    assert_string_equal(table_1, table_2);
    for (size_t i = 0; i < 4; i++) {
        snprintf(err, sizeof err, i == 3 ? "\n\"'%s\"," : "\n'%s,", names[i]);
        assert_non_null(strstr(table_1, err));
    }
    free(table_1), free(table_2);

    fy_text_add(&one, class_header, strlen(class_header));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        class_row_add(&one, names[i], ONE, "total", -1.5, 2, 9, names[i]);
    snprintf(path, sizeof path, "%s/names.csv", learner_folder);
    assert_true(file_write(path, one.data, one.size));
    assert_true(class_rows_read(&rows, path, err, sizeof err));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_string_equal(rows.list[i].student, names[i]);
        assert_string_equal(rows.list[i].message, names[i]);
        assert_true(rows.list[i].points == -1.5);
    }
    class_rows_free(&rows);
    fy_text_add(&one, "", 1);
    assert_non_null(strstr(one.data, "total,-1.5,9,2,'=1+1\n")); /* our numbers stay numbers */
    assert_non_null(strstr(one.data, "\n'ada," ONE));            /* no formula */
    free(one.data);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_exhausts_the_compiler_earns_nothing),
        cmocka_unit_test(no_two_submissions_have_one_user),
        cmocka_unit_test(who_fills_the_disk_takes_nobodys_points),
        cmocka_unit_test(submissions_get_a_bare_environment_and_a_folder),
        cmocka_unit_test(what_a_killed_run_left_is_removed_later),
        cmocka_unit_test(what_is_open_is_told_with_the_fix),
        cmocka_unit_test(a_submission_sees_no_solution_and_no_others_file),
        cmocka_unit_test(a_ferry_that_others_cannot_enter_grades_them),
        cmocka_unit_test(a_place_that_others_cannot_enter_is_refused_by_name),
        cmocka_unit_test(odd_names_are_graded_once_and_told_apart),
        cmocka_unit_test(what_a_submission_leaves_is_gone_after_it),
        cmocka_unit_test(formulas_in_a_table_are_text),
        cmocka_unit_test(what_is_not_graded_is_named),
    };
    return cmocka_run_group_tests_name("submissions", tests, make_learner_folder, remove_learner_folder);
}
