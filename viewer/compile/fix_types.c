/* fix_types.c: a line that treats a tensor as an object, an array or a number. In C a tensor is a handle,
 * and every operation is a call. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostic.h"

static const struct {
    const char *python, *c;
} attributes[] = {
    {"shape", "fy_shape_of(%s)"},
    {"size", "fy_shape_of(%s)"},
    {"device", "fy_device(%s)"},
    {"dtype", "fy_dtype_of(%s)"},
    {"ndim", "fy_dim(%s)"},
    {"dim", "fy_dim(%s)"},
    {"T", "fy_t(%s)"},
    {"is_cuda", "fy_is_cuda(%s)"},
    {"data", "fy_data(%s)"},
};

static bool explain_method(const diagnostic *c, diagnosis *d, const char *object, const char *method, const char *after)
{
    char call[64], arguments[96];
    const char *accessor = strstr(c->here, "->") ? "->" : ".";
    snprintf(call, sizeof call, "fy_%.40s", method);
    text_in_parentheses(after, arguments, sizeof arguments);
    SET(message, "%.40s%s%.40s(%s) is Python: a tensor in C has no methods", object, accessor, method, arguments);
    if (!name_known(c->header, call)) name_nearest(c->header, call, call, sizeof call);
    if (*call) SET(hint, "write %s(%s%s%s)", call, object, *arguments ? ", " : "", arguments);
    else SET(hint, "every operation on a tensor is a call: fy_to(%s, \"cuda\"), fy_add(%s, b) ...", object, object);
    return true;
}

static bool explain_attribute(diagnosis *d, const char *object, const char *name)
{
    char form[64] = "";
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (strcmp(attributes[i].python, name)) continue;
        const char *blank = strstr(attributes[i].c, "%s");
        snprintf(form, sizeof form, "%.*s%.40s%s", (int)(blank - attributes[i].c), attributes[i].c, object, blank + 2);
    }
    SET(message, "a tensor in C has no fields: '%s' cannot be read with a dot or an arrow", name);
    if (*form) SET(hint, "write %s", form);
    else
        SET(hint, "ferry.h lists the calls that read it: fy_device(%s), fy_shape_of(%s), fy_size(%s, 0) ...", object,
            object, object);
    return true;
}

/* a.to("cuda"), a->shape */
static bool member(const diagnostic *c, diagnosis *d)
{
    for (const char *p = c->here; (p = strpbrk(p, ".-")); p++) {
        if (*p == '-' && p[1] != '>') continue;
        char object[48], name[48];
        const char *field = p + (*p == '-' ? 2 : 1);
        word_before(c->here, p, object, sizeof object);
        word_after(field, name, sizeof name);
        if (!*object || isdigit((unsigned char)*object) || !*name) continue;
        field += strspn(field, " ") + strlen(name);
        return *field == '(' ? explain_method(c, d, object, name, field) : explain_attribute(d, object, name);
    }
    return false;
}

static bool subscript(const diagnostic *c, diagnosis *d)
{
    char object[48];
    const char *p = strchr(c->here, '[');
    if (!p) return false;
    word_before(c->here, p, object, sizeof object);
    SET(message, "a tensor is not a C array: '%s[...]' does not reach its elements", object);
    SET(hint, "fy_select(%s, 0, i) is its i-th row; fy_item(x) is the number in a tensor of one element", object);
    return *object != '\0';
}

/* Suggests x * 0.5 for x / 2, and x * (1.0 / 3) for x / 3: exact decimals are written out. */
static void divide_by_number(char *call, size_t room, const char *left, const char *right)
{
    double n = strtod(right, NULL), inverse = n > 0 ? 1e4 / n : 0.5;
    if (n <= 0) return;
    if (inverse >= 1 && inverse == floor(inverse)) snprintf(call, room, "fy_mul(%.20s, %g)", left, inverse / 1e4);
    else snprintf(call, room, "fy_mul(%.20s, 1.0 / %g)", left, n);
}

/* a + b, a * 2: the operator is at the diagnostic's column, or is the first after the =. */
static bool arithmetic(const diagnostic *c, diagnosis *d)
{
    char left[48], right[48], call[64] = "";
    int at = c->col - 1 - c->indent;
    const char *p = at >= 0 && at < (int)strlen(c->here) ? c->here + at : c->here;
    if (!*p || !strchr("+-*/%", *p)) {
        const char *equals = strchr(c->here, '=');
        p = equals && equals > c->here && strchr("+-*/%", equals[-1]) ? equals - 1
            : equals                                                  ? strpbrk(equals, "+-*/%")
                                                                      : NULL;
    }
    if (!p) return false;
    word_before(c->here, p, left, sizeof left);
    word_after(p + (p[1] == '=' ? 2 : 1), right, sizeof right); /* a += 1 as well */
    if (!*left || !*right) return false;
    if (*p == '+' || *p == '*')
        snprintf(call, sizeof call, "fy_%s(%.20s, %.20s)", *p == '+' ? "add" : "mul", left, right);
    if (*p == '/') divide_by_number(call, sizeof call, left, p + (p[1] == '=' ? 2 : 1));
    if (*p == '-') snprintf(call, sizeof call, "fy_add(%.16s, fy_mul(%.16s, -1))", left, right);
    SET(message, "C has no operator '%c' for tensors: a tensor is a handle, not a number", *p);
    if (*call) SET(hint, "write %s%s%s", p[1] == '=' ? left : "", p[1] == '=' ? " = " : "", call);
    else SET(hint, "Ferry has no call for '%c'; ferry.h lists the ones it has", *p);
    return true;
}

/* fy_print(*a) */
static bool dereference(const diagnostic *c, diagnosis *d)
{
    char name[48], before[8];
    const char *p = strchr(c->here, '*');
    if (!p) return false;
    word_after(p + 1, name, sizeof name);
    word_before(c->here, p, before, sizeof before);
    if (!*name || *before) return false;
    SET(message, "calls take the pointer itself, without a * in front");
    SET(hint, "write %s instead of *%s", name, name);
    return true;
}

/* The name in "fy_tensor x = ..." or "fy_tensor **x = ...". */
static bool declared(const diagnostic *c, char *name, int room)
{
    const char *p = strstr(c->here, "fy_tensor");
    *name = '\0';
    if (!p) return false;
    p += strlen("fy_tensor");
    word_after(p + strspn(p, " *"), name, room);
    return *name != '\0';
}

bool fix_star(const diagnostic *c, diagnosis *d)
{
    char name[48];
    if (!declared(c, name, sizeof name)) snprintf(name, sizeof name, "a");
    SET(message, "the star is missing: a tensor variable is a pointer");
    SET(hint, "write fy_tensor *%s = ...", name);
    return true;
}

bool fix_stars(const diagnostic *c, diagnosis *d)
{
    char name[48];
    if (!declared(c, name, sizeof name)) return false;
    SET(message, "there is one star too many: a tensor variable is a pointer, not a pointer to a pointer");
    SET(hint, "write fy_tensor *%s = ...", name);
    return true;
}

bool fix_not_an_object(const diagnostic *c, diagnosis *d)
{
    return member(c, d) || subscript(c, d) || dereference(c, d) || arithmetic(c, d);
}

bool fix_operand(const diagnostic *c, diagnosis *d) { return arithmetic(c, d) || fix_not_an_object(c, d); }
