/* text.c: growing text, JSON strings and numbers.
 *
 * A text that cannot grow keeps what it has, ignores further additions and sets `lost`: running out of memory while
 * formatting a trace must not end the program. */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for n more bytes and a terminating zero. */
static bool grow(fy_text *t, size_t n)
{
    if (t->lost) return false;
    if (t->room - t->size > n) return true;
    if (n > SIZE_MAX / 4 || t->size > SIZE_MAX / 4) return !(t->lost = true);
    size_t room = t->room ? t->room : 256;
    while (room - t->size <= n) room *= 2;
    char *data = realloc(t->data, room);
    if (!data) return !(t->lost = true);
    t->data = data;
    t->room = room;
    return true;
}

void fy_text_add(fy_text *t, const char *s, size_t n)
{
    if (!grow(t, n)) return;
    if (n) memcpy(t->data + t->size, s, n);
    t->size += n;
    t->data[t->size] = 0;
}

void fy_text_str(fy_text *t, const char *s) { fy_text_add(t, s, strlen(s)); }

void fy_text_printf(fy_text *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0 && grow(t, (size_t)n)) {
        vsnprintf(t->data + t->size, (size_t)n + 1, format, again);
        t->size += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

void fy_text_int(fy_text *t, int64_t value)
{
    char digits[24], *p = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do *--p = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) *--p = '-';
    fy_text_add(t, p, (size_t)(digits + sizeof digits - p));
}

/* The fewest digits that parse back to the same double, with a '.' in every locale. JSON has no infinities and no NaN:
 * they are strings. */
void fy_text_real(fy_text *t, double value)
{
    char digits[40];
    if (isnan(value)) return fy_text_str(t, "\"nan\"");
    if (isinf(value)) return fy_text_str(t, value < 0 ? "\"-inf\"" : "\"inf\"");
    bool whole = fabs(value) < 1e15 && value == (double)(int64_t)value && !(value == 0 && signbit(value));
    if (whole) return fy_text_int(t, (int64_t)value);

    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    for (const char *p = digits; *p;) {
        size_t plain = strspn(p, "0123456789+-e");
        fy_text_add(t, p, plain);
        p += plain;
        if (!*p) break;
        fy_text_add(t, ".", 1);
        p += strcspn(p, "0123456789+-e");
    }
}

/* Length of the UTF-8 sequence at s, at most n bytes; 0 if invalid (overlong, surrogate, truncated ...). */
static size_t utf8(const unsigned char *s, size_t n)
{
    size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (!length || length > n) return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    bool low = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool high = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return low || high ? 0 : length;
}

bool fy_utf8_is_valid(const char *s, size_t n)
{
    for (size_t i = 0, length; i < n; i += length)
        if (!(length = utf8((const unsigned char *)s + i, n - i))) return false;
    return true;
}

void fy_text_utf8(fy_text *t, const char *s, size_t n)
{
    for (size_t i = 0, length; i < n; i += length ? length : 1) {
        length = utf8((const unsigned char *)s + i, n - i);
        fy_text_add(t, length ? s + i : "\xef\xbf\xbd", length ? length : 3);
    }
}

static void escaped(fy_text *t, unsigned char c)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *p = letters; *p; p += 2) {
        if (c != (unsigned char)*p) continue;
        fy_text_add(t, (const char[]){'\\', p[1]}, 2);
        return;
    }
    fy_text_printf(t, "\\u%04x", c);
}

void fy_text_json(fy_text *t, const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s, *end = p + n;
    fy_text_add(t, "\"", 1);
    while (p < end) {
        const unsigned char *plain = p;
        while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\') p++;
        fy_text_add(t, (const char *)plain, (size_t)(p - plain));
        if (p == end) break;
        size_t length = utf8(p, (size_t)(end - p));
        if (length == 1) escaped(t, *p);
        else if (length) fy_text_add(t, (const char *)p, length);
        else fy_text_str(t, "\xef\xbf\xbd");
        p += length ? length : 1;
    }
    fy_text_add(t, "\"", 1);
}
