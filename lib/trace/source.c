/* source.c: source files, each read at most once and never freed. A linked list: programs have few files, and it is
 * searched only once per call site. */
#define _GNU_SOURCE
#include "source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event.h"
#include "lock.h"
#include "out_of_memory.h"
#include "site.h"

FY_LONG_LOCK(lock)
static fy_source *files; /* read without the lock by fy_source_ending */
static bool embedded;

static fy_source *find(const char *path)
{
    for (fy_source *s = files; s; s = s->next)
        if (!strcmp(s->path, path)) return s;
    return NULL;
}

static fy_source *add(const char *path, const char *text, size_t size)
{
    fy_source *s = calloc(1, sizeof *s);
    char *own = strdup(path);
    if (!s || !own) fy_out_of_memory("the list of source files");
    *s = (fy_source){.path = own, .text = text, .size = size, .next = files};
    __atomic_store_n(&files, s, __ATOMIC_RELEASE);
    return s;
}

void fy_source_embed(const char *path, const char *text, size_t size)
{
    pthread_mutex_lock(&lock);
    embedded = true;
    if (size <= FY_SOURCE_MAX && !find(path)) add(path, text, size);
    pthread_mutex_unlock(&lock);
}

bool fy_source_is_embedded(void) { return embedded; }

/* The text of a regular file of at most FY_SOURCE_MAX bytes, else NULL. */
static char *slurp(const char *path, size_t *size)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return NULL;
    char *text = NULL;
    if (!fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_size <= FY_SOURCE_MAX) {
        text = malloc((size_t)s.st_size + 1);
        if (!text) fy_out_of_memory("the text of a source file");
    }
    ssize_t n = text ? read(fd, text, (size_t)s.st_size) : -1;
    close(fd);
    if (n < 0) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    *size = (size_t)n;
    return text;
}

static fy_source *find_or_read(const char *path)
{
    fy_source *s = find(path);
    if (s) return s;
    size_t size = 0;
    char *text = slurp(path, &size);
    return add(path, text, size);
}

fy_source *fy_source_of(const char *path)
{
    pthread_mutex_lock(&lock);
    fy_source *s = find_or_read(path);
    pthread_mutex_unlock(&lock);
    return s->text ? s : NULL;
}

const fy_source *fy_source_ending(const char *path)
{
    const size_t size = strlen(path);
    for (const fy_source *s = __atomic_load_n(&files, __ATOMIC_ACQUIRE); s; s = s->next) {
        const size_t n = strlen(s->path);
        if (n <= size && !strcmp(path + size - n, s->path) && (n == size || path[size - n - 1] == '/')) return s;
    }
    return NULL;
}

void fy_source_emit(const char *path)
{
    pthread_mutex_lock(&lock);
    fy_source *s = find_or_read(path);
    unsigned generation = __atomic_load_n((uint32_t *)&fy_log_generation, __ATOMIC_RELAXED);
    bool is_new = s->text && s->generation != generation;
    if (is_new) s->generation = generation;
    pthread_mutex_unlock(&lock);
    if (!is_new) return;
    char hash[24];
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < s->size; i++) h = (h ^ (unsigned char)s->text[i]) * 1099511628211u;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)h);
    FY_EMIT(NULL, source, .path = fy_ref_str(fy_site_file(path)), .hash = fy_ref_str(hash),
            .text = fy_ref_bytes(s->text, s->size));
}
