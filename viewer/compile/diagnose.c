/* diagnose.c: parses the compiler's output and explains its first error. */
#include "diagnose.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostic.h"
#include "source_check.h"

/* ---- reading the compiler's output ------------------------------------------------------------- */

typedef struct message {
    int line, col;
    bool error;
    char text[400];
} message;

/* "my/01.c:5:20: error: text [-Wx]"; the file must be the learner's. */
static bool read_message(message *m, const char *p, const char *shown)
{
    size_t n = strlen(shown);
    if (strncmp(p, shown, n) || p[n] != ':') return false;
    char *end;
    m->line = (int)strtol(p + n + 1, &end, 10);
    m->col = *end == ':' && isdigit((unsigned char)end[1]) ? (int)strtol(end + 1, &end, 10) : 0;
    static const char *const kinds[] = {": fatal error: ", ": error: ", ": Error: " /* the assembler */, ": warning: "};
    for (int i = 0; i < 4; i++) {
        if (strncmp(end, kinds[i], strlen(kinds[i]))) continue;
        m->error = i < 3;
        end += strlen(kinds[i]);
        size_t length = strcspn(end, "\n");
        snprintf(m->text, sizeof m->text, "%.*s", (int)(length < 399 ? length : 399), end);
        char *option = strstr(m->text, " [-W");
        if (option) *option = '\0';
        return true;
    }
    return false;
}

static const char *after_line(const char *p)
{
    p += strcspn(p, "\n");
    return *p ? p + 1 : p;
}

static bool first_message(message *m, const char *shown, const char *output, bool error, const char **at)
{
    for (const char *p = output; *p; p = after_line(p)) {
        if (!read_message(m, p, shown) || m->error != error) continue;
        *at = p;
        return true;
    }
    return false;
}

/* The compiler's messages about the learner's file: no header, no expansion, no caret. */
static void store_raw(diagnosis *d, const char *shown, const char *output)
{
    size_t used = 0;
    message m;
    for (const char *p = output; *p; p = after_line(p)) {
        size_t n = strcspn(p, "\n");
        if (!read_message(&m, p, shown) || used + n + 2 > sizeof d->raw) continue;
        used += (size_t)snprintf(d->raw + used, sizeof d->raw - used, "%.*s\n", (int)n, p);
    }
}

/* ---- explaining -------------------------------------------------------------------------------- */

static const struct {
    mistake_kind what;
    const char *message, *hint;
} mistakes[] = {
    {MISTAKE_QUOTE, "a quote is opened on this line and not closed",
     "put the missing \" at the end of the text, as in \"cuda\""},
    {MISTAKE_COMMENT, "a comment begins here and does not end", "end it with */"},
    {MISTAKE_OPEN_PAREN, "a closing parenthesis is missing: this line opens more ( than are closed",
     "count them: every ( needs its ), as in fy_zeros((2, 3));"},
    {MISTAKE_CLOSE_PAREN, "there is one ) too many on this line", "count them: every ) needs its ("},
    {MISTAKE_OPEN_BRACE, "the brace { that is opened here is never closed", "put the missing } where the block ends"},
    {MISTAKE_CLOSE_BRACE, "this } closes nothing: there is one } more than {",
     "look for a { that is missing above, or remove this }"},
};

static bool explain_source_mistake(diagnosis *d, const char *source)
{
    source_mistake f = source_check(source);
    if (f.what == MISTAKE_FINE) return false;
    d->line = f.line;
    if (f.what == MISTAKE_CHARS) {
        snprintf(d->message, sizeof d->message, "text goes in double quotes in C: \"%s\", not '%s'", f.text, f.text);
        snprintf(d->hint, sizeof d->hint, "single quotes are for one letter; write \"%s\"", f.text);
    }
    if (f.what == MISTAKE_DIVISION) {
        double half = strtod(f.text, NULL) / strtod(strchr(f.text, '/') + 1, NULL);
        snprintf(d->message, sizeof d->message, "%s is %d in C: dividing two integers drops the fraction", f.text,
                 (int)half);
        snprintf(d->hint, sizeof d->hint, "write %.6g, or %.*s.0%s", half, (int)strcspn(f.text, "/"), f.text,
                 strchr(f.text, '/'));
    }
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        if (mistakes[i].what != f.what) continue;
        snprintf(d->message, sizeof d->message, "%s", mistakes[i].message);
        snprintf(d->hint, sizeof d->hint, "%s", mistakes[i].hint);
    }
    return true;
}

/* The first diagnostic's line is a Python statement. */
static bool explain_python(diagnosis *d, const diagnostic *c)
{
    static const struct {
        const char *begins, *message, *hint;
    } words[] = {
        {"import ", "this is Python: C has no import", "C includes a header instead: #include <ferry.h>"},
        {"from ", "this is Python: C has no import", "C includes a header instead: #include <ferry.h>"},
        {"def ", "this is Python: C has no def", "a C program begins with int main(void) and a block in { }"},
        {NULL, NULL, NULL},
    };
    for (size_t i = 0; words[i].message; i++) {
        if (strncmp(c->here, words[i].begins, strlen(words[i].begins))) continue;
        snprintf(d->message, sizeof d->message, "%s", words[i].message);
        snprintf(d->hint, sizeof d->hint, "%s", words[i].hint);
        return true;
    }
    return false;
}

static bool explain_link(diagnosis *d, const char *source, const char *output)
{
    const char *p = strstr(output, "undefined reference to ");
    if (!p) p = strstr(output, "undefined symbol: ");
    if (!p) return false;
    char name[64];
    const char *quoted = p + strcspn(p, "`':") + 1;
    word_after(quoted, name, sizeof name);
    if (*quoted != ' ' && strcspn(quoted, "'\n") != strlen(name)) return false; /* no name of C */
    if (!strcmp(name, "main")) {
        snprintf(d->message, sizeof d->message, "the program has no main: C begins with int main(void)");
        snprintf(d->hint, sizeof d->hint,
                 "check whether main is misspelt, or put the statements into int main(void) { ... return 0; }");
        int line = 1;
        for (p = source; *p && d->line == 0; p = after_line(p), line++) {
            const char *open = strncmp(p, "int m", 5) ? NULL : strchr(p, '('); /* int mian(void) */
            if (open && open < p + strcspn(p, "\n")) d->line = line;
        }
    } else if (!strstr(source, name)) {
        snprintf(d->message, sizeof d->message, "Ferry's library is incomplete: it lacks %s", name);
        snprintf(d->hint, sizeof d->hint, "this is not your mistake; run make");
    } else {
        snprintf(d->message, sizeof d->message, "the linker found no function named %s", name);
        snprintf(d->hint, sizeof d->hint, "check the spelling against ferry.h");
    }
    return true;
}

/* What nobody has rules for, in the tool's own words: its first lines. */
static void quote_tool(diagnosis *d, const char *output)
{
    enum { LINES = 3 };
    size_t used = (size_t)snprintf(d->message, sizeof d->message, "this file could not be built");
    int shown = 0;
    for (const char *p = output; *p && shown < LINES; p = after_line(p)) {
        size_t n = strcspn(p, "\n"), left = sizeof d->message - used;
        if (!n || left < 8) continue;
        used += (size_t)snprintf(d->message + used, left, "%s%.*s", shown++ ? "; " : ": ",
                                 (int)(n < left - 4 ? n : left - 4), p);
    }
    snprintf(d->raw, sizeof d->raw, "%.1500s", output);
    snprintf(d->hint, sizeof d->hint,
             "these are the words of the assembler or the linker; look in your file for the name that they quote");
}

static diagnostic make_diagnostic(const message *m, const char *at, const char *shown, const char *source,
                                  const char *header)
{
    diagnostic c = {.line = m->line, .col = m->col, .source = source, .header = header};
    snprintf(c.text, sizeof c.text, "%s", m->text);
    source_line(source, c.line, c.here, sizeof c.here);
    const char *p = source;
    for (int i = 1; i < c.line; i++) p = after_line(p);
    c.indent = (int)strspn(p, " \t");

    /* A note that follows names the macro: "macro 'fy_add' defined here". */
    message next;
    for (p = after_line(at); *p && !*c.macro && !read_message(&next, p, shown); p = after_line(p)) {
        const char *macro = strstr(p, "note: macro ");
        if (macro && macro < p + strcspn(p, "\n")) word_after(macro + strlen("note: macro '"), c.macro, sizeof c.macro);
    }
    return c;
}

void diagnose(diagnosis *d, const char *shown, const char *source, const char *output, const char *header)
{
    message m;
    const char *at;
    *d = (diagnosis){0};
    char *code = blank_comments(source);
    store_raw(d, shown, output);
    if (first_message(&m, shown, output, true, &at)) {
        diagnostic c = make_diagnostic(&m, at, shown, code, header);
        d->line = c.line;
        if (!fix_hash(&c, d) && !explain_python(d, &c) && !explain_source_mistake(d, code) && !explain(&c, d)) {
            snprintf(d->message, sizeof d->message, "%s", c.text);
            /* Calls are macros over fy_NAME_at, a name that the learner never wrote. */
            for (char *p = d->message; (p = strstr(p, "_at'")); p++) memmove(p, p + 3, strlen(p + 3) + 1);
            snprintf(d->hint, sizeof d->hint,
                     "this is the compiler's own message; compare the line with the lesson's example");
        }
    } else if (!explain_source_mistake(d, source) && !explain_link(d, source, output)) {
        quote_tool(d, output);
    }
    source_line(source, d->line, d->source, sizeof d->source);
    free(code);
}

bool diagnose_warning(diagnosis *d, const char *shown, const char *source, const char *output)
{
    message m;
    const char *at;
    *d = (diagnosis){0};
    if (!first_message(&m, shown, output, false, &at)) return false;
    store_raw(d, shown, output);
    d->line = m.line;
    snprintf(d->message, sizeof d->message, "%s", m.text);
    source_line(source, d->line, d->source, sizeof d->source);
    return true;
}

bool diagnose_certain_mistake(diagnosis *d, const char *source)
{
    *d = (diagnosis){0};
    mistake_kind what = source_check(source).what;
    if (what != MISTAKE_CHARS && what != MISTAKE_DIVISION) return false;
    explain_source_mistake(d, source);
    source_line(source, d->line, d->source, sizeof d->source);
    return true;
}
