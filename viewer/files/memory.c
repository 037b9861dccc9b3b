/* memory.c: allocation for the command; the only place that handles out of memory. */
#include "memory.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 100, RETRY_US = 20000 };

static atomic_bool retry_enabled;

/* quick_exit, without atexit handlers: this may be a fork, whose parent runs them, or one of several threads. */
void memory_fail(const char *for_what)
{
    fprintf(stderr, "ferry: out of memory for %s; close other programs, or raise ulimit -v\n", for_what);
    quick_exit(1);
}

/* After a failed attempt: sleeps and returns true, or gives up. */
static bool retry(int *tries, const char *for_what)
{
    if (!atomic_load(&retry_enabled) || ++*tries > TRIES) memory_fail(for_what);
    usleep(RETRY_US);
    return true;
}

void *memory_zeroed(size_t n, size_t size, const char *for_what)
{
    void *p;
    int tries = 0;
    while (!(p = calloc(n ? n : 1, size)) && retry(&tries, for_what)) continue;
    return p;
}

void *memory_realloc(void *p, size_t n, size_t size, const char *for_what)
{
    void *block;
    int tries = 0;
    while (!(block = reallocarray(p, n ? n : 1, size)) && retry(&tries, for_what)) continue;
    return block;
}

void *memory_grown(void *list, int *room, int count, size_t size, const char *for_what)
{
    if (count < *room) return list;
    if (*room > INT_MAX / 2) memory_fail(for_what);
    *room = *room ? 2 * *room : 256;
    return memory_realloc(list, (size_t)*room, size, for_what);
}

char *memory_copy(const char *text, const char *for_what)
{
    size_t size = strlen(text) + 1;
    return memcpy(memory_realloc(NULL, size, 1, for_what), text, size);
}

static void *allocate_json(size_t bytes) { return memory_realloc(NULL, bytes, 1, "JSON"); }

void memory_hook_cjson(void)
{
    cJSON_Hooks hooks = {.malloc_fn = allocate_json, .free_fn = free};
    cJSON_InitHooks(&hooks);
}

void memory_retry(void) { atomic_store(&retry_enabled, true); }
