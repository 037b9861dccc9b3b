/* json_scan.c: finds values by skipping over them. */
#include "json_scan.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const char *after_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) p++;
    return p;
}

static const char *after_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++) p += *p == '\\';
    return p < end ? p + 1 : end;
}

static const char *after_value(const char *p, const char *end)
{
    if (p < end && *p == '"') return after_string(p, end);
    if (p == end || (*p != '{' && *p != '[')) {
        while (p < end && *p != ',' && *p != ']' && *p != '}' && *p != ' ' && *p != '\t') p++;
        return p;
    }
    for (int depth = 0; p < end;) {
        if (*p == '"') {
            p = after_string(p, end);
            continue;
        }
        depth += *p == '{' || *p == '[';
        depth -= *p == '}' || *p == ']';
        p++;
        if (!depth) break;
    }
    return p;
}

json json_of(const char *text, size_t size)
{
    const char *at = after_blanks(text, text + size);
    return (json){at, (size_t)(after_value(at, text + size) - at)};
}

static json next_value(const char **p, const char *end)
{
    const char *from = after_blanks(*p, end);
    *p = after_value(from, end);
    return (json){from, (size_t)(*p - from)};
}

bool json_next(json *rest, json *key, json *item)
{
    if (!rest->size) return false;
    const char *end = rest->at + rest->size, *p = after_blanks(rest->at, end);
    char opens = p < end ? *p : 0; /* { or [ at first, then a comma */
    if (opens != '{' && opens != '[' && opens != ',') return false;
    p = after_blanks(p + 1, end);
    if (p == end || *p == '}' || *p == ']') return false;
    *item = next_value(&p, end);
    const char *colon = after_blanks(p, end);
    if (colon < end && *colon == ':') {
        if (key) *key = *item;
        p = colon + 1;
        *item = next_value(&p, end);
    }
    *rest = (json){p, (size_t)(end - p)};
    return true;
}

bool json_is(json string, const char *text)
{
    size_t n = strlen(text);
    return string.size == n + 2 && *string.at == '"' && !memcmp(string.at + 1, text, n);
}

json json_member(json object, const char *name)
{
    json key, item;
    if (json_type(object) == '{')
        while (json_next(&object, &key, &item))
            if (json_is(key, name)) return item;
    return (json){0};
}

size_t json_count(json list)
{
    json item;
    size_t n = 0;
    while (json_next(&list, NULL, &item)) n++;
    return n;
}

/* ---- strings ---- */

bool json_has_escapes(json string) { return memchr(string.at, '\\', string.size) != NULL; }

static uint32_t hex4(const char *p)
{
    char digits[5] = {p[0], p[1], p[2], p[3], 0};
    return (uint32_t)strtoul(digits, NULL, 16);
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) return *to = (char)c, 1;
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; c >>= 6) to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(lead[n] | c);
    return n;
}

/* The code point of the \uXXXX or surrogate pair at *p; UINT32_MAX: an unpaired surrogate. */
static uint32_t unicode(const char **p, const char *end)
{
    uint32_t c = hex4(*p + 2);
    *p += 6;
    if (c < 0xd800 || c > 0xdfff) return c;
    uint32_t low = end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u' ? hex4(*p + 2) : 0;
    if (c > 0xdbff || low < 0xdc00 || low > 0xdfff) return UINT32_MAX;
    *p += 6;
    return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

bool json_unescape(json string, char *to, size_t *size)
{
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    const char *p = string.at + 1, *end = string.at + string.size - 1;
    char *at = to;
    while (p < end) {
        if (*p != '\\') {
            *at++ = *p++;
        } else if (p[1] == 'u') {
            uint32_t c = unicode(&p, end);
            if (c == UINT32_MAX) return false;
            at += put_utf8(at, c);
        } else {
            const char *letter = strchr(letters, p[1]);
            *at++ = letter ? controls[letter - letters] : p[1];
            p += 2;
        }
    }
    *size = (size_t)(at - to);
    return true;
}

/* ---- numbers ---- */

/* strtod needs a terminated string, and the decimal point of the locale. */
static double real(json number)
{
    char text[400];
    size_t n = number.size < sizeof text ? number.size : sizeof text - 1;
    memcpy(text, number.at, n);
    text[n] = 0;
    char *point = strchr(text, '.');
    if (point) *point = *localeconv()->decimal_point;
    return strtod(text, NULL);
}

double json_number(json number)
{
    int64_t n = 0;
    size_t i = *number.at == '-';
    if (number.size > 17) return real(number);
    for (; i < number.size; i++) {
        if (number.at[i] < '0' || number.at[i] > '9') return real(number);
        n = 10 * n + (number.at[i] - '0');
    }
    return *number.at != '-' ? (double)n : -(double)n; /* keeps -0 */
}
