/* reads.c: the files that went into a program. Paths are compared as they really are: no link leads around this. */
#define _GNU_SOURCE
#include "reads.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program being looked at. */
typedef struct look {
    const home *home;
    const char *name; /* of the learner's file, as the compiler was told it */
    reads_system *ask;
    void *user;
    char *folders; /* what it said; NULL: not asked yet */
} look;

/* ---- the compiler's list: "it: my/it.c /usr/include/a\ b.h \" and so on --------------------------- */

/* The next word from *p on, less what protects its blanks, as make reads it: a blank behind n backslashes belongs to
 * the word where n is odd, and of the backslashes half are meant. False at the end. */
static bool next_word(const char **p, char out[PATH_MAX])
{
    size_t n = 0;
    while (**p == ' ' || **p == '\n' || (**p == '\\' && (*p)[1] == '\n')) ++*p;
    while (**p && !strchr(" \t\n", **p) && n < PATH_MAX - 1) {
        size_t slashes = strspn(*p, "\\");
        char behind = (*p)[slashes];
        bool blank = slashes && (behind == ' ' || behind == '\t');
        if (slashes == 1 && behind == '\n') break;
        for (size_t i = 0; i < (blank ? slashes / 2 : slashes) && n < PATH_MAX - 1; i++) out[n++] = '\\';
        *p += slashes;
        if (blank && slashes % 2 == 0) break;
        if (slashes && behind == '#') n--;
        if (!slashes && **p == '$' && (*p)[1] == '$') ++*p;
        if ((blank || !slashes || behind == '#') && **p) out[n++] = *(*p)++;
    }
    out[n] = '\0';
    return n > 0;
}

/* ---- where a file lies ------------------------------------------------------------------------------ */

static bool lies_in(const char *path, const char *folder)
{
    char real[PATH_MAX];
    if (!*folder || !realpath(folder, real)) return false;
    size_t n = strlen(real);
    return !strncmp(path, real, n) && (path[n] == '/' || n == 1);
}

/* A folder that lies beside lessons/: "lib". */
static bool lies_beside_lessons(const home *h, const char *path, const char *name)
{
    char folder[PATH_MAX + 8];
    snprintf(folder, sizeof folder, "%.3000s/../%s", h->lessons, name);
    return lies_in(path, folder);
}

/* ferry.h and ferry_*.h, in the folder that programs are built against, or where that is filled from. */
static bool is_public(const home *h, const char *path)
{
    char real[PATH_MAX], folder[PATH_MAX];
    const char *base = strrchr(path, '/') + 1;
    if (strcmp(base, "ferry.h") != 0 && strncmp(base, "ferry_", 6) != 0) return false;
    snprintf(folder, sizeof folder, "%.*s", (int)(base - 1 - path), path);
    if (realpath(h->include, real) && !strcmp(real, folder)) return true;
    snprintf(real, sizeof real, "%.3000s/../lib", h->lessons);
    char *source = realpath(real, NULL);
    bool yes = source && !strcmp(source, folder);
    free(source);
    return yes;
}

static bool is_of_the_system(look *l, const char *path)
{
    static const char *const usual[] = {"/usr/include", "/usr/lib", "/usr/local/include", "/usr/local/lib"};
    char folder[PATH_MAX];
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (lies_in(path, usual[i])) return true;
    if (!l->folders) l->folders = l->ask(l->user);
    for (const char *p = l->folders; p && *p; p += strcspn(p, "\n"), p += *p == '\n') {
        snprintf(folder, sizeof folder, "%.*s", (int)strcspn(p, "\n"), p);
        if (lies_in(path, folder)) return true;
    }
    return false;
}

/* Why the file may not be read; NULL: it may. */
static const char *objection(look *l, const char *name, const char *path)
{
    const home *h = l->home;
    if (lies_in(path, h->lessons)) return "which belongs to the lesson";
    if (is_public(h, path)) return NULL;
    if (lies_beside_lessons(h, path, "lib")) return "which is inside Ferry";
    if (!strcmp(name, l->name) || lies_in(path, h->my) || is_of_the_system(l, path)) return NULL;
    return "which lies outside my/";
}

/* ---- the line that asks for it ---------------------------------------------------------------------- */

static bool asks_for(const char *line, size_t size, const char *base)
{
    const char *hash = line;
    while (hash < line + size && (*hash == ' ' || *hash == '\t')) hash++;
    return hash < line + size && *hash == '#' && memmem(hash, size - (size_t)(hash - line), base, strlen(base));
}

static void find_line(const char *source, const char *name, diagnosis *d)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    int number = 1;
    for (const char *p = source; *p; number++) {
        size_t size = strcspn(p, "\n");
        if (asks_for(p, size, base)) {
            d->line = number;
            snprintf(d->source, sizeof d->source, "%.*s", (int)(size < 200 ? size : 200), p);
            return;
        }
        p += size + (p[size] == '\n');
    }
}

/* The name that the learner would know: the path from the folder that holds lessons/ on, else all of it. */
static const char *known_as(const home *h, const char *path)
{
    const char *slash = strrchr(h->lessons, '/');
    size_t n = slash ? (size_t)(slash - h->lessons) : 0;
    return n && !strncmp(path, h->lessons, n) && path[n] == '/' ? path + n + 1 : path;
}

static void refuse(const look *l, const char *why, const char *name, const char *path, const char *source, diagnosis *d)
{
    const char *known = known_as(l->home, path);
    size_t n = strlen(known);
    *d = (diagnosis){0};
    snprintf(d->message, sizeof d->message, "the program reads %s%.200s, %s", n > 200 ? "..." : "",
             n > 200 ? known + n - 200 : known, why);
    snprintf(d->hint, sizeof d->hint,
             "an exercise is built from <ferry.h>, the system's headers and files of your own in my/; write it there");
    find_line(source, name, d);
}

reads reads_check(const home *h, const char *list, const char *name, const char *source, reads_system *system,
                  void *user, diagnosis *d)
{
    char word[PATH_MAX], whole[2 * PATH_MAX], path[PATH_MAX];
    char *text = file_read(list, NULL);
    const char *p = text ? strstr(text, ": ") : NULL;
    look l = {.home = h, .name = name, .ask = system, .user = user};
    reads found = p ? READS_FINE : READS_UNKNOWN;
    for (p += p ? 2 : 0; found == READS_FINE && next_word(&p, word);) {
        snprintf(whole, sizeof whole, "%s%s%s", *word == '/' ? "" : h->beside, *word == '/' ? "" : "/", word);
        bool there = realpath(whole, path); /* else its name was not understood: who knows what it is? */
        if (!there) snprintf(path, sizeof path, "%s", word);
        const char *why = there ? objection(&l, word, path) : "which has a name that cannot be followed";
        if (!why) continue;
        refuse(&l, why, word, path, source, d);
        found = READS_REFUSED;
    }
    free(l.folders);
    free(text);
    return found;
}
