/* watch_test.c: every kind of save is noticed, and only when it is complete. Polls are counted, WATCH_MS each. Only
 * polling is used, so mounts without inotify work as well. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "learner_folder.h"
#include "watch.h"

static char watched_path[256];

static void put(const char *text)
{
    FILE *f = fopen(watched_path, "w"); /* truncate and write, as some editors do */
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Polls until a save is reported, at most `limit` times; returns the number of polls, 0: none. */
static int polls_until_change(watched_file *w, int limit)
{
    for (int i = 1; i <= limit; i++)
        if (watch_poll(w)) return i;
    return 0;
}

static void start_watching(watched_file *w)
{
    snprintf(watched_path, sizeof watched_path, "%s/watched.c", learner_folder);
    put("int main(void)\n{\n    return 0;\n}\n");
    watch_start(w, watched_path);
    assert_int_equal(polls_until_change(w, 10), 0);
}

/* Within one second. */
static void assert_noticed(watched_file *w)
{
    int limit = 1000 / WATCH_MS;
    assert_in_range(polls_until_change(w, limit), 1, limit);
    assert_int_equal(polls_until_change(w, 10), 0); /* and only once */
}

static void every_way_of_saving_is_noticed_within_a_second(void **state)
{
    (void)state;
    watched_file w;
    start_watching(&w);
    put("int main(void)\n{\n    return 1;\n}\n");
    assert_noticed(&w);
    assert_true(file_write(watched_path, "int main(void)\n{\n    return 2;\n}\n", 32)); /* by rename */
    assert_noticed(&w);
    unlink(watched_path);
    assert_int_equal(polls_until_change(&w, 3), 0);
    put("int main(void)\n{\n    return 3;\n}\n");
    assert_noticed(&w);
}

/* On some mounts only the content changes: same file, size and time. */
static void contents_alone_are_enough(void **state)
{
    (void)state;
    watched_file w;
    struct stat before, after;
    start_watching(&w);
    assert_int_equal(stat(watched_path, &before), 0);
    int fd = open(watched_path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "7", 1, (off_t)strlen("int main(void)\n{\n    return ")), 1);
    const struct timespec times[] = {before.st_atim, before.st_mtim};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
    assert_int_equal(stat(watched_path, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
    assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    assert_noticed(&w);
}

/* The command does not even contain its name. */
static void no_inotify_is_asked_for(void **state)
{
    (void)state;
    size_t size;
    char *binary = file_read(ferry_command, &size);
    assert_non_null(binary);
    assert_non_null(memmem(binary, size, "pthread_create", 14)); /* names are visible */
    assert_null(memmem(binary, size, "inotify_init", 12));
    assert_null(memmem(binary, size, "inotify_add_watch", 17));
    free(binary);
}

static void a_half_written_file_is_waited_for(void **state)
{
    (void)state;
    watched_file w;
    start_watching(&w);
    put("");
    assert_int_equal(polls_until_change(&w, 6), 0);
    put("int main(void)\n{\n    ret");
    assert_int_equal(polls_until_change(&w, 3), 0);
    put("int main(void)\n{\n    return 1;\n}\n");
    assert_in_range(polls_until_change(&w, 6), 1, 6);
    assert_int_equal(polls_until_change(&w, 10), 0);
}

static void a_file_that_changes_at_every_poll_is_not_reported(void **state)
{
    (void)state;
    watched_file w;
    char text[64];
    start_watching(&w);
    for (int i = 0; i < 8; i++) {
        snprintf(text, sizeof text, "int main(void)\n{\n    return %d;\n}\n", i + 10);
        put(text);
        assert_false(watch_poll(&w));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_of_saving_is_noticed_within_a_second),
        cmocka_unit_test(contents_alone_are_enough),
        cmocka_unit_test(no_inotify_is_asked_for),
        cmocka_unit_test(a_half_written_file_is_waited_for),
        cmocka_unit_test(a_file_that_changes_at_every_poll_is_not_reported),
    };
    return cmocka_run_group_tests_name("watch", tests, make_learner_folder, remove_learner_folder);
}
