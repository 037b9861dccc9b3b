/* error_rules.c: gcc's and clang's messages, and what they mean to a beginner. A rule is a pattern, in which *
 * matches anything, and its message and hint; $1, $2 ... are what the first, second * matched. A rule with a
 * function (fix_*.c) inspects the learner's line as well, and may decline. */
#include <stdio.h>
#include <string.h>

#include "diagnostic.h"

typedef struct rule {
    const char *pattern, *message, *hint;
    line_rule *explain;
} rule;

/* ---- the rules, tried in this order ------------------------------------------------------------- */

static const rule rules[] = {
    {"static assertion failed: \"*", NULL, NULL, fix_assertion},
    {"static_assert failed \"*", NULL, NULL, fix_assertion},
    {"static_assert failed due to requirement *", NULL, NULL, fix_assertion},
    {"static assertion failed due to requirement *", NULL, NULL, fix_assertion},
    {"static assertion failed: *", NULL, NULL, fix_assertion}, /* newer clang, without quotes */
    {"*fy_options_by_name*", NULL, NULL, fix_option},
    {"expected ',' or ';'*", NULL, NULL, fix_semicolon},
    {"expected ';'*", NULL, NULL, fix_semicolon},
    {"expected '=', ',', ';', 'asm'*", NULL, NULL, fix_semicolon},
    {"stray '@' in program", NULL, NULL, fix_at_sign},
    {"stray '*", NULL, NULL, fix_curly_quotes},
    {"unexpected character*", NULL, NULL, fix_curly_quotes},
    {"expected '(' *", NULL, NULL, fix_keyword},
    {"expected ')'*", NULL, NULL, fix_mark},
    {"expected '='*", NULL, NULL, fix_mark},
    {"missing terminating > character", "the > is missing after the header's name", "write #include <ferry.h>", NULL},
    {"expected '>'", "the > is missing after the header's name", "write #include <ferry.h>", NULL},
    {"*expect* \"FILENAME\" or <FILENAME>", "a header's name goes in < >", "write #include <ferry.h>", NULL},
    {"extraneous ')'*", "there is one ) too many on this line", "count them: every ) needs its (", NULL},
    {"*has no member named '*'; did you mean '*'?", "there is no option '.$2'", "did you mean .$3?", NULL},
    {"'fy_*' has no member named '*'", NULL, NULL, fix_no_option},
    {"field designator '*' does not refer to any field in type '*; did you mean '*'?", "there is no option '.$1'",
     "did you mean .$3?", NULL},
    {"field designator '*' does not refer to any field in type 'fy_*'*", NULL, NULL, fix_no_option_of},
    {"implicit declaration of function '*'*", NULL, NULL, fix_function_unknown},
    {"call to undeclared function '*'*", NULL, NULL, fix_function_unknown},
    {"call to undeclared library function '*'*", NULL, NULL, fix_function_unknown},
    {"implicitly declaring library function '*'*", NULL, NULL, fix_function_unknown},
    {"'*' undeclared (first use in this function); did you mean '*'?", NULL, NULL, fix_name_unknown},
    {"'*' undeclared (first use in this function)", NULL, NULL, fix_name_unknown},
    {"'*' undeclared here (not in a function)*", NULL, NULL, fix_name_unknown},
    {"use of undeclared identifier '*'; did you mean '*'?", NULL, NULL, fix_name_unknown},
    {"use of undeclared identifier '*'", NULL, NULL, fix_name_unknown},
    {"unknown type name 'fy_tensor'*", "ferry.h is not included: the compiler does not know what fy_tensor is",
     "put #include <ferry.h> as the first line", NULL},
    {"unknown type name 'tensor'*", "the compiler does not know the type 'tensor'",
     "it is called fy_tensor: fy_tensor *a = ...", NULL},
    {"unknown type name '*'*", "the compiler does not know the type '$1'",
     "check its spelling: fy_tensor *a, int n, double x", NULL},
    {"variable '*' has initializer but incomplete type", "the star is missing: a tensor variable is a pointer",
     "write fy_tensor *$1 = ...", NULL},
    {"variable has incomplete type 'fy_tensor'*", NULL, NULL, fix_star},
    {"initialization of 'fy_tensor **' from *", NULL, NULL, fix_stars},
    {"incompatible pointer types initializing 'fy_tensor **'*", NULL, NULL, fix_stars},
    {"storage size of '*' isn*", "the star is missing: a tensor variable is a pointer", "write fy_tensor *$1 = ...",
     NULL},
    {"macro \"*\" requires * arguments, but only * given", NULL, NULL, fix_too_few},
    {"too few arguments*'*'*", NULL, NULL, fix_too_few},
    {"too few arguments*", NULL, NULL, fix_too_few},
    {"macro \"*\" passed * arguments, but takes just *", NULL, NULL, fix_too_many},
    {"too many arguments*'*'*", NULL, NULL, fix_too_many},
    {"too many arguments*", NULL, NULL, fix_too_many},
    {"'else' without a previous 'if'", NULL, NULL, fix_else},
    {"*expected expression*", NULL, NULL, fix_c_type},
    {"expected expression*", NULL, NULL, fix_dot},
    {"expected expression*", NULL, NULL, fix_device},
    {"expected expression*", NULL, NULL, fix_else},
    {"expected expression*", NULL, NULL, fix_value_missing},
    {"expected expression*", "something is missing or extra here",
     "compare the line with the lesson's example, bracket by bracket", NULL},
    {"invalid operands to binary*", NULL, NULL, fix_operand},
    {"*is a pointer; did you mean to use '->'?", NULL, NULL, fix_not_an_object},
    {"*incomplete typedef 'fy_tensor'*", NULL, NULL, fix_not_an_object},
    {"*type 'struct fy_tensor'*", NULL, NULL, fix_not_an_object},
    {"*incomplete type 'fy_tensor'*", NULL, NULL, fix_not_an_object},
    {"passing argument * of 'fy_* from incompatible pointer type*", NULL, NULL, fix_address},
    {"passing argument * of 'fy_* from incompatible pointer type*", NULL, NULL, fix_swapped},
    {"passing argument * of 'fy_* from incompatible pointer type*", NULL, NULL, fix_text},
    {"incompatible pointer types passing 'fy_tensor **'*", NULL, NULL, fix_address},
    {"incompatible pointer types passing 'char[*", NULL, NULL, fix_swapped},
    {"incompatible pointer types passing 'char[*", NULL, NULL, fix_text},
    {"incompatible pointer types passing 'fy_tensor *' * to parameter of type 'const char *'*", NULL, NULL, fix_text},
    {"passing 'fy_tensor' * to parameter of incompatible type 'fy_tensor *'*", NULL, NULL, fix_not_an_object},
    {"passing argument * of 'fy_arg_*", "this call takes a tensor or a number, but gets something else",
     "for example fy_add(a, b) or fy_add(a, 1)", NULL},
    {"* conversion passing 'char[*", "this call takes a tensor or a number, but gets text",
     "for example fy_add(a, b) or fy_add(a, 1)", NULL},
    {"returning 'fy_tensor *' from *", "main returns its exit status, a number, not a tensor",
     "write return 0; results are submitted with fy_answer and shown by fy_print", NULL},
    {"incompatible pointer to integer conversion returning 'fy_tensor *'*",
     "main returns its exit status, a number, not a tensor",
     "write return 0; results are submitted with fy_answer and shown by fy_print", NULL},
    {"initialization of '*' from 'fy_tensor *' makes integer*",
     "a tensor needs a variable of type fy_tensor *, not '$1'",
     "write fy_tensor *a = ...; fy_item(x) is the number in a tensor of one element", NULL},
    {"incompatible pointer to integer conversion initializing '*' with an expression of type 'fy_tensor *'*",
     "a tensor needs a variable of type fy_tensor *, not '$1'",
     "write fy_tensor *a = ...; fy_item(x) is the number in a tensor of one element", NULL},
    {"incompatible types when initializing type 'enum fy_dtype'*", NULL, NULL, fix_dtype_text},
    {"* initializing 'fy_dtype'*", NULL, NULL, fix_dtype_text},
    {"*from incompatible pointer type 'fy_tensor *", "a tensor is a handle, not an array of numbers",
     "for a tensor on the CPU, fy_data(x) gives a pointer to its elements", NULL},
    {"incompatible pointer types * with an expression of type 'fy_tensor *",
     "a tensor is a handle, not an array of numbers",
     "for a tensor on the CPU, fy_data(x) gives a pointer to its elements", NULL},
    {"incompatible types when * type '*' using type 'fy_tensor *",
     "a tensor is not a number, even if it has one element", "fy_item(x) gives the number in it", NULL},
    {"* '*' with an expression of incompatible type 'fy_tensor *",
     "a tensor is not a number, even if it has one element", "fy_item(x) gives the number in it", NULL},
    {"incompatible type for argument * of 'fy_*_at'", "this call takes a tensor, but gets something else",
     "ferry.h shows what each argument is", NULL},
    {"passing '*' to parameter of incompatible type 'fy_*", "this call takes a tensor, but gets something else",
     "ferry.h shows what each argument is", NULL},
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

/* Matches all of text; each * takes as few characters as possible. */
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

bool explain(const diagnostic *given, diagnosis *d)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        diagnostic c = *given;
        memset(c.part, 0, sizeof c.part);
        if (!fits(rules[i].pattern, c.text, c.part, 0)) continue;
        if (rules[i].explain && rules[i].explain(&c, d)) return true;
        if (rules[i].explain) continue;
        fill_in(d->message, sizeof d->message, rules[i].message, (const char(*)[96])c.part);
        fill_in(d->hint, sizeof d->hint, rules[i].hint, (const char(*)[96])c.part);
        return true;
    }
    return false;
}
