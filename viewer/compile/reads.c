/* reads.c: the files that a program was built from. Compares resolved paths, and of a file with several names (hard
 * links) the file itself, so that links cannot bypass the check. */
#define _GNU_SOURCE
#include "reads.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One program's check. */
typedef struct read_check {
    const home *home;
    const char *name; /* of the learner's file, as passed to the compiler */
    reads_system *system;
    void *user;
    char *folders; /* what it returned; NULL: not called yet */
} read_check;

/* ---- the dependency list: "program: my/it.c /usr/include/a\ b.h \" ... ------------------------------ */

/* The next word from *p on, unescaped by make's rules: a blank after n backslashes belongs to the word if n is odd,
 * and half of the backslashes are literal. False at the end. */
bool reads_next(const char **p, char out[PATH_MAX])
{
    size_t n = 0;
    while (**p == ' ' || **p == '\n' || (**p == '\\' && (*p)[1] == '\n')) ++*p;
    while (**p && !strchr(" \t\n", **p) && n < PATH_MAX - 1) {
        size_t slashes = strspn(*p, "\\");
        char next = (*p)[slashes];
        bool blank = slashes && (next == ' ' || next == '\t');
        if (slashes == 1 && next == '\n') break;
        for (size_t i = 0; i < (blank ? slashes / 2 : slashes) && n < PATH_MAX - 1; i++) out[n++] = '\\';
        *p += slashes;
        if (blank && slashes % 2 == 0) break;
        if (slashes && next == '#') n--;
        if (!slashes && **p == '$' && (*p)[1] == '$') ++*p;
        if ((blank || !slashes || next == '#') && **p) out[n++] = *(*p)++;
    }
    out[n] = '\0';
    return n > 0;
}

/* ---- allowed folders --------------------------------------------------------------------------------- */

static bool is_in(const char *path, const char *folder)
{
    char real[PATH_MAX];
    if (!*folder || !realpath(folder, real)) return false;
    size_t n = strlen(real);
    return !strncmp(path, real, n) && (path[n] == '/' || n == 1);
}

/* ferry.h and ferry_*.h, in the include folder or in lib/, from which that is filled. */
static bool is_public(const home *h, const char *path)
{
    char real[PATH_MAX], folder[PATH_MAX];
    const char *base = strrchr(path, '/') + 1;
    if (strcmp(base, "ferry.h") != 0 && strncmp(base, "ferry_", 6) != 0) return false;
    snprintf(folder, sizeof folder, "%.*s", (int)(base - 1 - path), path);
    if (realpath(h->include, real) && !strcmp(real, folder)) return true;
    snprintf(real, sizeof real, "%.3000s/lib", h->ferry);
    char *source = realpath(real, NULL);
    bool yes = source && !strcmp(source, folder);
    free(source);
    return yes;
}

static bool is_system(read_check *l, const char *path)
{
    static const char *const usual[] = {"/usr/include", "/usr/lib", "/usr/local/include", "/usr/local/lib"};
    char folder[PATH_MAX];
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (is_in(path, usual[i])) return true;
    if (!l->folders) l->folders = l->system(l->user);
    for (const char *p = l->folders; p && *p; p += strcspn(p, "\n"), p += *p == '\n') {
        snprintf(folder, sizeof folder, "%.*s", (int)strcspn(p, "\n"), p);
        if (is_in(path, folder)) return true;
    }
    return false;
}

static bool is_same_in(int folder, const struct stat *file);

/* Is the folder's entry this file, or a folder that holds it? Symbolic links are not followed: others find those. */
static bool is_same_entry(int folder, const char *entry, const struct stat *file)
{
    struct stat is;
    if (!strcmp(entry, ".") || !strcmp(entry, "..") || fstatat(folder, entry, &is, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (!S_ISDIR(is.st_mode)) return is.st_dev == file->st_dev && is.st_ino == file->st_ino;
    return is_same_in(openat(folder, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), file);
}

/* Does the folder, which is closed, hold this file under any name? */
static bool is_same_in(int folder, const struct stat *file)
{
    bool yes = false;
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    if (!entries && folder >= 0) close(folder);
    for (struct dirent *d; entries && !yes && (d = readdir(entries));) yes = is_same_entry(folder, d->d_name, file);
    if (entries) closedir(entries);
    return yes;
}

/* A file that has another name, a hard link, in the folder. */
static bool is_linked_in(const char *path, const char *folder)
{
    struct stat file;
    if (!*folder || stat(path, &file) != 0 || file.st_nlink < 2) return false;
    return is_same_in(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &file);
}

/* Why the program may not read this file; NULL: it may. */
static const char *objection(read_check *l, const char *name, const char *path)
{
    const home *h = l->home;
    char lib[PATH_MAX + 8];
    snprintf(lib, sizeof lib, "%.3000s/lib", h->ferry);
    if (is_in(path, h->lessons)) return "which belongs to the lesson";
    if (is_public(h, path)) return NULL;
    if (is_in(path, lib) || is_in(path, h->grader)) return "which is inside Ferry";
    if (is_system(l, path)) return NULL;
    if (is_linked_in(path, h->lessons)) return "which is a link to a file of the lesson";
    if (is_linked_in(path, lib) || is_linked_in(path, h->grader)) return "which is a link to a file inside Ferry";
    if (!strcmp(name, l->name) || is_in(path, h->my)) return NULL;
    return "which is outside my/";
}

/* ---- the line that includes it ---------------------------------------------------------------------- */

static bool includes(const char *line, size_t size, const char *base)
{
    const char *hash = line;
    while (hash < line + size && (*hash == ' ' || *hash == '\t')) hash++;
    return hash < line + size && *hash == '#' && memmem(hash, size - (size_t)(hash - line), base, strlen(base));
}

/* Names the file, relative to the folder that holds lessons/ if it is there, and the line that includes it. */
static void refuse(const read_check *l, const char *why, const char *name, const char *path, const char *source,
                   diagnosis *d)
{
    const char *slash = strrchr(l->home->lessons, '/'), *shown = path;
    size_t root = slash ? (size_t)(slash - l->home->lessons) : 0;
    if (root && !strncmp(path, l->home->lessons, root) && path[root] == '/') shown += root + 1;
    size_t n = strlen(shown);
    *d = (diagnosis){0};
    snprintf(d->message, sizeof d->message, "the program reads %s%.200s, %s", n > 200 ? "..." : "",
             n > 200 ? shown + n - 200 : shown, why);
    snprintf(d->hint, sizeof d->hint, "an exercise may include <ferry.h>, system headers and your own files in my/");

    const char *base = strrchr(name, '/');
    base = base ? base + 1 : name;
    int line = 1;
    for (const char *p = source; *p; line++) {
        size_t size = strcspn(p, "\n");
        if (includes(p, size, base)) {
            d->line = line;
            snprintf(d->source, sizeof d->source, "%.*s", (int)(size < 200 ? size : 200), p);
            return;
        }
        p += size + (p[size] == '\n');
    }
}

reads reads_check(const home *h, const char *list, const char *name, const char *source, reads_system *system,
                  void *user, diagnosis *d)
{
    char word[PATH_MAX], full[2 * PATH_MAX], path[PATH_MAX];
    char *text = file_read(list, NULL);
    const char *p = text ? strstr(text, ": ") : NULL;
    read_check l = {.home = h, .name = name, .system = system, .user = user};
    reads found = p ? READS_FINE : READS_UNKNOWN;
    for (p += p ? 2 : 0; found == READS_FINE && reads_next(&p, word);) {
        snprintf(full, sizeof full, "%s%s%s", *word == '/' ? "" : h->beside, *word == '/' ? "" : "/", word);
        bool resolved = realpath(full, path); /* if not, the name was parsed wrongly: refuse it */
        if (!resolved) snprintf(path, sizeof path, "%s", word);
        const char *why = resolved ? objection(&l, word, path) : "whose path cannot be resolved";
        if (!why) continue;
        refuse(&l, why, word, path, source, d);
        found = READS_REFUSED;
    }
    free(l.folders);
    free(text);
    return found;
}
