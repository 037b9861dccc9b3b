/* call_site_name.c: a call site's source line, and the variable that its result is assigned to.
 *
 * The compiler provides only the line of a call (its first or its last one, depending on the compiler) and its
 * arguments as written. So the file is scanned, once, statement by statement, for declarations and assignments `name =
 * call(args)`; a call site looks among those of its line for the one whose right side is exactly that call. In `c =
 * fy_add(fy_mul(a, b), d)` the sum is named c, and the product has no name. Two identical calls on one line are
 * ambiguous and get no name. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "out_of_memory.h"
#include "site.h"
#include "source.h"

enum { LONGEST_NAME = 64 };

/* The text between two of ; { } , outside parentheses. */
typedef struct statement {
    const char *begin, *end;
    const char *equals;        /* the last plain '=' outside parentheses, or NULL */
    int first_line, last_line; /* of its code */
} statement;

typedef struct scanner {
    const char *at, *end;
    int line;
} scanner;

/* ---- scanning ---- */

static char peek(const scanner *w, int ahead) { return w->end - w->at > ahead ? w->at[ahead] : 0; }

static void step(scanner *w)
{
    if (*w->at++ == '\n') w->line++;
}

/* Skips a literal, comment or preprocessor line; false if there is none here. Lines may go on after a backslash. */
static bool skip_noncode(scanner *w, bool line_is_blank)
{
    char c = peek(w, 0);
    if (c == '"' || c == '\'') {
        for (step(w); w->at < w->end && *w->at != c && *w->at != '\n'; step(w))
            if (*w->at == '\\' && w->end - w->at > 1) step(w);
        if (peek(w, 0) == c) step(w);
        return true;
    }
    if (c == '/' && peek(w, 1) == '*') {
        for (w->at += 2; w->at < w->end && !(peek(w, 0) == '*' && peek(w, 1) == '/'); step(w)) continue;
        w->at += w->end - w->at > 2 ? 2 : w->end - w->at;
        return true;
    }
    if ((c == '/' && peek(w, 1) == '/') || (c == '#' && line_is_blank)) {
        for (; w->at < w->end && *w->at != '\n'; step(w))
            if (*w->at == '\\' && w->end - w->at > 1) step(w);
        return true;
    }
    return false;
}

/* False at the end of the text. */
static bool next_statement(scanner *w, statement *p)
{
    int depth = 0;
    bool blank = true; /* so far on this line */
    *p = (statement){.begin = w->at};
    while (w->at < w->end) {
        char c = *w->at;
        p->last_line = w->line;
        if (skip_noncode(w, blank)) {
            blank = false;
            continue;
        }
        if (!p->first_line && !isspace((unsigned char)c)) p->first_line = w->line;
        if (c == '(' || c == '[') depth++;
        if ((c == ')' || c == ']') && depth) depth--;
        bool assigns = c == '=' && w->at[1] != '=' && !(w->at > p->begin && strchr("=!<>+-*/%&|^", w->at[-1]));
        if (assigns && !depth) p->equals = w->at;
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

/* ---- matching and naming ---- */

/* Skips white space and comments, which the preprocessor removes from macro arguments. */
static const char *skip_blank(const char *p, const char *end)
{
    scanner w = {p, end, 0};
    while (w.at < w.end) {
        if (isspace((unsigned char)*w.at)) w.at++;
        else if (*w.at == '/' && (peek(&w, 1) == '*' || peek(&w, 1) == '/')) skip_noncode(&w, false);
        else break;
    }
    return w.at;
}

/* Is s the text at *p, white space aside? Advances *p. */
static bool match(const char **p, const char *end, const char *s)
{
    for (; *s; s++) {
        if (isspace((unsigned char)*s)) continue;
        *p = skip_blank(*p, end);
        if (*p == end || *(*p)++ != *s) return false;
    }
    return true;
}

static bool is_the_call(const statement *p, const fy_site *at)
{
    const char *s = p->equals + 1;
    return match(&s, p->end, at->call) && match(&s, p->end, "(") && match(&s, p->end, at->args) &&
           match(&s, p->end, ")") && skip_blank(s, p->end) == p->end;
}

/* The assigned expression before '=': names, members and subscripts; NULL if it is none, or long. */
static char *name_of(const statement *p)
{
    const char *end = p->equals;
    while (end > p->begin && isspace((unsigned char)end[-1])) end--;
    const char *begin = end;
    while (begin > p->begin) {
        char c = begin[-1];
        if (c == ']')
            while (begin > p->begin && *--begin != '[') continue;
        else if (isalnum((unsigned char)c) || c == '_' || c == '.') begin--;
        else if (c == '>' && begin - p->begin > 1 && begin[-2] == '-') begin -= 2;
        else break;
    }
    if (begin == end || end - begin > LONGEST_NAME || isdigit((unsigned char)*begin)) return NULL;

    char *name = strndup(begin, (size_t)(end - begin));
    if (!name) fy_out_of_memory("the name of a variable");
    return name;
}

/* ---- a file's assignments ---- */

/* In the order of the text, so that lines never fall. */
typedef struct fy_assignments {
    size_t count, room;
    statement all[];
} assignments;

static assignments *with_room(assignments *a)
{
    if (a && a->count < a->room) return a;
    size_t room = a ? 2 * a->room : 64;
    assignments *more = realloc(a, sizeof *a + room * sizeof *a->all);
    if (!more) fy_out_of_memory("the assignments of a source file");
    if (!a) more->count = 0;
    more->room = room;
    return more;
}

static assignments *read_assignments(const fy_source *source)
{
    scanner w = {source->text, source->text + source->size, 1};
    assignments *a = with_room(NULL);
    for (statement p; next_statement(&w, &p);) {
        if (!p.equals) continue;
        a = with_room(a);
        a->all[a->count++] = p;
    }
    return a;
}

/* Read at most once, but for threads that come at the same time. */
static const assignments *assignments_of(fy_source *source)
{
    assignments *known = __atomic_load_n(&source->assignments, __ATOMIC_ACQUIRE);
    if (known) return known;
    assignments *made = read_assignments(source);
    bool is_first =
        __atomic_compare_exchange_n(&source->assignments, &known, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    if (!is_first) free(made);
    return is_first ? made : known;
}

static size_t first_that_ends_at(const assignments *a, int line)
{
    size_t from = 0, to = a->count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (a->all[middle].last_line < line) from = middle + 1;
        else to = middle;
    }
    return from;
}

static char *find_name(const fy_site *at, fy_source *source)
{
    const assignments *a = assignments_of(source);
    char *name = NULL;
    for (size_t i = first_that_ends_at(a, at->line); i < a->count && a->all[i].first_line <= at->line; i++) {
        if (!is_the_call(&a->all[i], at)) continue;
        if (name) { /* ambiguous */
            free(name);
            return NULL;
        }
        name = name_of(&a->all[i]);
    }
    return name;
}

const char *fy_site_variable(fy_site *at)
{
    if (!at || !at->file || !at->call || !at->args) return NULL;
    const char *known = __atomic_load_n(&at->variable, __ATOMIC_ACQUIRE), *none = NULL;
    if (!known) {
        fy_source *source = fy_source_of(at->file);
        char *name = source ? find_name(at, source) : NULL;
        known = name ? name : "";
        if (!__atomic_compare_exchange_n(&at->variable, &none, known, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            free(name); /* another thread stored it first */
            known = none;
        }
    }
    return *known ? known : NULL;
}

/* ---- source line ---- */

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

/* The line if it contains the call's name, else the call itself. Valid until the thread's next call. */
const char *fy_site_line(const fy_site *at)
{
    static _Thread_local char text[512];
    const char *begin, *end;
    if (!at || !at->call) return NULL;
    const fy_source *source = at->file ? fy_source_of(at->file) : NULL;
    if (source && line_of(source, at->line, &begin, &end) &&
        memmem(begin, (size_t)(end - begin), at->call, strlen(at->call)))
        snprintf(text, sizeof text, "%.*s", (int)(end - begin), begin);
    else snprintf(text, sizeof text, "%s(%s)", at->call, at->args ? at->args : "");
    return text;
}
