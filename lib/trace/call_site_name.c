/* call_site_name.c: what the source says around a call site: its line, and the variable its result goes to.
 *
 * The compiler tells the line of a call (its first or its last one, compilers differ) and its arguments
 * as written, nothing more. So the file's text is walked statement by statement, and a declaration or
 * assignment `name = call(args)` whose right side is exactly that call names it. In
 * `c = fy_add(fy_mul(a, b), d)` the sum is c, and the product has no name. Two equal calls on one line
 * cannot be told apart and get none. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "out_of_memory.h"
#include "site.h"
#include "source.h"

enum { LONGEST_NAME = 64 };

/* A part of the text, between two of ; { } , outside parentheses. */
typedef struct part {
    const char *begin, *end;
    const char *equals;        /* the last plain '=' outside parentheses, or NULL */
    int first_line, last_line; /* of its code */
} part;

typedef struct walk {
    const char *at, *end;
    int line;
} walk;

/* ---- walking over the text ---- */

static char peek(const walk *w, int ahead) { return w->end - w->at > ahead ? w->at[ahead] : 0; }

static void step(walk *w)
{
    if (*w->at++ == '\n') w->line++;
}

static void skip_quoted(walk *w)
{
    char quote = *w->at;
    for (step(w); w->at < w->end && *w->at != quote && *w->at != '\n'; step(w))
        if (*w->at == '\\' && w->end - w->at > 1) step(w);
    if (w->at < w->end && *w->at == quote) step(w);
}

/* To the end of the line, which a backslash continues. */
static void skip_line(walk *w)
{
    for (; w->at < w->end && *w->at != '\n'; step(w))
        if (*w->at == '\\' && w->end - w->at > 1) step(w);
}

static void skip_comment(walk *w)
{
    for (w->at += 2; w->at < w->end && !(peek(w, 0) == '*' && peek(w, 1) == '/'); step(w)) continue;
    w->at += w->end - w->at > 2 ? 2 : w->end - w->at;
}

/* Step over what is no code; false if there is code here. */
static bool skip_other(walk *w, bool line_is_blank)
{
    char c = peek(w, 0);
    if (c == '"' || c == '\'') skip_quoted(w);
    else if (c == '/' && peek(w, 1) == '*') skip_comment(w);
    else if ((c == '/' && peek(w, 1) == '/') || (c == '#' && line_is_blank)) skip_line(w);
    else return false;
    return true;
}

static bool plain_equals(const char *p, const char *begin)
{
    return *p == '=' && p[1] != '=' && !(p > begin && strchr("=!<>+-*/%&|^", p[-1]));
}

/* The next part; false at the end of the text. */
static bool next_part(walk *w, part *p)
{
    int depth = 0;
    bool blank = true; /* so far on this line */
    *p = (part){.begin = w->at};
    while (w->at < w->end) {
        char c = *w->at;
        p->last_line = w->line;
        if (skip_other(w, blank)) {
            blank = false;
            continue;
        }
        if (!p->first_line && !isspace((unsigned char)c)) p->first_line = w->line;
        if (c == '(' || c == '[') depth++;
        if ((c == ')' || c == ']') && depth) depth--;
        if (!depth && plain_equals(w->at, p->begin)) p->equals = w->at;
        if (!depth && strchr(";{},", c)) {
            p->end = w->at;
            step(w);
            return true;
        }
        if (!isspace((unsigned char)c)) blank = false;
        if (c == '\n') blank = true;
        step(w);
    }
    return false;
}

/* ---- comparing and naming ---- */

/* Past blanks and comments, which the preprocessor took out of the arguments that it handed over. */
static const char *code(const char *p, const char *end)
{
    walk w = {p, end, 0};
    while (w.at < w.end) {
        if (isspace((unsigned char)*w.at)) w.at++;
        else if (*w.at == '/' && (peek(&w, 1) == '*' || peek(&w, 1) == '/')) skip_other(&w, false);
        else break;
    }
    return w.at;
}

/* Does s continue at *p, white space aside? Moves *p. */
static bool follows(const char **p, const char *end, const char *s)
{
    for (; *s; s++) {
        if (isspace((unsigned char)*s)) continue;
        *p = code(*p, end);
        if (*p == end || *(*p)++ != *s) return false;
    }
    return true;
}

static bool is_the_call(const part *p, const fy_site *at)
{
    const char *s = p->equals + 1;
    return follows(&s, p->end, at->call) && follows(&s, p->end, "(") && follows(&s, p->end, at->args) &&
           follows(&s, p->end, ")") && code(s, p->end) == p->end;
}

/* Where the expression that ends at `end` begins: names, members and subscripts. */
static const char *target(const char *begin, const char *end)
{
    const char *p = end;
    while (p > begin) {
        char c = p[-1];
        if (c == ']')
            while (p > begin && *--p != '[') continue;
        else if (isalnum((unsigned char)c) || c == '_' || c == '.') p--;
        else if (c == '>' && p - begin > 1 && p[-2] == '-') p -= 2;
        else break;
    }
    return p;
}

static char *name_of(const part *p)
{
    const char *end = p->equals;
    while (end > p->begin && isspace((unsigned char)end[-1])) end--;
    const char *begin = target(p->begin, end);
    if (begin == end || end - begin > LONGEST_NAME || isdigit((unsigned char)*begin)) return NULL;
    char *name = strndup(begin, (size_t)(end - begin));
    if (!name) fy_out_of_memory("the name of a variable");
    return name;
}

static char *find_name(const fy_site *at, const fy_source *source)
{
    walk w = {source->text, source->text + source->size, 1};
    char *name = NULL;
    for (part p; next_part(&w, &p) && p.first_line <= at->line;) {
        if (!p.equals || p.last_line < at->line || !is_the_call(&p, at)) continue;
        if (name) { /* two of them */
            free(name);
            return NULL;
        }
        name = name_of(&p);
    }
    return name;
}

const char *fy_site_variable(fy_site *at)
{
    if (!at || !at->file || !at->call || !at->args) return NULL;
    const char *known = __atomic_load_n(&at->variable, __ATOMIC_ACQUIRE), *none = NULL;
    if (!known) {
        const fy_source *source = fy_source_of(at->file);
        char *name = source ? find_name(at, source) : NULL;
        known = name ? name : "";
        if (!__atomic_compare_exchange_n(&at->variable, &none, known, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            free(name); /* another thread was first */
            known = none;
        }
    }
    return *known ? known : NULL;
}

/* ---- the line ---- */

static bool line_of(const fy_source *source, int number, const char **begin, const char **end)
{
    const char *p = source->text, *stop = p + source->size;
    for (int line = 1; line < number; line++) {
        if (!(p = memchr(p, '\n', (size_t)(stop - p)))) return false;
        p++;
    }
    const char *newline = memchr(p, '\n', (size_t)(stop - p));
    *end = newline ? newline : stop;
    while (p < *end && isspace((unsigned char)*p)) p++;
    while (*end > p && isspace((unsigned char)(*end)[-1])) --*end;
    *begin = p;
    return *end > p;
}

static bool mentions(const char *begin, const char *end, const char *word)
{
    size_t n = strlen(word);
    for (; (size_t)(end - begin) >= n; begin++)
        if (!memcmp(begin, word, n)) return true;
    return false;
}

/* Lives until the thread asks for the next one. */
const char *fy_site_line(const fy_site *at)
{
    static _Thread_local char text[512];
    const char *begin, *end;
    if (!at || !at->call) return NULL;
    const fy_source *source = at->file ? fy_source_of(at->file) : NULL;
    if (source && line_of(source, at->line, &begin, &end) && mentions(begin, end, at->call))
        snprintf(text, sizeof text, "%.*s", (int)(end - begin), begin);
    else snprintf(text, sizeof text, "%s(%s)", at->call, at->args ? at->args : "");
    return text;
}
