/* fix_names.c: a name that the compiler does not know. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "diagnostic.h"

/* A standard function whose header is not included. */
static bool standard_call(diagnosis *d, const char *name)
{
    static const char *const calls[][2] = {{"printf", "stdio.h"},  {"puts", "stdio.h"},    {"fprintf", "stdio.h"},
                                           {"malloc", "stdlib.h"}, {"free", "stdlib.h"},   {"exit", "stdlib.h"},
                                           {"strcmp", "string.h"}, {"memcpy", "string.h"}, {"memset", "string.h"},
                                           {"strlen", "string.h"}, {"sqrt", "math.h"},     {"sqrtf", "math.h"},
                                           {"assert", "assert.h"}, {"usleep", "unistd.h"}, {"sleep", "unistd.h"}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i][0], name)) continue;
        SET(message, "'%s' is used but its header is not included", name);
        SET(hint, "put #include <%s> at the top of the file", calls[i][1]);
        return true;
    }
    return false;
}

static bool include_missing(diagnosis *d, const diagnostic *c)
{
    for (const char *p = c->source; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        const char *include = *p == '#' ? strstr(p, "ferry.h") : NULL;
        if (include && include < p + strcspn(p, "\n")) return false;
    }
    return diagnosis_set(d, "ferry.h is not included: the compiler does not know what fy_... is",
                         "put #include <ferry.h> as the first line");
}

/* implicit declaration of function '$1' */
bool fix_function_unknown(const diagnostic *c, diagnosis *d)
{
    const char *name = c->part[0];
    char near[64];
    if (!strncmp(name, "fy_", 3) && include_missing(d, c)) return true;
    if (standard_call(d, name)) return true;
    if (!strcmp(name, "print"))
        return diagnosis_set(d, "C has no print",
                             "fy_print(a) shows a tensor; printf(\"...\\n\") shows text, with #include <stdio.h>");
    name_nearest(c->header, name, near, sizeof near);
    SET(message, "there is no function '%s'", name);
    if (*near) SET(hint, "did you mean %s?", near);
    else SET(hint, "ferry.h lists all calls; they begin with fy_");
    return true;
}

/* Names from Python, and their counterparts. */
static const struct {
    const char *name, *message, *hint;
} foreign[] = {
    {"cuda", "a device's name is text and goes in quotes: \"cuda\"", "write \"cuda\" instead of cuda"},
    {"cpu", "a device's name is text and goes in quotes: \"cpu\"", "write \"cpu\" instead of cpu"},
    {"device", "an option begins with a dot: .device = ...", "for example fy_zeros((2, 3), .device = \"cuda\")"},
    {"dtype", "an option begins with a dot: .dtype = ...", "for example fy_zeros((2, 3), .dtype = FY_INT64)"},
    {"name", "an option begins with a dot: .name = ...", "for example fy_zeros((2, 3), .name = \"weights\")"},
    {"copy", "an option begins with a dot: .copy = ...", "for example fy_to(a, \"cpu\", .copy = true)"},
    {"non_blocking", "an option begins with a dot: .non_blocking = ...",
     "for example fy_to(a, \"cuda\", .non_blocking = true)"},
    {"pin_memory", "an option begins with a dot: .pin_memory = ...",
     "for example fy_zeros((2, 3), .pin_memory = true)"},
    {"keepdim", "an option begins with a dot: .keepdim = ...", "for example fy_sum(a, (1), .keepdim = true)"},
    {"dim", "the dimensions are a plain list, not a named option", "for example fy_sum(a, (1))"},
    {"torch", "'torch.' is Python", "in C the calls begin with fy_: fy_zeros((2, 3)), fy_matmul(a, b)"},
    {"np", "'np.' is Python", "in C the calls begin with fy_: fy_zeros((2, 3)), fy_matmul(a, b)"},
    {"True", "'True' is Python", "in C: true"},
    {"False", "'False' is Python", "in C: false"},
    {"None", "'None' is Python", "in C: NULL"},
    {"tensor", "the compiler does not know the type 'tensor'", "it is called fy_tensor: fy_tensor *a = ..."},
    {"string", "C has no type 'string'", "text is const char *, as in const char *device = \"cuda\""},
};

/* fy_given(mat1) */
static bool wants_quotes(const diagnostic *c, diagnosis *d, const char *name)
{
    char given[64], answer[64];
    snprintf(given, sizeof given, "fy_given(%.40s)", name);
    snprintf(answer, sizeof answer, "fy_answer(%.40s,", name);
    if (!strstr(c->here, given) && !strstr(c->here, answer)) return false;
    SET(message, "a name is text and goes in quotes: \"%s\"", name);
    SET(hint, "write \"%s\" instead of %s", name, name);
    return true;
}

/* fy.ones((2)) */
bool fix_dot(const diagnostic *c, diagnosis *d)
{
    char name[48], arguments[96];
    const char *p = strstr(c->here, "fy.");
    if (!p || (p > c->here && (isalnum((unsigned char)p[-1]) || p[-1] == '_'))) return false;
    word_after(p + 3, name, sizeof name);
    text_in_parentheses(p + 3 + strlen(name), arguments, sizeof arguments);
    SET(message, "fy_%s is one name, with an underscore, not a dot", name);
    SET(hint, "write fy_%s(%s)", name, arguments);
    return *name && p[3 + strlen(name)] == '(';
}

/* fy_to(x, .device = "cuda") */
bool fix_device(const diagnostic *c, diagnosis *d)
{
    char to[40] = "cuda", name[48];
    const char *call = strstr(c->here, "fy_to("), *p = call ? strstr(call, ".device") : NULL;
    if (!p) return false;
    word_after(call + 6, name, sizeof name);
    const char *quote = strchr(p, '"');
    if (quote) snprintf(to, sizeof to, "%.*s", (int)strcspn(quote + 1, "\""), quote + 1);
    SET(message, "fy_to takes the device as its second argument, without .device");
    SET(hint, "write fy_to(%s, \"%s\")", *name ? name : "x", to);
    return true;
}

/* '$1' undeclared; $2 is the compiler's suggestion, or "" */
bool fix_name_unknown(const diagnostic *c, diagnosis *d)
{
    const char *name = c->part[0], *other = c->part[1];
    char call[64], argument[48] = "";
    if (!strncmp(name, "fy_", 3) && include_missing(d, c)) return true;
    if (fix_dot(c, d)) return true;
    if (wants_quotes(c, d, name) || fix_python_dtype(c, d) || fix_dtype_name(name, d)) return true;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (!strcmp(foreign[i].name, name)) return diagnosis_set(d, foreign[i].message, foreign[i].hint);
    snprintf(call, sizeof call, "%.40s(", name);
    if (strstr(c->here, call)) return fix_function_unknown(c, d);

    const char *at = strstr(c->here, name), *after = at ? at + strlen(name) : "";
    const char *next = after + strspn(after, " ");
    if (name_known(c->header, name)) { /* fy_cuda x */
        word_after(after, argument, sizeof argument);
        SET(message, "%s is a call, and its arguments go in parentheses", name);
        if (*argument) SET(hint, "write %s(%s)", name, argument);
        else SET(hint, "ferry.h shows how it is called");
    } else if (at == c->here && *next == '=' && next[1] != '=') { /* total = fy_zeros((2)) */
        SET(message, "the variable '%s' is used but never declared", name);
        SET(hint, "declare it with its type: fy_tensor *%s", c->here);
    } else {
        SET(message, "the name '%s' was never declared", name);
        if (*other && strncmp(other, "fy_", 3) && strcmp(other, "main")) SET(hint, "did you mean %s?", other);
        else SET(hint, "check its spelling, or declare it before this line: fy_tensor *%s = ...", name);
    }
    return true;
}
