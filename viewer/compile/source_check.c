/* source_check.c: a small scanner with a stack of open brackets. It knows strings, comments and
 * preprocessor lines, but not C's grammar. */
#include "source_check.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"

enum { DEEPEST = 256 };

typedef struct bracket {
    char kind; /* ( [ { */
    int line, indent;
    bool loop; /* the ( of a for, where ; is allowed */
    bool fill; /* the ( of a call that takes a number as a tensor's value */
} bracket;

typedef struct reader {
    const char *p, *line_start;
    int line, indent;
    bool blank; /* only blanks on this line so far */
    bracket open[DEEPEST];
    int depth;
    source_mistake suspect; /* a { whose } is indented less than its line */
    char word[16];          /* the last identifier */
    source_mistake found;
} reader;

static void find(reader *r, mistake_kind what, int line)
{
    if (r->found.what == MISTAKE_FINE) r->found = (source_mistake){.what = what, .line = line};
}

static void next_line(reader *r)
{
    r->line++;
    r->line_start = r->p + 1;
    r->blank = true;
    r->indent = 0;
}

static void skip_comment(reader *r)
{
    int start = r->line;
    for (r->p += 2; *r->p && strncmp(r->p, "*/", 2); r->p++)
        if (*r->p == '\n') next_line(r);
    if (*r->p) r->p++;
    else find(r, MISTAKE_COMMENT, start);
}

static void skip_to_line_end(reader *r, bool continued)
{
    while (r->p[1] && (r->p[1] != '\n' || (continued && *r->p == '\\'))) {
        r->p++;
        if (*r->p == '\n') next_line(r);
    }
}

static void read_string(reader *r)
{
    const char *q = r->p + 1;
    while (*q && *q != '\n' && *q != '"') q += q[0] == '\\' && q[1] && q[1] != '\n' ? 2 : 1;
    if (*q == '"') {
        r->p = q;
        return;
    }
    find(r, MISTAKE_QUOTE, r->line);
    r->p = q - 1;
}

/* 'a', '\n', '\x41' are characters; 'cuda' is a string in single quotes. */
static void read_chars(reader *r)
{
    const char *q = r->p + 1;
    int letters = 0;
    bool escaped = *q == '\\';
    while (*q && *q != '\n' && *q != '\'') q += q[0] == '\\' && q[1] && q[1] != '\n' ? 2 : 1, letters++;
    if (*q != '\'') {
        find(r, MISTAKE_QUOTE, r->line);
        r->p = q - 1;
        return;
    }
    if (letters > 1 && !escaped) {
        find(r, MISTAKE_CHARS, r->line);
        if (r->found.what == MISTAKE_CHARS && !*r->found.text)
            snprintf(r->found.text, sizeof r->found.text, "%.*s", (int)(q - r->p - 1), r->p + 1);
    }
    r->p = q;
}

static void open_bracket(reader *r)
{
    if (r->depth == DEEPEST) return;
    bool fill = !strcmp(r->word, "fy_full") || !strcmp(r->word, "fy_add") || !strcmp(r->word, "fy_mul");
    r->open[r->depth++] = (bracket){*r->p, r->line, r->indent, !strcmp(r->word, "for"), fill};
}

/* A } indented less than the line of its { belongs to an outer {: the inner one was not closed. */
static void close_brace(reader *r, bool first_on_line)
{
    while (r->depth > 0 && r->open[r->depth - 1].kind != '{') {
        find(r, MISTAKE_OPEN_PAREN, r->open[r->depth - 1].line);
        r->depth--;
    }
    if (r->depth == 0) {
        find(r, MISTAKE_CLOSE_BRACE, r->line);
        return;
    }
    const bracket *b = &r->open[--r->depth];
    if (first_on_line && r->indent < b->indent && r->suspect.what == MISTAKE_FINE)
        r->suspect = (source_mistake){.what = MISTAKE_OPEN_BRACE, .line = b->line};
}

static void close_paren(reader *r)
{
    char opening = *r->p == ')' ? '(' : '[';
    if (r->depth > 0 && r->open[r->depth - 1].kind == opening) r->depth--;
    else find(r, MISTAKE_CLOSE_PAREN, r->line);
}

static void end_statement(reader *r)
{
    const bracket *b = r->depth > 0 ? &r->open[r->depth - 1] : NULL;
    if (!b || b->kind == '{' || b->loop) return;
    find(r, MISTAKE_OPEN_PAREN, b->line);
    while (r->depth > 0 && r->open[r->depth - 1].kind != '{') r->depth--;
}

static void read_word(reader *r)
{
    size_t n = 0;
    while (isalnum((unsigned char)r->p[n]) || r->p[n] == '_') n++;
    snprintf(r->word, sizeof r->word, "%.*s", n < 15 ? (int)n : 15, r->p);
    r->p += n - 1;
}

/* fy_full((2), 1/2): an integer division with a remainder is not the fraction that was meant. */
static void read_number(reader *r)
{
    const char *end = r->p;
    while (isalnum((unsigned char)*end) || *end == '.' || *end == '_') end++;
    int n = 0;
    long a, b;
    bool found = r->depth > 0 && r->open[r->depth - 1].fill && sscanf(r->p, "%9ld / %9ld%n", &a, &b, &n) == 2 && n > 0;
    if (found && !isalnum((unsigned char)r->p[n]) && r->p[n] != '.' && b > 0 && a % b) {
        find(r, MISTAKE_DIVISION, r->line);
        snprintf(r->found.text, sizeof r->found.text, "%ld/%ld", a, b);
    }
    r->p = end - 1;
}

static void read_one(reader *r)
{
    char c = *r->p;
    bool first = r->blank;
    if (c == '\n') {
        next_line(r);
        return;
    }
    if (isspace((unsigned char)c)) return;
    if (first) r->indent = (int)(r->p - r->line_start);
    r->blank = false;
    if (c == '#' && first) skip_to_line_end(r, true);
    else if (c == '/' && r->p[1] == '/') skip_to_line_end(r, false);
    else if (c == '/' && r->p[1] == '*') skip_comment(r);
    else if (c == '"') read_string(r);
    else if (c == '\'') read_chars(r);
    else if (isalpha((unsigned char)c) || c == '_') read_word(r);
    else if (isdigit((unsigned char)c)) read_number(r);
    else if (strchr("([{", c)) open_bracket(r);
    else if (c == '}') close_brace(r, first);
    else if (strchr(")]", c)) close_paren(r);
    else if (c == ';') end_statement(r);
    if (!isalnum((unsigned char)*r->p) && *r->p != '_') r->word[0] = '\0';
}

source_mistake source_check(const char *source)
{
    reader r = {.p = source, .line_start = source, .line = 1, .blank = true};
    while (*r.p && r.found.what == MISTAKE_FINE) {
        read_one(&r);
        if (*r.p) r.p++; /* the file may have ended inside a comment or string */
    }
    while (r.depth > 0 && r.found.what == MISTAKE_FINE) {
        const bracket *b = &r.open[--r.depth];
        if (b->kind != '{') find(&r, MISTAKE_OPEN_PAREN, b->line);
        else if (r.suspect.what != MISTAKE_FINE) r.found = r.suspect;
        else find(&r, MISTAKE_OPEN_BRACE, b->line);
    }
    return r.found;
}

char *blank_comments(const char *source)
{
    char *code = memory_copy(source, "a program's text");
    for (char *p = code; *p;) {
        if (*p == '"' || *p == '\'') { /* quoted text may contain what looks like a comment */
            char quote = *p++;
            for (; *p && *p != '\n' && *p != quote; p++) p += *p == '\\' && p[1] && p[1] != '\n';
            p += *p == quote;
            continue;
        }
        bool line = p[0] == '/' && p[1] == '/', block = p[0] == '/' && p[1] == '*';
        char *end = line ? p + strcspn(p, "\n") : block ? strstr(p + 2, "*/") : NULL;
        if (end && block) end += 2;
        if (!end) p++;
        for (; end && p < end; p++)
            if (*p != '\n') *p = ' ';
    }
    return code;
}

void source_line(const char *source, int line, char *out, int room)
{
    const char *p = source;
    for (int i = 1; p && i < line; i++) p = (p = strchr(p, '\n')) ? p + 1 : NULL;
    *out = '\0';
    if (!p || line < 1) return;
    size_t n = strcspn(p, "\r\n"), indent = strspn(p, " \t");
    if (indent > n) indent = n;
    while (n > indent && isspace((unsigned char)p[n - 1])) n--;
    snprintf(out, (size_t)room, "%.*s", (int)(n - indent), p + indent);
}
