/* compiler.c: finds a compiler ($CC, cc, gcc, clang) and collects its arguments. */
#include "compiler.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paths.h"

const char *const compiler_english[] = {"LC_ALL=C", "GCC_COLORS=", NULL};

void compiler_add(compiler_command *c, const char *word)
{
    if (c->count < COMPILER_ARGUMENTS - 1) c->argv[c->count++] = word;
    c->argv[c->count] = NULL;
}

void compiler_add_words(compiler_command *c, const char *text)
{
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t n = strcspn(text, " ");
        if (c->used + n + 1 > sizeof c->words) return;
        char *word = c->words + c->used;
        memcpy(word, text, n);
        word[n] = '\0';
        c->used += n + 1;
        compiler_add(c, word);
        text += n;
    }
}

/* ---- finding a compiler -------------------------------------------------------------------------- */

static bool find_program(const char *name, char out[PATH_ROOM])
{
    if (strchr(name, '/')) return snprintf(out, PATH_ROOM, "%s", name) < PATH_ROOM && access(out, X_OK) == 0;
    const char *path = getenv("PATH");
    for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");
        bool fits = snprintf(out, PATH_ROOM, "%.*s/%s", (int)n, p, name) < PATH_ROOM;
        if (fits && access(out, X_OK) == 0 && !folder_exists(out)) return true;
        p += n + (p[n] == ':');
    }
    return false;
}

/* "cc" may be either: the file that it links to decides. */
static bool is_clang(const char *path)
{
    char real[PATH_MAX];
    return strstr(path, "clang") || (realpath(path, real) && strstr(real, "clang"));
}

bool compiler_choose(compiler_command *c, bool *clang, diagnosis *d)
{
    static const char *const usual[] = {"cc", "gcc", "clang"};
    const char *cc = getenv("CC");
    char path[PATH_ROOM], first[256];
    if (cc && *cc) {
        snprintf(first, sizeof first, "%.*s", (int)strcspn(cc, " "), cc);
        compiler_add_words(c, cc);
        *clang = strstr(cc, "clang") || (find_program(first, path) && is_clang(path));
        if (find_program(first, path)) return true;
        snprintf(d->message, sizeof d->message, "CC is '%.200s': no such compiler", cc);
        snprintf(d->hint, sizeof d->hint, "unset CC, or set it to gcc or clang");
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (!find_program(usual[i], path)) continue;
        compiler_add(c, usual[i]);
        *clang = is_clang(path);
        return true;
    }
    snprintf(d->message, sizeof d->message, "no C compiler found (tried cc, gcc and clang)");
    snprintf(d->hint, sizeof d->hint, "install one: apt install gcc, or dnf install gcc");
    return false;
}

bool compiler_add_fast_linker(compiler_command *c)
{
    char path[PATH_ROOM];
    if (!find_program("ld.gold", path)) return false;
    compiler_add(c, "-fuse-ld=gold");
    return true;
}
