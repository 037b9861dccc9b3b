/* source_test.c: variable names and lines found in the source. Each program below is embedded; its call sites are made
 * like those of ferry.h's macros. */
#define _GNU_SOURCE
#include "event.h"
#include "logs.h"
#include "site.h"
#include "text.h"

#include "source.h"

static const char program[] = "#define MAKE(x) x = fy_zeros((1))\n"                       /* 1 */
                              "int main(void)\n"                                          /* 2 */
                              "{\n"                                                       /* 3 */
                              "    fy_tensor *a = fy_zeros((2, 3)), *b = fy_ones((3));\n" /* 4 */
                              "    c = fy_add(fy_mul(a, b), d);\n"                        /* 5 */
                              "    fy_tensor *sum = fy_add(a, /* the\n"                   /* 6 */
                              "                            other */ b);\n"                /* 7 */
                              "    w[1] = fy_relu(x); net->bias.v = fy_relu(y);\n"        /* 8 */
                              "    if (a == b) e = fy_cuda(a); // f = fy_cuda(a);\n"      /* 9 */
                              "    MAKE(z);\n"                                            /* 10 */
                              "    fy_print(fy_sum(a));\n"                                /* 11 */
                              "    p = fy_zeros((2)); q = fy_zeros((2));\n"               /* 12 */
                              "    g = fy_to(a, \"cu;da\");\n"                            /* 13 */
                              "    fy_tensor *x = fy_view(a, (-1)), *y = x;\n"            /* 14 */
                              "    FY_SCOPE { h = fy_t(fy_t(a)); }\n"                     /* 15 */
                              "    return fy_item(a) > 1;\n"                              /* 16 */
                              "}\n";

static const char *name_at(int line, const char *call, const char *args)
{
    static fy_site sites[32]; /* a site caches its name */
    static int used;
    sites[used] = (fy_site){"names.c", line, "main", call, args, 0, 0, 0, false};
    return fy_site_variable(&sites[used++]);
}

static void assert_no_name(int line, const char *call, const char *args)
{
    const char *name = name_at(line, call, args);
    if (name) fail_msg("%s(%s) in line %d is called %s", call, args, line, name);
}

static void the_outermost_call_has_the_name_it_is_assigned_to(void **state)
{
    (void)state;
    assert_string_equal(name_at(4, "fy_zeros", "(2, 3)"), "a");
    assert_string_equal(name_at(4, "fy_ones", "(3)"), "b");
    assert_string_equal(name_at(5, "fy_add", "fy_mul(a, b), d"), "c");
    assert_no_name(5, "fy_mul", "a, b");
    assert_string_equal(name_at(8, "fy_relu", "x"), "w[1]");
    assert_string_equal(name_at(8, "fy_relu", "y"), "net->bias.v");
    assert_string_equal(name_at(9, "fy_cuda", "a"), "e");
    assert_string_equal(name_at(13, "fy_to", "a, \"cu;da\""), "g");
    assert_string_equal(name_at(14, "fy_view", "a, (-1)"), "x");
    assert_string_equal(name_at(15, "fy_t", "fy_t(a)"), "h");
    assert_no_name(15, "fy_t", "a");
}

static void a_multiline_call_is_found_from_first_and_last_line(void **state)
{
    (void)state;
    assert_string_equal(name_at(6, "fy_add", "a, b"), "sum");
    assert_string_equal(name_at(7, "fy_add", "a, b"), "sum");
    assert_no_name(8, "fy_add", "a, b");
}

static void no_name_is_guessed(void **state)
{
    (void)state;
    assert_no_name(10, "fy_zeros", "(1)");
    assert_no_name(11, "fy_sum", "a");
    assert_no_name(11, "fy_print", "fy_sum(a)");
    assert_no_name(12, "fy_zeros", "(2)"); /* p or q? */
    assert_no_name(16, "fy_item", "a");
    assert_no_name(5, "fy_add", "a, b"); /* the call differs from the source */
    assert_no_name(99, "fy_add", "a, b");
    assert_null(fy_site_variable(NULL));
    fy_site unknown = {"nowhere/at/all.c", 1, "main", "fy_add", "a, b", 0, 0, 0, false};
    assert_null(fy_site_variable(&unknown));
}

static void a_line_is_shown_as_written_and_else_the_call(void **state)
{
    (void)state;
    fy_site one = {"names.c", 5, "main", "fy_add", "fy_mul(a, b), d", 0, 0, 0, false};
    fy_site last = {"names.c", 7, "main", "fy_add", "a, b", 0, 0, 0, false};
    fy_site unknown = {"nowhere/at/all.c", 1, "main", "fy_relu", "x", 0, 0, 0, false};
    assert_string_equal(fy_site_line(&one), "c = fy_add(fy_mul(a, b), d);");
    assert_string_equal(fy_site_line(&last), "fy_add(a, b)");
    assert_string_equal(fy_site_line(&unknown), "fy_relu(x)");
    assert_null(fy_site_line(NULL));
}

static void a_source_precedes_its_first_event_once_in_each_log(void **state)
{
    (void)state;
    static fy_site site = {"names.c", 5, "main", "fy_add", "a, b", 0, 0, 0, false};
    static fy_site other = {"names.c", 6, "main", "fy_add", "a, b", 0, 0, 0, false};
    for (int run = 0; run < 2; run++) {
        int fd = log_to_write(0);
        FY_EMIT(&site, mark, .now = 1);
        FY_EMIT(&other, mark, .now = 2);
        FY_EMIT(&site, mark, .now = 3);
        fy_text text = lines_of(fd);
        assert_int_equal(assert_lines_are_whole(&text), 4);
        assert_int_equal(count_of(text.data, "\"kind\":\"source\""), 1);
        assert_non_null(strstr(text.data, "\"kind\":\"source\",\"th\":0,\"path\":\"names.c\",\"hash\":\""));
        assert_int_equal(count_of(text.data, "\"args\":\"a, b\",\"file\":\"names.c\",\"line\":5,\"fn\":\"main\""), 2);
        free(text.data);
        close(fd);
    }
}

static void an_absolute_path_is_reduced_to_its_last_part(void **state)
{
    (void)state;
    static fy_site site = {"/somewhere/else/lesson.c", 3, "main", "fy_add", "a, b", 0, 0, 0, false};
    int fd = log_to_write(0);
    fy_source_embed("/somewhere/else/lesson.c", "int x;\n", 7);
    FY_EMIT(&site, mark, .now = 1);
    fy_text text = lines_of(fd);
    assert_null(strstr(text.data, "somewhere"));
    assert_non_null(strstr(text.data, "\"path\":\"lesson.c\""));
    assert_non_null(strstr(text.data, "\"file\":\"lesson.c\",\"line\":3"));
    free(text.data);
    close(fd);
}

static void an_unreadable_or_too_large_file_has_no_source_event(void **state)
{
    (void)state;
    char path[] = "/tmp/ferry-large-XXXXXX";
    int large = mkstemp(path);
    assert_int_equal(ftruncate(large, FY_SOURCE_MAX + 1), 0);
    static fy_site unreadable = {"/nowhere/x.c", 1, "main", "fy_add", "a", 0, 0, 0, false},
                   folder = {"/tmp", 1, "main", "f", "a", 0, 0, 0, false};
    fy_site too_large = {path, 1, "main", "fy_add", "a", 0, 0, 0, false};
    int fd = log_to_write(0);
    FY_EMIT(&unreadable, mark, .now = 1);
    FY_EMIT(&folder, mark, .now = 1);
    FY_EMIT(&too_large, mark, .now = 1);
    fy_text text = lines_of(fd);
    assert_int_equal(assert_lines_are_whole(&text), 3);
    assert_int_equal(count_of(text.data, "\"kind\":\"source\""), 0);
    free(text.data);
    close(fd);
    close(large);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_outermost_call_has_the_name_it_is_assigned_to),
        cmocka_unit_test(a_multiline_call_is_found_from_first_and_last_line),
        cmocka_unit_test(no_name_is_guessed),
        cmocka_unit_test(a_line_is_shown_as_written_and_else_the_call),
        cmocka_unit_test(a_source_precedes_its_first_event_once_in_each_log),
        cmocka_unit_test(an_absolute_path_is_reduced_to_its_last_part),
        cmocka_unit_test(an_unreadable_or_too_large_file_has_no_source_event),
    };
    fy_source_embed("names.c", program, sizeof program - 1);
    return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
