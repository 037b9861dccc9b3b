/* rules.c: what gcc and clang say, and what it means to a beginner. A rule is a pattern in which * stands
 * for anything, and the plain words; $1, $2 ... are what the first, the second * stood for. A rule with a
 * function (meant.c) looks at the line as well, and may pass. */
#include <stdio.h>
#include <string.h>

#include "complaint.h"

typedef struct rule {
    const char *pattern, *message, *hint;
    bool (*look)(const complaint *c, diagnosis *d);
} rule;

/* ---- the rules, tried in this order ------------------------------------------------------------- */

static const rule rules[] = {
    {"static assertion failed: \"*", NULL, NULL, meant_assertion},
    {"static_assert failed \"*", NULL, NULL, meant_assertion},
    {"static assertion failed due to requirement *", NULL, NULL, meant_assertion},
    {"expected ',' or ';'*", NULL, NULL, meant_semicolon},
    {"expected ';'*", NULL, NULL, meant_semicolon},
    {"expected '=', ',', ';', 'asm'*", NULL, NULL, meant_semicolon},
    {"extraneous ')'*", "there is one ) too many on this line", "count them: every ) needs its (", NULL},
    {"*has no member named '*'; did you mean '*'?", "there is no option '.$2'", "did you mean .$3?", NULL},
    {"'fy_opts' has no member named '*'", "there is no option '.$1'", "the options are .device, .dtype and .name",
     NULL},
    {"'fy_to_opts' has no member named '*'", "there is no option '.$1'", "the options of fy_to are .dtype and .copy",
     NULL},
    {"field designator '*' does not refer to any field in type '*; did you mean '*'?", "there is no option '.$1'",
     "did you mean .$3?", NULL},
    {"field designator '*' does not refer to any field in type 'fy_to_opts'*", "there is no option '.$1'",
     "the options of fy_to are .dtype and .copy", NULL},
    {"field designator '*' does not refer to any field in type '*", "there is no option '.$1'",
     "the options are .device, .dtype and .name", NULL},
    {"implicit declaration of function '*'*", NULL, NULL, meant_function_unknown},
    {"call to undeclared function '*'*", NULL, NULL, meant_function_unknown},
    {"call to undeclared library function '*'*", NULL, NULL, meant_function_unknown},
    {"implicitly declaring library function '*'*", NULL, NULL, meant_function_unknown},
    {"'*' undeclared (first use in this function); did you mean '*'?", NULL, NULL, meant_name_unknown},
    {"'*' undeclared*", NULL, NULL, meant_name_unknown},
    {"use of undeclared identifier '*'; did you mean '*'?", NULL, NULL, meant_name_unknown},
    {"use of undeclared identifier '*'", NULL, NULL, meant_name_unknown},
    {"unknown type name 'fy_tensor'*", "ferry.h is not included: the compiler does not know what fy_tensor is",
     "put #include <ferry.h> as the first line", NULL},
    {"unknown type name '*'*", "the compiler does not know the type '$1'",
     "look at its spelling: fy_tensor *a, int n, double x", NULL},
    {"variable '*' has initializer but incomplete type", "the star is missing: a tensor is held by a pointer",
     "write fy_tensor *$1 = ...", NULL},
    {"variable has incomplete type 'fy_tensor'*", "the star is missing: a tensor is held by a pointer",
     "write fy_tensor *a = ...", NULL},
    {"storage size of '*' isn*", "the star is missing: a tensor is held by a pointer", "write fy_tensor *$1 = ...",
     NULL},
    {"macro \"*\" requires * arguments, but only * given", NULL, NULL, meant_too_few},
    {"too few arguments*'*'*", NULL, NULL, meant_too_few},
    {"too few arguments*", NULL, NULL, meant_too_few},
    {"macro \"*\" passed * arguments, but takes just *", NULL, NULL, meant_too_many},
    {"too many arguments*'*'*", NULL, NULL, meant_too_many},
    {"too many arguments*", NULL, NULL, meant_too_many},
    {"expected expression*", NULL, NULL, meant_value_missing},
    {"expected expression*", "something is missing here, or stands here too much",
     "compare the line with the lesson's example, bracket by bracket", NULL},
    {"invalid operands to binary*", NULL, NULL, meant_operand},
    {"*is a pointer; did you mean to use '->'?", NULL, NULL, meant_not_an_object},
    {"*incomplete typedef 'fy_tensor'*", NULL, NULL, meant_not_an_object},
    {"*type 'struct fy_tensor'*", NULL, NULL, meant_not_an_object},
    {"*incomplete type 'fy_tensor'*", NULL, NULL, meant_not_an_object},
    {"*from incompatible pointer type 'fy_tensor *", "a tensor is a handle, not an array of numbers",
     "fy_data(x) is the pointer to its elements, and only for a tensor on the cpu", NULL},
    {"incompatible pointer types * with an expression of type 'fy_tensor *",
     "a tensor is a handle, not an array of numbers",
     "fy_data(x) is the pointer to its elements, and only for a tensor on the cpu", NULL},
    {"incompatible types when * type '*' using type 'fy_tensor *",
     "a tensor is not a number, not even one of one element", "fy_item(x) gives the number in it", NULL},
    {"* '*' with an expression of incompatible type 'fy_tensor *",
     "a tensor is not a number, not even one of one element", "fy_item(x) gives the number in it", NULL},
    {"incompatible type for argument * of 'fy_*_at'", "this call wants a tensor, and gets something else",
     "look at the kind of each argument in ferry.h", NULL},
    {"passing '*' to parameter of incompatible type 'fy_*", "this call wants a tensor, and gets something else",
     "look at the kind of each argument in ferry.h", NULL},
    {"suggest parentheses around assignment*", "= stores a value; a comparison is written ==", "write == here", NULL},
    {"using the result of an assignment as a condition*",
     "= stores a value; a comparison is written ==", "write == here", NULL},
    {"*: No such file or directory", "there is no header '$1'", "Ferry's own is #include <ferry.h>", NULL},
    {"'*' file not found*", "there is no header '$1'", "Ferry's own is #include <ferry.h>", NULL},
    {"redefinition of '*'*", "the name '$1' is declared twice", "the second time, leave out the type: $1 = ...", NULL},
    {"expected declaration or statement at end of input", "a closing brace } is missing at the end of the file",
     "put the missing } where the block ends", NULL},
    {"expected '}'*", "a closing brace } is missing at the end of the file", "put the missing } where the block ends",
     NULL},
};

/* Matches all of text; each * takes as little as it can. */
static bool fits(const char *pattern, const char *text, char part[4][96], int n)
{
    for (; *pattern && *pattern != '*'; pattern++, text++)
        if (*pattern != *text) return false;
    if (!*pattern) return !*text;
    for (const char *end = text;; end++) {
        if (n < 4) snprintf(part[n], 96, "%.*s", (int)(end - text), text);
        if (fits(pattern + 1, end, part, n + 1)) return true;
        if (!*end) return false;
    }
}

static void fill_in(char *out, size_t room, const char *words, const char part[4][96])
{
    size_t used = 0;
    *out = '\0';
    for (const char *p = words; *p && used + 1 < room; p++) {
        bool blank = *p == '$' && p[1] >= '1' && p[1] <= '4';
        int n = blank ? snprintf(out + used, room - used, "%s", part[p[1] - '1'])
                      : snprintf(out + used, room - used, "%c", *p);
        used += (size_t)n;
        p += blank;
    }
}

bool explain(const complaint *given, diagnosis *d)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        complaint c = *given;
        memset(c.part, 0, sizeof c.part);
        if (!fits(rules[i].pattern, c.text, c.part, 0)) continue;
        if (rules[i].look && rules[i].look(&c, d)) return true;
        if (rules[i].look) continue;
        fill_in(d->message, sizeof d->message, rules[i].message, (const char(*)[96])c.part);
        fill_in(d->hint, sizeof d->hint, rules[i].hint, (const char(*)[96])c.part);
        return true;
    }
    return false;
}
