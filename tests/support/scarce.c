/* scarce.c: see scarce.h. */
#include "scarce.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

scarcity scarce;

static bool is_refused(void)
{
    if (!scarce.asked) return false;
    long n = ++*scarce.asked;
    if (!scarce.fails || (scarce.for_good ? n < scarce.fails : n != scarce.fails)) return false;
    errno = ENOMEM;
    return true;
}

#define SCARCE(type, name, parameters, ...) \
    type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters { return is_refused() ? NULL : __real_##name(__VA_ARGS__); }

SCARCE(void *, malloc, (size_t n), n)
SCARCE(void *, calloc, (size_t n, size_t size), n, size)
SCARCE(void *, realloc, (void *p, size_t n), p, n)
SCARCE(void *, reallocarray, (void *p, size_t n, size_t size), p, n, size)
SCARCE(void *, aligned_alloc, (size_t align, size_t n), align, n)
SCARCE(char *, strdup, (const char *s), s)
SCARCE(char *, strndup, (const char *s, size_t n), s, n)
SCARCE(DIR *, opendir, (const char *path), path)
SCARCE(FILE *, fopen, (const char *path, const char *mode), path, mode)
SCARCE(FILE *, open_memstream, (char **text, size_t *size), text, size)

/* These allocate if they are given no buffer. */
char *__real_realpath(const char *path, char *out);
char *__wrap_realpath(const char *path, char *out);
char *__wrap_realpath(const char *path, char *out) { return !out && is_refused() ? NULL : __real_realpath(path, out); }

char *__real_getcwd(char *out, size_t n);
char *__wrap_getcwd(char *out, size_t n);
char *__wrap_getcwd(char *out, size_t n) { return !out && is_refused() ? NULL : __real_getcwd(out, n); }

int __wrap_asprintf(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list list;
    *out = NULL;
    if (is_refused()) return -1;
    va_start(list, format);
    int n = vasprintf(out, format, list);
    va_end(list);
    return n;
}
