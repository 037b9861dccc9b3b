/* names.c: names in ferry.h and in a learner's line: look up, suggest, extract. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostic.h"

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static size_t name_length(const char *p)
{
    size_t n = 0;
    while (is_name(p[n])) n++;
    return n;
}

/* The next "fy_name(" of the header from p on, its length in n. Internal names end in _ or _at. */
static const char *next_call(const char *p, size_t *n)
{
    for (; (p = strstr(p, "fy_")); p += *n) {
        *n = name_length(p);
        if (p[*n] == '(' && p[*n - 1] != '_' && strncmp(p + *n - 3, "_at", 3)) return p;
    }
    return NULL;
}

bool name_known(const char *header, const char *name)
{
    size_t n;
    for (const char *p = header; (p = next_call(p, &n)); p += n)
        if (n == strlen(name) && !strncmp(p, name, n)) return true;
    return false;
}

/* Levenshtein distance; 99 for names of 63 characters or more. */
int name_distance(const char *a, size_t na, const char *b, size_t nb)
{
    int row[64];
    if (nb >= 63 || na >= 63) return 99;
    for (size_t j = 0; j <= nb; j++) row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int up = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = up;
            row[j] = best;
        }
    }
    return row[nb];
}

void name_nearest(const char *header, const char *name, char *out, int room)
{
    char full[64];
    size_t n, length = strlen(name);
    int least = length < 6 ? 2 : 3; /* from that distance on it is another word */
    *out = '\0';
    snprintf(full, sizeof full, "fy_%.40s", name);
    if (name_known(header, full)) {
        snprintf(out, (size_t)room, "%s", full);
        return;
    }
    for (const char *p = header; (p = next_call(p, &n)); p += n) {
        int d = name_distance(name, length, p, n);
        if (d >= least) continue;
        least = d;
        snprintf(out, (size_t)room, "%.*s", (int)n, p);
    }
}

void macro_form(const char *header, const char *name, char *out, int room)
{
    char start[80];
    snprintf(start, sizeof start, "#define %.40s(", name);
    const char *p = strstr(header, start);
    *out = '\0';
    if (!p || !strncmp(p + strlen(start), "...", 3)) return;
    p += strlen("#define ");
    snprintf(out, (size_t)room, "%.*s)", (int)strcspn(p, ")\n"), p);
}

void word_after(const char *p, char *out, int room)
{
    while (*p == ' ') p++;
    snprintf(out, (size_t)room, "%.*s", (int)name_length(p), p);
}

void word_before(const char *line, const char *p, char *out, int room)
{
    while (p > line && p[-1] == ' ') p--;
    const char *end = p;
    while (p > line && is_name(p[-1])) p--;
    snprintf(out, (size_t)room, "%.*s", (int)(end - p), p);
}

void text_in_parentheses(const char *p, char *out, int room)
{
    int depth = 0, n = 0;
    for (; p[n]; n++) {
        depth += p[n] == '(' ? 1 : p[n] == ')' ? -1 : 0;
        if (depth == 0) break;
    }
    snprintf(out, (size_t)room, "%.*s", n > 1 ? n - 1 : 0, p + 1);
}

bool diagnosis_set(diagnosis *d, const char *message, const char *hint)
{
    SET(message, "%s", message);
    SET(hint, "%s", hint);
    return true;
}
