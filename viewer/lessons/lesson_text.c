/* lesson_text.c: Markdown to HTML, by cmark. */
#include "lesson_text.h"

#include <cmark.h>

#include "memory.h"

static void lower_headings(cmark_node *document)
{
    for (cmark_node *n = cmark_node_first_child(document); n; n = cmark_node_next(n)) {
        int level = cmark_node_get_heading_level(n); /* 0: no heading */
        if (level > 0 && level < 6) cmark_node_set_heading_level(n, level + 1);
    }
}

char *lesson_html(const char *markdown, size_t size)
{
    cmark_node *document = cmark_parse_document(markdown, size, CMARK_OPT_VALIDATE_UTF8);
    if (!document) memory_fail("a lesson's text");
    lower_headings(document);
    char *html = cmark_render_html(document, CMARK_OPT_SAFE);
    cmark_node_free(document);
    if (!html) memory_fail("a lesson's text");
    return html;
}
