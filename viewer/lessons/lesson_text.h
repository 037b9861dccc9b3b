/* lesson_text.h: a lesson's text, Markdown, as HTML for the page. cmark makes it, in its safe mode: of raw HTML only a
 * comment is left, and links lead only where a page may go (no javascript:, vbscript:, file: or data:). */
#ifndef FERRY_LESSON_TEXT_H
#define FERRY_LESSON_TEXT_H

#include <stddef.h>

/* Headings go down a level, since the page has a title of its own. The caller frees it. */
char *lesson_html(const char *markdown, size_t size);

#endif
