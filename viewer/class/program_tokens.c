/* program_tokens.c: see program_tokens.h. It knows no types and no macros: where it is not sure, a token stays. */
#include "program_tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { MOST_SIMPLIFIED = 8192 }; /* tokens; it takes the square of them, and a lesson's program has 500 */

/* ---- reading -------------------------------------------------------------------------------------------------- */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Where a comment, a text or a character that begins here ends; NULL: none begins. */
static const char *end_of_quoted(const char *p)
{
    const char *end = NULL;
    if (p[0] == '/' && p[1] == '/') return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') return (end = strstr(p + 2, "*/")) ? end + 2 : p + strlen(p);
    if (*p != '"' && *p != '\'') return NULL;
    for (end = p + 1; *end && *end != *p && *end != '\n'; end++) end += end[0] == '\\' && end[1];
    return *end ? end + 1 : end;
}

static void read_tokens(program_tokens *t, const char *program)
{
    for (const char *p = program, *end; *p; p = end) {
        size_t size = 0;
        while (is_word(p[size])) size++;
        end = size ? p + size : end_of_quoted(p);
        bool counts = size || (end ? *p != '/' : !isspace((unsigned char)*p));
        if (!end) end = p + 1;
        if (!counts) continue;
        if ((t->count & (t->count - 1)) == 0) /* a power of two: it is full */
            t->list = memory_realloc(t->list, t->count ? 2 * (size_t)t->count : 1, sizeof *t->list, "the tokens");
        t->list[t->count++] = (token){p, (size_t)(end - p), size > 0};
    }
}

bool token_is(const token *t, const char *text) { return strlen(text) == t->size && !strncmp(t->at, text, t->size); }

/* ---- what changes nothing ----------------------------------------------------------------------------------------- */

static bool begins_statement(const program_tokens *t, int i)
{
    const token *before = i > 0 ? &t->list[i - 1] : NULL;
    return before && before->size == 1 && strchr(";{}>", *before->at); /* the last: of an #include */
}

/* for (;;): is the semicolon at i between parentheses? Its statement, or what is before it, has at most two more. */
static bool is_in_for(const program_tokens *t, int i)
{
    int open = 0;
    for (int seen = 0; --i >= 0 && seen < 3 && !token_is(&t->list[i], "{") && !token_is(&t->list[i], "}");) {
        open += token_is(&t->list[i], "(") - token_is(&t->list[i], ")");
        seen += token_is(&t->list[i], ";");
        if (open > 0) return true;
    }
    return false;
}

static bool is_type(const token *t)
{
    static const char *const words[] = {"int",    "long",     "short",  "char",    "float",   "double",   "bool",
                                        "size_t", "unsigned", "signed", "int32_t", "int64_t", "fy_tensor"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (token_is(t, words[i])) return true;
    return false;
}

static int times_used(const program_tokens *t, const token *name)
{
    int n = 0;
    for (int i = 0; i < t->count; i++)
        n += t->list[i].size == name->size && !strncmp(t->list[i].at, name->at, name->size);
    return n;
}

/* "int unused;" or "int unused = 0;", with a constant: how many tokens it has; 0: there is none here. */
static int unused_declaration(const program_tokens *t, int i)
{
    int at = i;
    if (!begins_statement(t, i)) return 0;
    while (at < t->count && is_type(&t->list[at])) at++;
    while (at > i && at < t->count && token_is(&t->list[at], "*")) at++;
    if (at == i || at + 1 >= t->count || !t->list[at].is_word || times_used(t, &t->list[at]) != 1) return 0;
    if (token_is(&t->list[++at], ";")) return at + 1 - i;
    if (!token_is(&t->list[at++], "=") || at + 1 >= t->count || !token_is(&t->list[at + 1], ";")) return 0;
    bool is_constant = isdigit((unsigned char)*t->list[at].at) || token_is(&t->list[at], "NULL");
    return is_constant ? at + 2 - i : 0;
}

static void drop(program_tokens *t, int from, int count)
{
    t->count -= count;
    memmove(t->list + from, t->list + from + count, (size_t)(t->count - from) * sizeof *t->list);
}

/* The brace that closes the one at i; -1: none does. */
static int closing(const program_tokens *t, int i)
{
    int open = 0;
    for (; i < t->count; i++) {
        open += token_is(&t->list[i], "{") - token_is(&t->list[i], "}");
        if (!open) return i;
    }
    return -1;
}

/* Are the braces a block among others, or do they hold one statement that needs none? Not an initializer's. An `if`
 * inside may miss its else. */
static bool is_extra(const program_tokens *t, int open, int close)
{
    int statements = 0, others = 0;
    for (int i = open + 1; i < close; i++) {
        statements += token_is(&t->list[i], ";");
        others += token_is(&t->list[i], "{") || token_is(&t->list[i], "if");
    }
    if (close < open ||
        (close > open + 1 && !token_is(&t->list[close - 1], ";") && !token_is(&t->list[close - 1], "}")))
        return false;
    return begins_statement(t, open) || (statements == 1 && !others);
}

/* Drops what begins at i, if it changes nothing. */
static bool simplify_at(program_tokens *t, int i)
{
    int unused = unused_declaration(t, i);
    if (unused) return drop(t, i, unused), true;
    if (token_is(&t->list[i], ";") && begins_statement(t, i) && !is_in_for(t, i)) return drop(t, i, 1), true;
    int close = token_is(&t->list[i], "{") ? closing(t, i) : -1;
    if (close < 0 || !is_extra(t, i, close)) return false;
    drop(t, close, 1);
    drop(t, i, 1);
    return true;
}

program_tokens program_tokens_of(const char *program)
{
    program_tokens t = {0};
    read_tokens(&t, program);
    for (int i = 0; i < t.count && t.count <= MOST_SIMPLIFIED;) {
        if (!simplify_at(&t, i)) i++;
        else if (i > 0) i--; /* what was before it may change nothing now */
    }
    return t;
}
