/* npy_header.c: reads and writes the header of a .npy file. The input is untrusted: every read is bounds-checked, and
 * anything not understood is an error. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dtype.h"
#include "npy.h"

enum { HOST_IS_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

static const struct {
    char code[4]; /* kind and bytes, as NumPy writes them */
    fy_dtype dtype;
} types[] = {
    {"f4", FY_FLOAT32}, {"f8", FY_FLOAT64}, {"f2", FY_FLOAT16}, {"i8", FY_INT64},
    {"i4", FY_INT32},   {"u1", FY_UINT8},   {"b1", FY_BOOL},
};

bool fy_npy_wrong(fy_npy *h, const char *fix, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(h->wrong, sizeof h->wrong, format, list);
    va_end(list);
    snprintf(h->fix, sizeof h->fix, "%s", fix);
    return false;
}

/* ---- reading ---- */

typedef struct cursor {
    const char *p, *end;
    fy_npy *h;
    bool descr, order, shape; /* keys seen */
} cursor;

static bool fail_syntax(cursor *c, const char *expected)
{
    char near[24];
    size_t n = 0;
    for (const char *p = c->p; p < c->end && n < sizeof near - 1; p++)
        near[n++] = *p >= ' ' && *p < 127 && *p != '\'' ? *p : '?';
    near[n] = 0;
    return fy_npy_wrong(c->h, "write it again with np.save", "has a malformed header: expected %s before '%s'",
                        expected, near);
}

static void skip_blanks(cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r')) c->p++;
}

/* Consumes `wanted` if it is the next character after blanks. */
static bool accept(cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->p == c->end || *c->p != wanted) return false;
    c->p++;
    return true;
}

static bool accept_word(cursor *c, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0) return false;
    c->p += n;
    return true;
}

/* 'text' or "text" of at most room - 1 characters. */
static bool read_string(cursor *c, char *buf, size_t room)
{
    char quote = accept(c, '\'') ? '\'' : accept(c, '"') ? '"' : 0;
    size_t n = 0;
    if (!quote) return fail_syntax(c, "a quoted string");
    for (; c->p < c->end && *c->p != quote; c->p++) {
        if (*c->p == '\\' || *c->p < ' ' || n == room - 1) return fail_syntax(c, "a short string without escapes");
        buf[n++] = *c->p;
    }
    buf[n] = 0;
    return accept(c, quote) || fail_syntax(c, "a closing quote");
}

/* The dtype: an optional byte order, then kind and bytes. */
static bool read_descr(cursor *c)
{
    char text[32];
    if (accept(c, '['))
        return fy_npy_wrong(c->h, "save a single field: np.save(path, a['name'])",
                            "holds records (a structured dtype), not plain numbers");
    if (!read_string(c, text, sizeof text)) return false;
    bool has_order = text[0] && strchr("<>=|", text[0]);
    const char *code = text + has_order;
    c->h->swapped = has_order && text[0] == (HOST_IS_BIG ? '<' : '>');
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].code, code) != 0) continue;
        c->h->dtype = types[i].dtype;
        return true;
    }
    if (*code == 'O')
        return fy_npy_wrong(c->h, "convert them to numbers first: np.save(path, a.astype('float32'))",
                            "holds Python objects (dtype '%s'), not numbers", text);
    return fy_npy_wrong(c->h,
                        "convert it first: np.save(path, a.astype('float32')), or 'float64', 'float16', 'int64', "
                        "'int32', 'uint8', 'bool'",
                        "holds elements of dtype '%s', which Ferry does not have", text);
}

static bool read_size(cursor *c)
{
    fy_shape *s = &c->h->shape;
    bool negative = accept(c, '-'), huge = false;
    int64_t n = 0;
    const char *first = c->p;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
        huge |= __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *c->p - '0', &n);
    int digits = c->p - first < 40 ? (int)(c->p - first) : 40;
    if (digits == 0) return fail_syntax(c, "a size");
    if (negative || huge)
        return fy_npy_wrong(c->h, "write it again with np.save", "has the size %s%.*s in its shape: %s",
                            negative ? "-" : "", digits, first,
                            negative ? "a size must be 0 or more" : "larger than an int64");
    if (s->ndim == FY_MAX_DIMS)
        return fy_npy_wrong(c->h, "merge some first: np.save(path, a.reshape(...))",
                            "has more than %d dimensions, the maximum of a tensor", FY_MAX_DIMS);
    s->dims[s->ndim++] = n;
    accept(c, 'L'); /* Python 2 writes long integers as 3L */
    return true;
}

/* (), (3,), (3, 4) */
static bool read_shape(cursor *c)
{
    c->h->shape = (fy_shape){0};
    if (!accept(c, '(')) return fail_syntax(c, "a shape in parentheses");
    while (!accept(c, ')')) {
        if (!read_size(c)) return false;
        if (accept(c, ',')) continue;
        if (c->h->shape.ndim == 1) return fail_syntax(c, "a comma");
        return accept(c, ')') || fail_syntax(c, "a comma or a parenthesis");
    }
    return true;
}

static bool read_entry(cursor *c)
{
    char key[32];
    if (!read_string(c, key, sizeof key)) return false;
    if (!accept(c, ':')) return fail_syntax(c, "a colon");
    bool *seen = !strcmp(key, "descr")           ? &c->descr
                 : !strcmp(key, "fortran_order") ? &c->order
                 : !strcmp(key, "shape")         ? &c->shape
                                                 : NULL;
    if (!seen || *seen)
        return fy_npy_wrong(c->h, "write it again with np.save", "has %s '%s' in its header",
                            seen ? "a second" : "an unknown key", key);
    *seen = true;
    if (seen == &c->descr) return read_descr(c);
    if (seen == &c->shape) return read_shape(c);
    c->h->fortran = accept_word(c, "True");
    return c->h->fortran || accept_word(c, "False") || fail_syntax(c, "True or False");
}

bool fy_npy_read_header(const char *text, size_t n, fy_npy *h)
{
    cursor c = {.p = text, .end = text + n, .h = h};
    *h = (fy_npy){0};
    if (!accept(&c, '{')) return fail_syntax(&c, "a brace");
    while (!accept(&c, '}')) {
        if (!read_entry(&c)) return false;
        if (accept(&c, ',')) continue;
        if (!accept(&c, '}')) return fail_syntax(&c, "a comma or a brace");
        break;
    }
    skip_blanks(&c);
    if (c.p < c.end) return fail_syntax(&c, "the end of the header");
    if (c.descr && c.order && c.shape) return true;
    return fy_npy_wrong(h, "write it again with np.save", "has no '%s' in its header",
                        !c.descr   ? "descr"
                        : !c.order ? "fortran_order"
                                   : "shape");
}

/* ---- writing ---- */

/* Version 1, little-endian; padded with blanks so that the data starts at a multiple of 64 bytes. */
size_t fy_npy_write_header(fy_dtype dtype, const fy_shape *shape, char *buf)
{
    enum { FIXED = 10, ALIGN = 64 };
    char *text = buf + FIXED;
    size_t type = 0;
    while (types[type].dtype != dtype) type++;
    int n = sprintf(text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", fy_dtype_size(dtype) == 1 ? '|' : '<',
                    types[type].code);
    for (int i = 0; i < shape->ndim; i++) n += sprintf(text + n, "%s%lld", i ? ", " : "", (long long)shape->dims[i]);
    n += sprintf(text + n, "%s), }", shape->ndim == 1 ? "," : "");
    while ((FIXED + n + 1) % ALIGN) text[n++] = ' ';
    text[n++] = '\n';
    memcpy(buf, "\x93NUMPY\1\0", 8);
    buf[8] = (char)(n & 255);
    buf[9] = (char)(n >> 8);
    return (size_t)(FIXED + n);
}
