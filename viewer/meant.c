/* meant.c: what a beginner may have meant by a line that the compiler refused. Each function looks at the
 * complaint and the line, and either says so or passes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complaint.h"
#include "proofread.h"

static bool say(diagnosis *d, const char *message, const char *hint)
{
    snprintf(d->message, sizeof d->message, "%s", message);
    snprintf(d->hint, sizeof d->hint, "%s", hint);
    return true;
}

#define SAY(field, ...) snprintf(d->field, sizeof d->field, __VA_ARGS__)

/* ---- semicolons -------------------------------------------------------------------------------- */

static char last_letter(const char *line) { return *line ? line[strlen(line) - 1] : '\0'; }

/* gcc complains where the next statement begins: the line before it is the one to mend. */
bool meant_semicolon(const complaint *c, diagnosis *d)
{
    char before[240] = "";
    int line = c->line;
    if (c->col <= c->indent + 1)
        while (line > 1 && !*before) source_line(c->source, --line, before, sizeof before);
    if (!*before || strchr(";{}", last_letter(before))) line = c->line;
    source_line(c->source, line, before, sizeof before);
    if (strchr(";{", last_letter(before))) return false;
    d->line = line;
    return say(d, "a semicolon is missing at the end of this line", "every statement ends in ;");
}

/* ---- tensors are no objects -------------------------------------------------------------------- */

/* Text inside the parentheses that open at p. */
static void inside(const char *p, char *out, int room)
{
    int depth = 0, n = 0;
    for (; p[n]; n++) {
        depth += p[n] == '(' ? 1 : p[n] == ')' ? -1 : 0;
        if (depth == 0) break;
    }
    snprintf(out, (size_t)room, "%.*s", n > 1 ? n - 1 : 0, p + 1);
}

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

static bool explain_method(const complaint *c, diagnosis *d, const char *object, const char *method, const char *after)
{
    char call[64], arguments[96];
    const char *accessor = strstr(c->here, "->") ? "->" : ".";
    snprintf(call, sizeof call, "fy_%.40s", method);
    inside(after, arguments, sizeof arguments);
    SAY(message, "%.40s%s%.40s(%s) is Python: a tensor in C has no methods", object, accessor, method, arguments);
    if (!name_known(c->header, call)) name_nearest(c->header, call, call, sizeof call);
    if (*call) SAY(hint, "write %s(%s%s%s)", call, object, *arguments ? ", " : "", arguments);
    else SAY(hint, "what can be done with a tensor are calls: fy_to(%s, \"cuda\"), fy_add(%s, b) ...", object, object);
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
    SAY(message, "a tensor in C has no fields: '%s' cannot be read with a dot or an arrow", name);
    if (*form) SAY(hint, "write %s", form);
    else
        SAY(hint, "ferry.h lists what can be asked: fy_device(%s), fy_shape_of(%s), fy_size(%s, 0) ...", object, object,
            object);
    return true;
}

/* a.to("cuda"), a->shape */
static bool member(const complaint *c, diagnosis *d)
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

static bool subscript(const complaint *c, diagnosis *d)
{
    char object[48];
    const char *p = strchr(c->here, '[');
    if (!p) return false;
    word_before(c->here, p, object, sizeof object);
    SAY(message, "a tensor is not a C array: '%s[...]' does not reach its elements", object);
    SAY(hint, "fy_select(%s, 0, i) is its i-th row; fy_item(x) is the number in a tensor of one element", object);
    return *object != '\0';
}

/* a + b, a * 2: the operator stands at the complaint's column, or is the first one between two words. */
static bool arithmetic(const complaint *c, diagnosis *d)
{
    char left[48], right[48], call[64] = "";
    int at = c->col - 1 - c->indent;
    const char *p = at >= 0 && at < (int)strlen(c->here) ? c->here + at : c->here;
    if (!*p || !strchr("+-*/%", *p)) {
        p = strchr(c->here, '=');
        p = p ? strpbrk(p, "+-*/%") : NULL;
    }
    if (!p) return false;
    word_before(c->here, p, left, sizeof left);
    word_after(p + 1, right, sizeof right);
    if (!*left || !*right) return false;
    if (*p == '+' || *p == '*')
        snprintf(call, sizeof call, "fy_%s(%.20s, %.20s)", *p == '+' ? "add" : "mul", left, right);
    if (*p == '-') snprintf(call, sizeof call, "fy_add(%.16s, fy_mul(%.16s, -1))", left, right);
    SAY(message, "C cannot compute with tensors by '%c': '%s' and '%s' are handles, not numbers", *p, left, right);
    if (*call) SAY(hint, "write %s", call);
    else SAY(hint, "there is no call for '%c'; ferry.h lists those there are", *p);
    return true;
}

bool meant_not_an_object(const complaint *c, diagnosis *d)
{
    return member(c, d) || subscript(c, d) || arithmetic(c, d);
}

bool meant_operand(const complaint *c, diagnosis *d) { return arithmetic(c, d) || meant_not_an_object(c, d); }

/* ---- names ------------------------------------------------------------------------------------- */

/* A header for what is used without it. */
static bool standard_call(diagnosis *d, const char *name)
{
    static const char *const calls[][2] = {{"printf", "stdio.h"},  {"puts", "stdio.h"},    {"fprintf", "stdio.h"},
                                           {"malloc", "stdlib.h"}, {"free", "stdlib.h"},   {"exit", "stdlib.h"},
                                           {"strcmp", "string.h"}, {"memcpy", "string.h"}, {"memset", "string.h"},
                                           {"strlen", "string.h"}, {"sqrt", "math.h"},     {"sqrtf", "math.h"},
                                           {"assert", "assert.h"}, {"usleep", "unistd.h"}, {"sleep", "unistd.h"}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i][0], name)) continue;
        SAY(message, "'%s' is used, and its header is not included", name);
        SAY(hint, "put #include <%s> at the top of the file", calls[i][1]);
        return true;
    }
    return false;
}

static bool include_missing(diagnosis *d, const complaint *c)
{
    for (const char *p = c->source; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        const char *include = *p == '#' ? strstr(p, "ferry.h") : NULL;
        if (include && include < p + strcspn(p, "\n")) return false;
    }
    return say(d, "ferry.h is not included: the compiler does not know what fy_... is",
               "put #include <ferry.h> as the first line");
}

/* implicit declaration of function '$1' */
bool meant_function_unknown(const complaint *c, diagnosis *d)
{
    const char *name = c->part[0];
    char near[64];
    if (!strncmp(name, "fy_", 3) && include_missing(d, c)) return true;
    if (standard_call(d, name)) return true;
    if (!strcmp(name, "print"))
        return say(d, "C has no print",
                   "fy_print(a) shows a tensor; printf(\"...\\n\") shows text, with #include <stdio.h>");
    name_nearest(c->header, name, near, sizeof near);
    SAY(message, "there is no function '%s'", name);
    if (*near) SAY(hint, "did you mean %s?", near);
    else SAY(hint, "ferry.h lists all calls; they begin with fy_");
    return true;
}

/* "total = fy_zeros((2))": made without saying what it is. */
static bool is_first_use(const complaint *c, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(c->here, name, n)) return false;
    const char *p = c->here + n + strspn(c->here + n, " ");
    return *p == '=' && p[1] != '=';
}

/* '$1' undeclared; $2 is the compiler's suggestion, or "" */
bool meant_name_unknown(const complaint *c, diagnosis *d)
{
    const char *name = c->part[0], *other = c->part[1];
    char call[64];
    snprintf(call, sizeof call, "%.40s(", name);
    if (!strncmp(name, "fy_", 3) && include_missing(d, c)) return true;
    if (!strcmp(name, "cuda") || !strcmp(name, "cpu")) {
        SAY(message, "a device's name is text and stands in quotes: \"%s\"", name);
        SAY(hint, "write \"%s\" instead of %s", name, name);
    } else if (!strcmp(name, "device") || !strcmp(name, "dtype") || !strcmp(name, "name") || !strcmp(name, "copy")) {
        SAY(message, "an option begins with a dot: .%s = ...", name);
        SAY(hint, "for example fy_zeros((2, 3), .device = \"cuda\")");
    } else if (is_first_use(c, name)) {
        SAY(message, "the variable '%s' is used, and was never declared", name);
        SAY(hint, "the first time, say what it is: fy_tensor *%s", c->here);
    } else if (!strcmp(name, "True") || !strcmp(name, "False") || !strcmp(name, "None")) {
        SAY(message, "'%s' is Python", name);
        SAY(hint, "in C: %s", *name == 'T' ? "true" : *name == 'F' ? "false" : "NULL");
    } else if (strstr(c->here, call)) {
        return meant_function_unknown(c, d);
    } else {
        SAY(message, "the name '%s' was never declared", name);
        if (*other && strncmp(other, "fy_", 3)) SAY(hint, "did you mean %s?", other);
        else SAY(hint, "look at its spelling, or declare it before this line: fy_tensor *%s = ...", name);
    }
    return true;
}

/* ---- calls ------------------------------------------------------------------------------------- */

/* The call of the complaint: named by the compiler, or by its note. */
static bool argument_count(const complaint *c, diagnosis *d, const char *words)
{
    char form[96];
    const char *name = *c->macro ? c->macro : c->part[0];
    name_form(c->header, name, form, sizeof form);
    SAY(message, "%s gets too %s arguments here", *name ? name : "this call", words);
    if (*form) SAY(hint, "it is called like this: %s", form);
    else SAY(hint, "ferry.h shows how it is called");
    return true;
}

bool meant_too_few(const complaint *c, diagnosis *d) { return argument_count(c, d, "few"); }

bool meant_too_many(const complaint *c, diagnosis *d) { return argument_count(c, d, "many"); }

/* Nothing where a value should be: fy_to(a) without a target, fy_add(a, ) */
bool meant_value_missing(const complaint *c, diagnosis *d)
{
    const char *p = strstr(c->here, "fy_to(");
    char arguments[96];
    if (!p) return false;
    inside(p + 5, arguments, sizeof arguments);
    if (strchr(arguments, ',')) return false;
    SAY(message, "fy_to is not told where to go");
    SAY(hint, "write fy_to(%s, \"cuda\")", *arguments ? arguments : "a");
    return true;
}

static bool shape_missing(const complaint *c, diagnosis *d)
{
    char name[48];
    const char *p = strstr(c->here, "()");
    if (!p) return false;
    word_before(c->here, p, name, sizeof name);
    if (strncmp(name, "fy_", 3)) return false;
    SAY(message, "%s is not told how large the tensor is", name);
    SAY(hint, "write %s((2, 3)) for 2 rows of 3; %s(()) is a tensor with no dimension, one number", name, name);
    return true;
}

/* An assertion of ferry_call.h: "the shape needs parentheses of its own: fy_zeros((2, 3)); ...". The
 * compiler may show it as C text, quotes and all. */
bool meant_assertion(const complaint *c, diagnosis *d)
{
    char words[240];
    size_t n = 0;
    const char *p = strchr(c->text, '"');
    if (shape_missing(c, d) || meant_value_missing(c, d)) return true;
    for (p = p ? p + 1 : c->text; *p && *p != '"' && n + 1 < sizeof words; p++) {
        if (*p == '\\' && p[1]) p++;
        words[n++] = *p;
    }
    words[n] = '\0';
    char *example = strstr(words, ": ");
    SAY(hint, "write it like this: %s", example ? example + 2 : "as in ferry.h");
    if (example) *example = '\0';
    SAY(message, "%s", words);
    return true;
}
