/* student_name.c: see student_name.h. */
#include "student_name.h"

#include <stdbool.h>
#include <string.h>

#include "memory.h"
#include "text.h"

/* Bytes of the character that begins here: 0 for one that is no UTF-8 (overlong forms and surrogates among them). */
static size_t size_of_character(const unsigned char *p)
{
    static const struct {
        unsigned char first, last; /* of the first byte */
        unsigned char from, to;    /* of the second */
        size_t size;
    } forms[] = {{0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (*p < forms[i].first || *p > forms[i].last) continue;
        if (forms[i].size > 1 && (p[1] < forms[i].from || p[1] > forms[i].to)) return 0;
        for (size_t k = 2; k < forms[i].size; k++)
            if ((p[k] & 0xc0) != 0x80) return 0;
        return forms[i].size;
    }
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
