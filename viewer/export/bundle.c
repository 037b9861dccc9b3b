/* bundle.c: each module becomes a function that is called once, in the order of the imports:
 *
 *     const m3 = (() => { const { a, b: c } = m1; const units = m2; ... return { x, y }; })();
 *
 * It knows the forms that the page uses, and refuses all others: `import { a, b as c } from './x.js';`, `import * as d
 * from './x.js';` and `export` before function, const and class, each at the beginning of a line. No module imports
 * itself by way of another. */
#define _GNU_SOURCE
#include "bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets.h"
#include "memory.h"

enum { MOST = 512, PATH = 256 };

typedef struct bundle {
    fy_text *out;
    char *err;
    size_t room;
    const asset *done[MOST]; /* in the order in which they were added: done[i] is m<i> */
    int count;
    const asset *open[MOST]; /* being added: an import of one of these is a cycle */
    int depth;
} bundle;

static int add(bundle *b, const asset *a);

static const asset *find(const char *path)
{
    for (const asset *a = fy_assets; a->path; a++)
        if (!strcmp(a->path, path)) return a;
    return NULL;
}

/* "./x.js" or "../stage/x.js", seen from "/panes/y.js". */
static bool resolve(const char *from, const char *to, size_t n, char path[PATH])
{
    const char *slash = strrchr(from, '/');
    size_t folder = (size_t)(slash - from);
    if (n < 2 || strncmp(to, "./", 2)) {
        if (n < 3 || strncmp(to, "../", 3) || !folder) return false;
        while (from[--folder] != '/') continue;
        to += 3, n -= 3;
    } else {
        to += 2, n -= 2;
    }
    return n && folder + n + 2 < PATH && snprintf(path, PATH, "%.*s/%.*s", (int)folder, from, (int)n, to) > 0;
}

static int refuse(const bundle *b, const asset *a, const char *what, const char *line)
{
    snprintf(b->err, b->room, "the page's file %s cannot be put into one file: %s: %.*s", a->path + 1, what,
             (int)strcspn(line, "\n"), line);
    return -1;
}

/* `{ a, b as c }` of an import, as the pattern `{ a, b: c }`. */
static void add_pattern(fy_text *out, const char *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (n - i > 4 && !strncmp(names + i, " as ", 4)) {
            fy_text_str(out, ": ");
            i += 3;
        } else {
            fy_text_add(out, names + i, 1);
        }
    }
}

/* One import statement; returns its end, NULL after an error. imported: the module that it names. */
static const char *read_import(bundle *b, const asset *a, const char *at, const char *end, fy_text *head)
{
    static const char all[] = "* as ";
    const char *stop = memchr(at, ';', (size_t)(end - at)), *names = at + strlen("import ");
    const char *from = stop ? memmem(at, (size_t)(stop - at), " from '", 7) : NULL;
    char path[PATH];
    if (!from || stop[-1] != '\'' || !resolve(a->path, from + 7, (size_t)(stop - from) - 8, path))
        return refuse(b, a, "an import", at), NULL;
    const asset *other = find(path);
    if (!other) return refuse(b, a, "there is no such file", at), NULL;
    int m = add(b, other);
    if (m < 0) return NULL;
    fy_text_str(head, "const ");
    if (!strncmp(names, all, 5)) fy_text_add(head, names + 5, (size_t)(from - names) - 5);
    else if (*names == '{') add_pattern(head, names, (size_t)(from - names));
    else return refuse(b, a, "an import", at), NULL;
    fy_text_printf(head, " = m%d;", m);
    return stop + 1;
}

/* The name that a declaration behind `export` gives; 0 letters: none that is understood. */
static size_t exported(const char **at)
{
    static const char *const kinds[] = {"async function ", "function ", "const ", "class "};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i]);
        if (strncmp(*at, kinds[i], n)) continue;
        *at += n;
        return strspn(*at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$");
    }
    return 0;
}

/* A script that contained its own closing tag would end there. */
static void add_line(fy_text *out, const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (n - i > 7 && !strncmp(line + i, "</script", 8)) fy_text_str(out, "<\\"), i++;
        fy_text_add(out, line + i, 1);
    }
}

static bool add_body(bundle *b, const asset *a, fy_text *head, fy_text *body, fy_text *names)
{
    const char *at = (const char *)a->data, *end = at + a->size;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *next = newline ? newline + 1 : end;
        if (!strncmp(at, "import ", 7)) {
            if (!(at = read_import(b, a, at, end, head))) return false;
            continue;
        }
        if (!strncmp(at, "export ", 7)) {
            const char *name = at += 7;
            size_t n = exported(&name);
            if (!n) return refuse(b, a, "an export", at), false;
            fy_text_printf(names, "%s%.*s", names->size ? ", " : "", (int)n, name);
        }
        add_line(body, at, (size_t)(next - at));
        at = next;
    }
    return true;
}

/* Adds a module once; returns its number, -1 after an error. */
static int add(bundle *b, const asset *a)
{
    fy_text head = {0}, body = {0}, names = {0};
    for (int i = 0; i < b->count; i++)
        if (b->done[i] == a) return i;
    for (int i = 0; i < b->depth; i++)
        if (b->open[i] == a) return refuse(b, a, "it imports itself by way of", b->open[b->depth - 1]->path);
    if (b->depth == MOST || b->count == MOST) return refuse(b, a, "there are too many modules", "");
    b->open[b->depth++] = a;
    bool ok = add_body(b, a, &head, &body, &names);
    b->depth--;
    if (head.lost || body.lost || names.lost) memory_fail("a page in one file");
    if (ok) {
        fy_text_printf(b->out, "// %s\nconst m%d = (() => {", a->path + 1, b->count);
        fy_text_add(b->out, head.data, head.size);
        fy_text_add(b->out, body.data, body.size);
        fy_text_str(b->out, "\nreturn { ");
        fy_text_add(b->out, names.data, names.size);
        fy_text_str(b->out, " };\n})();\n");
        b->done[b->count++] = a;
    }
    free(head.data), free(body.data), free(names.data);
    return ok ? b->count - 1 : -1;
}

bool bundle_modules(const char *entry, fy_text *out, char *err, size_t room)
{
    bundle b = {.out = out, .err = err, .room = room};
    const asset *a = find(entry);
    if (!a) {
        snprintf(err, room, "this ferry was built without the page's file %s", entry);
        return false;
    }
    int m = add(&b, a);
    if (out->lost) memory_fail("a page in one file");
    return m >= 0;
}
