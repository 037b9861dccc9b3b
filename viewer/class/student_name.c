/* student_name.c: see student_name.h. */
#include "student_name.h"

#include <stdbool.h>
#include <string.h>

#include "memory.h"
#include "text.h"

/* Bytes of the character that begins here: 0 for one that is no UTF-8. */
static size_t size_of_character(const unsigned char *p)
{
    size_t room = strnlen((const char *)p, 4);
    for (size_t n = 1; n <= room; n++)
        if (fy_utf8_is_valid((const char *)p, n)) return n;
    return 0;
}

/* A terminal obeys those of two bytes as well. */
static bool is_control(const unsigned char *p) { return *p < ' ' || *p == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0); }

char *student_name(const char *folder)
{
    fy_text name = {0};
    for (const unsigned char *p = (const unsigned char *)folder; *p;) {
        size_t size = size_of_character(p), bytes = size ? size : 1;
        bool is_text = size && !is_control(p) && *p != '\\';
        if (is_text) fy_text_add(&name, (const char *)p, size);
        for (size_t i = 0; i < bytes && !is_text; i++) fy_text_printf(&name, "\\x%02x", p[i]);
        p += bytes;
    }
    fy_text_add(&name, "", 1);
    if (name.lost) memory_fail("a student's name");
    return name.data;
}

void make_printable(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p;) {
        size_t size = size_of_character(p), bytes = size ? size : 1;
        if ((!size || is_control(p)) && *p != '\n') memset(p, size ? ' ' : '?', bytes);
        p += bytes;
    }
}
