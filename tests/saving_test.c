/* The learner's file: saved concurrently, through a link, and reset. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sys/stat.h>

#include "lesson.h"
#include "learner_folder.h"

static home where;
static catalogue lessons;
static const lesson *first;
static char mine[PATH_ROOM], other[PATH_ROOM];

static int open_school(void **state)
{
    char err[2048] = "";
    if (make_learner_folder(state) || !paths_find(&where, err, sizeof err)) return -1;
    if (!catalogue_open(&lessons, &where, err, sizeof err) || !folder_make(where.my)) return -1;
    first = &lessons.lessons[0];
    lesson_file_path(&where, first, mine);
    snprintf(other, sizeof other, "%.2000s/elsewhere.c", where.beside);
    return 0;
}

static int close_school(void **state)
{
    catalogue_close(&lessons);
    return remove_learner_folder(state);
}

static void assert_holds(const char *path, const char *text)
{
    char *there = file_read(path, NULL);
    assert_non_null(there);
    assert_string_equal(there, text);
    free(there);
}

enum { WRITERS = 8, SAVES = 40, LONG = 20000 };

static void *save_often(void *which)
{
    char *text = malloc(LONG);
    memset(text, 'a' + (int)(intptr_t)which, LONG);
    for (int i = 0; i < SAVES; i++)
        if (!file_write(mine, text, LONG)) return text;
    free(text);
    return NULL;
}

static void many_concurrent_savers_leave_one_whole_file_and_nothing_else(void **state)
{
    (void)state;
    pthread_t threads[WRITERS];
    void *failed;
    char command[PATH_ROOM + 64];
    size_t size;
    for (intptr_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, save_often, (void *)i), 0);
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    char *text = file_read(mine, &size);
    assert_int_equal(size, LONG);
    for (size_t i = 1; i < size; i++) assert_int_equal(text[i], text[0]);
    free(text);
    snprintf(command, sizeof command, "ls '%s' | grep -q new", where.my);
    assert_int_not_equal(system(command), 0);
}

static void a_file_that_is_a_link_stays_one(void **state)
{
    (void)state;
    struct stat s;
    unlink(mine);
    assert_true(file_write(other, "old\n", 4));
    assert_int_equal(chmod(other, 0640), 0);
    assert_int_equal(symlink(other, mine), 0);
    assert_true(file_write(mine, "new\n", 4));
    assert_int_equal(lstat(mine, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_holds(other, "new\n");
    assert_int_equal(stat(other, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0640);
    unlink(mine);
    unlink(other);
}

static void what_is_no_file_is_named_and_left_alone(void **state)
{
    (void)state;
    char err[PATH_ROOM * 2];
    struct stat s;
    assert_int_equal(symlink("/nowhere/at/all", mine), 0);
    assert_false(lesson_create_file(&where, first, err, sizeof err));
    assert_non_null(strstr(err, "does not exist"));
    assert_int_equal(lstat(mine, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    unlink(mine);
    assert_int_equal(mkdir(mine, 0700), 0);
    assert_false(lesson_create_file(&where, first, err, sizeof err));
    assert_non_null(strstr(err, "is a folder"));
    rmdir(mine);
}

static void each_reset_keeps_what_was_written_and_never_the_starter(void **state)
{
    (void)state;
    char kept[PATH_ROOM], bak[PATH_ROOM + 8], err[PATH_ROOM * 3];
    assert_true(file_write(mine, "first\n", 6));
    assert_true(lesson_reset(&where, first, kept, err, sizeof err));
    snprintf(bak, sizeof bak, "%s.bak", mine);
    assert_string_equal(kept, bak);
    assert_true(lesson_reset(&where, first, kept, err, sizeof err)); /* a second time, by mistake */
    assert_string_equal(kept, "");
    assert_holds(bak, "first\n");
    assert_true(file_write(mine, "second\n", 7));
    assert_true(lesson_reset(&where, first, kept, err, sizeof err));
    assert_holds(bak, "first\n");
    snprintf(bak, sizeof bak, "%s.bak2", mine);
    assert_string_equal(kept, bak);
    assert_holds(bak, "second\n");
}

static void my_may_lie_in_the_root(void **state)
{
    (void)state;
    home h;
    char err[2048], *before = strdup(getenv("FERRY_MY"));
    setenv("FERRY_MY", "/my", 1);
    assert_true(paths_find(&h, err, sizeof err));
    assert_string_equal(h.my, "/my");
    assert_string_equal(h.beside, "/");
    setenv("FERRY_MY", before, 1);
    free(before);
}

static void a_flag_takes_no_value(void **state)
{
    (void)state;
    char *printed;
    assert_int_equal(run_ferry("grade 1 --json=1", &printed), 2);
    assert_non_null(strstr(printed, "takes no value"));
    free(printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_concurrent_savers_leave_one_whole_file_and_nothing_else),
        cmocka_unit_test(a_file_that_is_a_link_stays_one),
        cmocka_unit_test(what_is_no_file_is_named_and_left_alone),
        cmocka_unit_test(each_reset_keeps_what_was_written_and_never_the_starter),
        cmocka_unit_test(my_may_lie_in_the_root),
        cmocka_unit_test(a_flag_takes_no_value),
    };
    return cmocka_run_group_tests_name("saving", tests, open_school, close_school);
}
