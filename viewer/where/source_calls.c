/* source_calls.c: a port of www/model/calls.js; tests/page/where_test.mjs compares the steps of both. */
#include "source_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { LONGEST = 4000 }; /* letters of one call's arguments */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* The end of the comment or of what is in quotes at `at`; NULL: there is none. */
static const char *hidden_end(const char *at, const char *end)
{
    if (at + 1 < end && at[0] == '/' && at[1] == '/') {
        while (at < end && *at != '\n') at++;
        return at;
    }
    if (at + 1 < end && at[0] == '/' && at[1] == '*') {
        for (at += 2; at < end; at++)
            if (at + 1 < end && at[0] == '*' && at[1] == '/') return at + 2;
        return end;
    }
    if (*at != '"' && *at != '\'') return NULL;
    char quote = *at++;
    while (at < end && *at != quote && *at != '\n') {
        if (*at == '\\' && at + 1 == end) break;
        at += *at == '\\' ? 2 : 1;
    }
    return at < end && *at == quote ? at + 1 : at;
}

char *source_clean(const char *text, size_t size)
{
    char *clean = memory_realloc(NULL, size + 1, 1, "a source text");
    const char *end = text + size;
    memcpy(clean, text, size);
    clean[size] = '\0';
    for (const char *at = text; at < end;) {
        const char *stop = hidden_end(at, end);
        if (!stop) {
            at++;
            continue;
        }
        bool quoted = *at != '/';
        for (const char *p = at + quoted; p < stop; p++)
            if (*p != '\n') clean[p - text] = ' ';
        at = stop;
    }
    for (size_t i = 0; i < size; i++)
        if (!clean[i]) clean[i] = ' ';
    return clean;
}

static const char *line_start(const char *clean, int line)
{
    for (; line > 1 && clean; line--) {
        clean = strchr(clean, '\n');
        if (clean) clean++;
    }
    return clean;
}

/* The closing bracket of the arguments from `at` on; NULL: there is none. */
static const char *arguments_end(const char *at, bool *indices)
{
    const char *from = at, *argument = at;
    int depth = 0;
    *indices = false;
    for (; *at && at < from + LONGEST; at++) {
        if (strchr("([{", *at)) depth++;
        if (strchr(")]}", *at)) depth--;
        if (depth >= 0 && (depth || *at != ',')) continue;
        argument += strspn(argument, " \t\n\r\v\f");
        if (!strncmp(argument, ".indices", 8) && argument[8 + strspn(argument + 8, " \t\n\r\v\f")] == '=')
            *indices = true;
        argument = at + 1;
        if (depth < 0) return at;
    }
    return NULL;
}

static bool is_keyword(const char *name, size_t n)
{
    static const char *const words[] = {"if", "for", "while", "switch", "return", "sizeof", "do", "else"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && !strncmp(words[i], name, n)) return true;
    return false;
}

/* Is it a macro of this program? */
static bool is_macro(const char *clean, const char *name, size_t n)
{
    for (const char *at = clean; at; at = strchr(at, '\n'), at += at != NULL) {
        const char *p = at;
        while (is_blank(*p)) p++;
        if (*p++ != '#') continue;
        while (is_blank(*p)) p++;
        if (strncmp(p, "define", 6) || !is_blank(p[6])) continue;
        for (p += 6; is_blank(*p);) p++;
        if (!strncmp(p, name, n) && !is_word(p[n])) return true;
    }
    return false;
}

static bool is_one_of(const char *name, const char *const words[])
{
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], name)) return true;
    return false;
}

/* Of a call with .indices, both results of which are kept: its first and its last kernel. */
static void find_two_results(source_line *out, bool macros)
{
    static const char *const makers[] = {"fy_sort",   "fy_topk",   "fy_max",    "fy_min", "fy_argsort",
                                         "fy_gather", "fy_argmax", "fy_argmin", NULL};
    static const char *const kernels[][2] = {
        {"argsort", "gather"}, {"argsort", "gather"}, {"max", "argmax"}, {"min", "argmin"}};
    const source_call *one = NULL;
    for (int i = 0; i < out->count; i++) {
        if (!is_one_of(out->calls[i].name, makers)) continue;
        if (one) return;
        one = &out->calls[i];
    }
    if (!one || !one->indices || macros) return;
    for (int i = 0; i < 4; i++)
        if (!strcmp(makers[i], one->name)) out->first = kernels[i][0], out->last = kernels[i][1];
}

void source_line_read(const char *clean, int line, source_line *out)
{
    *out = (source_line){0};
    const char *at = clean && line > 0 ? line_start(clean, line) : NULL, *end = at ? at + strcspn(at, "\n") + 1 : NULL;
    bool macros = false;
    while (at && *at && at < end) {
        if (!is_word(*at)) {
            at++;
            continue;
        }
        const char *name = at;
        while (is_word(*at)) at++;
        size_t n = (size_t)(at - name);
        const char *open = at;
        while (is_blank(*open)) open++;
        if (*open != '(' || is_digit(*name)) continue;
        at = open + 1;
        bool indices;
        const char *close = arguments_end(at, &indices);
        if (!close || is_keyword(name, n)) continue;
        macros |= is_macro(clean, name, n);
        if (strncmp(name, "fy_", 3)) continue;
        if (close > end) end = close;
        if (out->count == CALLS_KEPT) continue;
        source_call *c = &out->calls[out->count++];
        snprintf(c->name, sizeof c->name, "%.*s", (int)(n < CALL_NAME ? n : CALL_NAME - 1), name);
        c->indices = indices;
    }
    out->frees = clean && !out->count;
    for (int i = 0; i < out->count; i++) out->frees |= !strcmp(out->calls[i].name, "fy_free");
    find_two_results(out, macros);
}
