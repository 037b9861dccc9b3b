/* fix_syntax.c: explains a line that the compiler refused: missing punctuation, and calls with too few or too many
 * arguments. Each function returns false where it does not apply. */
#include <stdio.h>
#include <string.h>

#include "diagnostic.h"
#include "source_check.h"

/* ---- semicolons -------------------------------------------------------------------------------- */

static char last_letter(const char *line) { return *line ? line[strlen(line) - 1] : '\0'; }

/* a @ b */
bool fix_at_sign(const diagnostic *c, diagnosis *d)
{
    char left[48], right[48];
    const char *p = strchr(c->here, '@');
    if (!p) return false;
    word_before(c->here, p, left, sizeof left);
    word_after(p + 1, right, sizeof right);
    SET(message, "C has no operator '@'");
    SET(hint, "write fy_matmul(%s, %s)", left, right);
    return true;
}

/* gcc reports the start of the next statement: the line to fix is the one before it. */
bool fix_semicolon(const diagnostic *c, diagnosis *d)
{
    char before[240] = "";
    int line = c->line;
    if (c->col <= c->indent + 1)
        while (line > 1 && !*before) source_line(c->source, --line, before, sizeof before);
    if (!*before || strchr(";{}", last_letter(before))) line = c->line;
    source_line(c->source, line, before, sizeof before);
    if (strchr(before, '@')) return fix_at_sign(c, d);
    if (strchr(";{", last_letter(before))) return false;
    d->line = line;
    return diagnosis_set(d, "a semicolon is missing at the end of this line", "every statement ends in ;");
}

static bool is_directive(const char *word)
{
    static const char *const words[] = {"include", "define", "undef", "if",     "ifdef", "ifndef",
                                        "else",    "elif",   "endif", "pragma", "error", "line"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], word)) return true;
    return false;
}

/* x = fy_cpu(y);  # bring it home */
bool fix_hash(const diagnostic *c, diagnosis *d)
{
    char word[16];
    const char *p = c->here;
    for (bool text = false; *p && (*p != '#' || text); p++) text ^= *p == '"';
    word_after(p + (*p == '#'), word, sizeof word);
    if (*p != '#' || (p == c->here && is_directive(word))) return false;
    p += 1 + strspn(p + 1, "# ");
    SET(message, "a comment in C begins with //");
    SET(hint, "write // %.200s", p);
    return true;
}

/* ---- punctuation ------------------------------------------------------------------------------- */

/* A word followed directly by a string: fy_to(a "cuda"), .device "cuda". */
bool fix_mark(const diagnostic *c, diagnosis *d)
{
    char word[48];
    for (const char *p = c->here; (p = strchr(p, '"')); p++) {
        const char *end = p;
        while (end > c->here && end[-1] == ' ') end--;
        word_before(c->here, p, word, sizeof word);
        if (!*word) continue;
        bool option = end - strlen(word) > c->here && end[-1 - (long)strlen(word)] == '.';
        SET(message, option ? "an = is missing after .%s" : "a comma is missing after '%s'", word);
        SET(hint, option ? "write .%s = %.60s" : "write %s, %.60s", word, p);
        return true;
    }
    return false;
}

/* for, if and while without parentheses. */
bool fix_keyword(const diagnostic *c, diagnosis *d)
{
    if (!strncmp(c->here, "for ", 4) && strstr(c->here, " in "))
        return diagnosis_set(d, "this is Python: C has no 'for ... in', a loop counts with a variable of your own",
                             "write for (int i = 0; i < n; i++) { ... }");
    char word[16];
    word_after(c->here, word, sizeof word);
    SET(message, "in C %s goes in parentheses", strcmp(word, "for") ? "the condition" : "what follows 'for'");
    SET(hint, "write %s (...) { ... }", word);
    return !strcmp(word, "if") || !strcmp(word, "while") || !strcmp(word, "for");
}

bool fix_else(const diagnostic *c, diagnosis *d)
{
    if (strncmp(c->here, "else", 4) && strncmp(c->here, "} else", 6)) return false;
    return diagnosis_set(d, "this else belongs to no if", "an if with more than one statement needs { } around them");
}

/* Curly quotes come from copying out of a document. */
bool fix_curly_quotes(const diagnostic *c, diagnosis *d)
{
    if (!strstr(c->here, "\u201c") && !strstr(c->here, "\u201d") && !strstr(c->here, "\u2019")) return false;
    return diagnosis_set(d, "these are typographic (curly) quotes, as in documents", "type them again: \"cuda\"");
}

/* ---- calls ------------------------------------------------------------------------------------- */

/* The call is named by the diagnostic, or by the note after it. */
static bool argument_count(const diagnostic *c, diagnosis *d, const char *words)
{
    char form[96];
    const char *name = *c->macro ? c->macro : c->part[0];
    macro_form(c->header, name, form, sizeof form);
    SET(message, "%s gets too %s arguments here", *name ? name : "this call", words);
    if (*form) SET(hint, "it is called like this: %s", form);
    else SET(hint, "ferry.h shows how it is called");
    return true;
}

bool fix_too_few(const diagnostic *c, diagnosis *d) { return argument_count(c, d, "few"); }

bool fix_too_many(const diagnostic *c, diagnosis *d) { return argument_count(c, d, "many"); }

/* A missing argument: fy_to(a) without a target, fy_add(a, ) */
bool fix_value_missing(const diagnostic *c, diagnosis *d)
{
    const char *p = strstr(c->here, "fy_to(");
    char arguments[96];
    if (!p) return false;
    text_in_parentheses(p + 5, arguments, sizeof arguments);
    if (strchr(arguments, ',')) return false;
    SET(message, "fy_to needs a target device");
    SET(hint, "write fy_to(%s, \"cuda\")", *arguments ? arguments : "a");
    return true;
}

/* fy_matmul(&x, w) */
bool fix_address(const diagnostic *c, diagnosis *d)
{
    char name[48], call[48], arguments[96];
    const char *p = strchr(c->here, '&'), *open = p;
    while (open && open > c->here && *open != '(') open--;
    if (!p || *open != '(') return false;
    word_after(p + 1, name, sizeof name);
    word_before(c->here, open, call, sizeof call);
    text_in_parentheses(open, arguments, sizeof arguments);
    char *rest = strchr(arguments, '&');
    if (!*name || !rest) return false;
    *rest++ = '\0';
    SET(message, "%s is a pointer already", name);
    SET(hint, "drop the &: %s(%s%s)", call, arguments, rest);
    return true;
}

/* fy_to("cuda", x) */
bool fix_swapped(const diagnostic *c, diagnosis *d)
{
    char arguments[96];
    const char *p = strstr(c->here, "fy_to(");
    if (!p) return false;
    text_in_parentheses(p + 5, arguments, sizeof arguments);
    size_t n = strcspn(arguments, ",");
    if (*arguments != '"' || !arguments[n]) return false;
    const char *second = arguments + n + 1;
    second += strspn(second, " ");
    SET(message, "the two arguments of fy_to are swapped: the tensor comes first");
    SET(hint, "write fy_to(%s, %.*s)", second, (int)n, arguments);
    return true;
}

/* fy_ones((2), "cuda") */
bool fix_option(const diagnostic *c, diagnosis *d)
{
    bool is_to = strstr(c->here, "fy_to(");
    return diagnosis_set(d, "options are given by name, with a dot in front",
                         is_to ? "for example fy_to(a, \"cpu\", .copy = true)"
                               : "for example fy_ones((2), .device = \"cuda\")");
}

/* The options of a call, by the name of their struct. */
static const char *options_of(const char *type)
{
    static const char *const options[][2] = {
        {"opts", "the options are .device, .dtype, .name and .pin_memory"},
        {"to_opts", "the options of fy_to are .dtype, .copy and .non_blocking"},
        {"reduce_opts", "the options are .keepdim, .dtype, .biased and .indices"},
        {"loss_opts", "the options are .reduction and .label_smoothing"},
        {"blob_opts", "the options are .dtype, .strides, .deleter, .context and .name"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!strcmp(options[i][0], type)) return options[i][1];
    return "ferry.h shows the options of each call";
}

static bool no_option(const char *type, const char *name, diagnosis *d)
{
    SET(message, "there is no option '.%s'", name);
    SET(hint, "%s", options_of(type));
    return true;
}

/* gcc names the struct first, clang the option. */
bool fix_no_option(const diagnostic *c, diagnosis *d) { return no_option(c->part[0], c->part[1], d); }
bool fix_no_option_of(const diagnostic *c, diagnosis *d) { return no_option(c->part[1], c->part[0], d); }

/* fy_answer(c, "c"), fy_print("hello") */
bool fix_text(const diagnostic *c, diagnosis *d)
{
    if (strstr(c->here, "fy_answer("))
        return diagnosis_set(d, "fy_answer takes the name first, then the tensor", "write fy_answer(\"y\", y)");

    static const char *const calls[] = {"fy_to(", "fy_given(", "fy_mark(", ".device", ".name"};
    bool takes_text = false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) takes_text = takes_text || strstr(c->here, calls[i]);
    if (!takes_text && strchr(c->here, '"'))
        return diagnosis_set(d, "this call takes a tensor, but gets text",
                             "printf(\"...\\n\") shows text, with #include <stdio.h>");
    if (strstr(c->here, "FY_EACH("))
        return diagnosis_set(d, "FY_EACH goes over an array of tensors, not over one tensor",
                             "for its rows: FY_TIMES(i, fy_size(x, 0)) { fy_tensor *row = fy_select(x, 0, i); ... }");
    return diagnosis_set(d, "this call takes text, but gets a tensor", "text goes in quotes: \"cuda\"");
}

static bool shape_missing(const diagnostic *c, diagnosis *d)
{
    char name[48];
    const char *p = strstr(c->here, "()");
    if (!p || strstr(c->text, "the modules need")) return false; /* fy_nn_relu() is right */
    word_before(c->here, p, name, sizeof name);
    if (strncmp(name, "fy_", 3)) return false;
    SET(message, "%s needs a shape", name);
    SET(hint, "write %s((2, 3)) for 2 rows of 3; %s(()) is a tensor with no dimensions, one number", name, name);
    return true;
}

/* An assertion of ferry_call.h: "the shape needs parentheses of its own: fy_zeros((2, 3)); ...", after "static
 * assertion failed: " or "static_assert failed due to requirement 'a < b' ". Some compilers print it as a C
 * string, quoted and escaped. */
bool fix_assertion(const diagnostic *c, diagnosis *d)
{
    if (shape_missing(c, d) || fix_value_missing(c, d)) return true;
    char words[240];
    size_t n = 0;
    const char *p = c->text, *failed = strstr(p, "failed"), *requirement = strstr(p, "due to requirement '");
    if (failed) p = failed + strlen("failed");
    if (failed && requirement) {
        p = requirement + strlen("due to requirement '");
        p += strcspn(p, "'") + 1;
    }
    if (failed) p += strspn(p, ": ");

    bool quoted = *p == '"';
    for (p += quoted; *p && !(quoted && *p == '"') && n + 1 < sizeof words; p++) {
        if (quoted && *p == '\\' && p[1]) p++;
        words[n++] = *p;
    }
    words[n] = '\0';
    char *example = strstr(words, ": ");
    bool code = example && (!strncmp(example + 2, "fy_", 3) || example[2] == '.');
    SET(hint, "%s%s", code || !example ? "write it like this: " : "", example ? example + 2 : "as in ferry.h");
    if (example) *example = '\0';
    SET(message, "%s", words);
    return true;
}
