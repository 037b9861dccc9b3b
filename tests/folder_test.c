/* folder_test.c: state, locks, logs and built programs are in folders owned by this user, closed to others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "folder.h"
#include "log.h"
#include "learner_folder.h"

static char err[2048];

/* A path in the test's folder. */
static const char *at(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", learner_folder, name);
    return path;
}

static void make(const char *name, mode_t mode)
{
    assert_int_equal(mkdir(at(name), 0700), 0);
    assert_int_equal(chmod(at(name), mode), 0); /* independent of umask */
}

static void refused(const char *name, const char *why)
{
    if (fy_folder_make_private(at(name), err, sizeof err)) fail_msg("%s was taken", at(name));
    if (!strstr(err, why)) fail_msg("'%s' wanted in: %s", why, err);
}

static void a_missing_folder_is_made_for_its_owner_alone(void **state)
{
    (void)state;
    struct stat s;
    assert_true(fy_folder_make_private(at("new/and/below"), err, sizeof err));
    assert_int_equal(stat(at("new/and/below"), &s), 0);
    assert_int_equal(s.st_mode & 07777, 0700);
    assert_true(fy_folder_make_private(at("new"), err, sizeof err));
}

static void a_folder_that_others_may_write_to_is_refused(void **state)
{
    (void)state;
    make("group", 0770);
    refused("group", "can be written by others (chmod go-w removes that permission)");
    make("all", 01777);
    refused("all", "can be written by others");
    assert_int_equal(chmod(at("group"), 0750), 0);
    assert_true(fy_folder_make_private(at("group"), err, sizeof err));
}

static void the_way_to_a_folder_is_closed_as_well(void **state)
{
    (void)state;
    make("open", 0777);
    refused("open/mine", "can be written by everybody");
    assert_int_equal(chmod(at("open"), 01777), 0); /* like /tmp */
    assert_true(fy_folder_make_private(at("open/mine"), err, sizeof err));
}

static void what_is_no_folder_is_refused(void **state)
{
    (void)state;
    fclose(fopen(at("file"), "w"));
    refused("file", "is not a folder");
    refused("file/below", "cannot create");
    assert_false(fy_folder_make_private("relative", err, sizeof err));
}

/* Only root can create another user's files. */
static void what_another_user_made_is_refused(void **state)
{
    (void)state;
    enum { ANOTHER = 4711 };
    if (geteuid() != 0) skip();
    make("theirs", 0755);
    assert_int_equal(chown(at("theirs"), ANOTHER, ANOTHER), 0);
    refused("theirs", "belongs to another user");
    refused("theirs/mine", "belongs to another user"); /* its owner could move it */
    char target[128];
    make("mine", 0700);
    snprintf(target, sizeof target, "%s", at("mine"));
    assert_int_equal(symlink(target, at("link")), 0);
    assert_true(fy_folder_make_private(at("link"), err, sizeof err));
    assert_int_equal(lchown(at("link"), ANOTHER, ANOTHER), 0);
    refused("link", "belongs to another user");
}

/* ---- when cards are opened ---- */

static void a_log_is_made_elsewhere(void **state)
{
    (void)state;
    char link[64], where[256] = "";
    make("state", 0700);
    make("state/ferry", 0777);
    setenv("XDG_STATE_HOME", at("state"), 1);
    setenv("HOME", at("state"), 1);
    int fd = fy_log_file(NULL, 100, err, sizeof err);
    assert_true(fd >= 0);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    assert_true(readlink(link, where, sizeof where - 1) > 0);
    assert_non_null(strstr(where, "state/.local/state/ferry/"));
    close(fd);
}

static void the_folder_for_state_is_refused_in_words(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    setenv("XDG_STATE_HOME", at("state"), 1); /* as the previous test left it */
    assert_false(state_folder(path, sizeof path, err, sizeof err));
    assert_non_null(strstr(err, "state/ferry can be written by"));
    assert_non_null(strstr(err, "; set XDG_STATE_HOME to a folder of your own"));
    setenv("XDG_STATE_HOME", at("elsewhere"), 1);
    assert_true(state_folder(path, sizeof path, err, sizeof err));
}

static home make_home(bool apart)
{
    home h = {.made_apart = apart};
    snprintf(h.my, sizeof h.my, "%s", at("my"));
    snprintf(h.beside, sizeof h.beside, "%s", learner_folder);
    return h;
}

static void programs_are_built_where_only_their_writers_write(void **state)
{
    (void)state;
    home apart = make_home(true), in_place = make_home(false);
    make("my", 0755);
    make("built", 0775);
    assert_false(build_folder_make(&apart, at("built"), err, sizeof err));
    assert_non_null(strstr(err, "; set XDG_CACHE_HOME to a folder of your own"));
    assert_false(build_folder_make(&in_place, at("built"), err, sizeof err));
    assert_non_null(strstr(err, "is writable by more users than your source folder; remove it"));
    assert_int_equal(chmod(at("my"), 0775), 0); /* a shared group, or a file system without modes */
    assert_true(build_folder_make(&in_place, at("built"), err, sizeof err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_folder_is_made_for_its_owner_alone),
        cmocka_unit_test(a_folder_that_others_may_write_to_is_refused),
        cmocka_unit_test(the_way_to_a_folder_is_closed_as_well),
        cmocka_unit_test(what_is_no_folder_is_refused),
        cmocka_unit_test(what_another_user_made_is_refused),
        cmocka_unit_test(a_log_is_made_elsewhere),
        cmocka_unit_test(the_folder_for_state_is_refused_in_words),
        cmocka_unit_test(programs_are_built_where_only_their_writers_write),
    };
    return cmocka_run_group_tests_name("folder", tests, make_learner_folder, remove_learner_folder);
}
