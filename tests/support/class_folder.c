/* class_folder.c: see class_folder.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>

#include "class_folder.h"

char folder[PATH_ROOM]; /* of the class */

/* DIR/STUDENT/ID.c: a file of the lesson, or this text. */
void hand_in(const char *student, const char *id, const char *text)
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

void new_class(const char *name)
{
    snprintf(folder, sizeof folder, "%s/%s", learner_folder, name);
    assert_true(folder_make(folder));
}

/* Files and folders in a folder. */
int entries_of(const char *path)
{
    int n = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

void expect(const char *arguments, int status, const char *part)
{
    char command[PATH_ROOM * 2], *printed;
    snprintf(command, sizeof command, "grade-class %s %s", folder, arguments);
    int got = run_ferry(command, &printed);
    if (got != status || !strstr(printed, part))
        fail_msg("ferry %s: status %d (wanted %d), '%s' wanted in:\n%s", command, got, status, part, printed);
    free(printed);
}

char *table(const char *name)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", learner_folder, name);
    char *text = file_read(path, NULL);
    assert_non_null(text);
    return text;
}

/* Grades in the background, with temporary files here. */
pid_t start_class(const char *scratch, const char *csv)
{
    pid_t pid = fork();
    if (pid) return pid;
    setenv("TMPDIR", scratch, 1);
    assert_non_null(freopen("/dev/null", "w", stdout));
    assert_non_null(freopen("/dev/null", "w", stderr));
    execl(ferry_command, "ferry", "grade-class", folder, "--csv", csv, "--jobs", "2", (char *)NULL);
    _exit(127);
}
