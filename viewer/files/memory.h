/* memory.h: allocation for the command. Never returns NULL: without memory the process exits with status 1 and says
 * what the memory was for, since an incomplete report would be taken for a complete one. A server retries for two
 * seconds first, so that a short shortage does not end it. Thread-safe. */
#ifndef FERRY_VIEWER_MEMORY_H
#define FERRY_VIEWER_MEMORY_H

#include <stddef.h>

void *memory_zeroed(size_t n, size_t size, const char *for_what);
void *memory_realloc(void *p, size_t n, size_t size, const char *for_what); /* reallocarray; p may be NULL */
char *memory_copy(const char *text, const char *for_what);
/* `list` with room for one more than `count`: it doubles. */
void *memory_grown(void *list, int *room, int count, size_t size, const char *for_what);
_Noreturn void memory_fail(const char *for_what);

/* Appends to a struct of all, count and room; its value is the new one's number. */
#define MEMORY_PUSH(list, for_what, ...) \
    ((list)->all = memory_grown((list)->all, &(list)->room, (list)->count, sizeof *(list)->all, for_what), \
     (list)->all[(list)->count] = (__VA_ARGS__), (list)->count++)

void memory_hook_cjson(void); /* makes cJSON allocate like this from now on, in the whole process */
void memory_retry(void);      /* from now on retry before giving up: for a process that serves pages */

#endif
