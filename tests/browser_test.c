/* browser_test.c: where the page is opened: on a desktop, but not over ssh, where a message tells how to forward the
 * port. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "browser.h"

static int clean_environment(void **state)
{
    static const char *const names[] = {"SSH_CONNECTION", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unsetenv(names[i]);
    return 0;
}

static void nothing_is_opened_where_there_is_no_desktop(void **state)
{
    (void)state;
    char line[256];
    assert_false(browser_has_desktop());
    assert_false(browser_forwarding(8700, line, sizeof line));
}

static void a_desktop_has_a_browser(void **state)
{
    (void)state;
    setenv("DISPLAY", ":0", 1);
    assert_true(browser_has_desktop());
    clean_environment(state);
    setenv("WAYLAND_DISPLAY", "wayland-0", 1);
    assert_true(browser_has_desktop());
    clean_environment(state);
    setenv("WSL_DISTRO_NAME", "Debian", 1);
    assert_true(browser_has_desktop());
}

static void over_ssh_none_is_opened_and_the_port_is_forwarded(void **state)
{
    (void)state;
    char line[256];
    setenv("DISPLAY", ":0", 1);
    setenv("SSH_CONNECTION", "10.0.0.5 51000 10.0.0.9 22", 1);
    setenv("USER", "ada", 1);
    assert_false(browser_has_desktop());
    assert_true(browser_forwarding(8701, line, sizeof line));
    assert_string_equal(line, "ssh -L 8701:127.0.0.1:8701 ada@10.0.0.9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_opened_where_there_is_no_desktop, clean_environment),
        cmocka_unit_test_setup(a_desktop_has_a_browser, clean_environment),
        cmocka_unit_test_setup(over_ssh_none_is_opened_and_the_port_is_forwarded, clean_environment),
    };
    return cmocka_run_group_tests_name("browser", tests, NULL, NULL);
}
