/* json.c: validates that bytes are one JSON value, since JSON text in a log may come from a damaged file. Accepts RFC
 * 8259 without newlines, to a nesting depth of 32. */
#include "text.h"

#include <string.h>

typedef struct input {
    const char *at, *end;
} input;

static bool value(input *in, int depth);

static void blanks(input *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t')) in->at++;
}

static bool take(input *in, char c)
{
    blanks(in);
    if (in->at == in->end || *in->at != c) return false;
    in->at++;
    return true;
}

static bool word(input *in, const char *w)
{
    size_t n = strlen(w);
    if ((size_t)(in->end - in->at) < n || memcmp(in->at, w, n)) return false;
    in->at += n;
    return true;
}

/* After a backslash. */
static bool escape(input *in)
{
    if (in->at == in->end) return false;
    char c = *in->at++;
    if (c != 'u') return c && strchr("\"\\/bfnrt", c);
    for (int i = 0; i < 4; i++, in->at++)
        if (in->at == in->end || !*in->at || !strchr("0123456789abcdefABCDEF", *in->at)) return false;
    return true;
}

static bool string(input *in)
{
    if (!take(in, '"')) return false;
    while (in->at < in->end) {
        unsigned char c = (unsigned char)*in->at++;
        if (c == '"') return true;
        if (c < 0x20 || (c == '\\' && !escape(in))) return false;
    }
    return false;
}

static bool digits(input *in)
{
    const char *from = in->at;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9') in->at++;
    return in->at > from;
}

static bool number(input *in)
{
    word(in, "-");
    if (!word(in, "0") && !digits(in)) return false;
    if (word(in, ".") && !digits(in)) return false;
    if (!word(in, "e") && !word(in, "E")) return true;
    if (!word(in, "+")) word(in, "-");
    return digits(in);
}

static bool items(input *in, char close, int depth)
{
    if (take(in, close)) return true;
    do {
        if (close == '}' && (!string(in) || !take(in, ':'))) return false;
        if (!value(in, depth + 1)) return false;
    } while (take(in, ','));
    return take(in, close);
}

static bool value(input *in, int depth)
{
    blanks(in);
    if (depth > 32 || in->at == in->end) return false;
    switch (*in->at) {
    case '{': in->at++; return items(in, '}', depth);
    case '[': in->at++; return items(in, ']', depth);
    case '"': return string(in);
    case 't': return word(in, "true");
    case 'f': return word(in, "false");
    case 'n': return word(in, "null");
    default: return number(in);
    }
}

bool fy_json_is_well_formed(const char *s, size_t n)
{
    input in = {s, s + n};
    if (!fy_utf8_is_valid(s, n) || !value(&in, 0)) return false;
    blanks(&in);
    return in.at == in.end;
}
