/* lesson_text_test.c: a lesson's text becomes HTML that a page can be given, whatever its author wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "lesson_text.h"

static void becomes(const char *markdown, const char *html)
{
    char *made = lesson_html(markdown, strlen(markdown));
    assert_string_equal(made, html);
    free(made);
}

static void lacks(const char *markdown, const char *word)
{
    char *made = lesson_html(markdown, strlen(markdown));
    if (strstr(made, word)) fail_msg("%s became %s", markdown, made);
    free(made);
}

static void headings_go_down_a_level(void **state)
{
    (void)state;
    becomes("# The round trip\n\n## Before you run\n\n###### Deep\n",
            "<h2>The round trip</h2>\n<h3>Before you run</h3>\n<h6>Deep</h6>\n");
}

static void text_lists_and_code_are_rendered(void **state)
{
    (void)state;
    becomes("A **fare** and `fy_to(x, \"cuda\")`.\n\n- one\n- two\n\n```c\nint a < b;\n```\n",
            "<p>A <strong>fare</strong> and <code>fy_to(x, &quot;cuda&quot;)</code>.</p>\n<ul>\n<li>one</li>\n"
            "<li>two</li>\n</ul>\n<pre><code class=\"language-c\">int a &lt; b;\n</code></pre>\n");
    becomes("[docs](https://pytorch.org)", "<p><a href=\"https://pytorch.org\">docs</a></p>\n");
}

static void raw_html_is_left_out(void **state)
{
    (void)state;
    lacks("<script>alert(1)</script>\n", "<script");
    lacks("text <img src=x onerror=alert(1)> text\n", "<img");
    lacks("<div onclick=\"alert(1)\">x</div>\n", "onclick");
}

static void links_run_no_code(void **state)
{
    (void)state;
    lacks("[x](javascript:alert(1))", "javascript:");
    lacks("[x](JaVaScRiPt:alert(1))", "alert");
    lacks("<javascript:alert(1)>", "href=\"javascript:");
    lacks("![x](data:text/html;base64,PHNjcmlwdD4=)", "data:");
    lacks("[x](vbscript:msgbox)", "vbscript:");
    lacks("[x](file:///etc/passwd)", "file:");
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
    (void)state;
    char *made = lesson_html("a\xff\0b", 4);
    assert_string_equal(made, "<p>a\xef\xbf\xbd\xef\xbf\xbd"
                              "b</p>\n");
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings_go_down_a_level),
        cmocka_unit_test(text_lists_and_code_are_rendered),
        cmocka_unit_test(raw_html_is_left_out),
        cmocka_unit_test(links_run_no_code),
        cmocka_unit_test(bytes_that_are_no_text_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
