/* memory.h: memory of the command's own. Who gets none says what for, and the process ends with status 1: findings, or
 * an answer, that lack a part would be believed. Nothing here returns NULL. A server is patient: it tries again for
 * two seconds, so that one moment without memory ends no page. */
#ifndef FERRY_VIEWER_MEMORY_H
#define FERRY_VIEWER_MEMORY_H

#include <stddef.h>

void *memory_zeroed(size_t n, size_t size, const char *for_what);
void *memory_grown(void *p, size_t n, size_t size, const char *for_what); /* p NULL: new */
char *memory_copy(const char *text, const char *for_what);
_Noreturn void memory_fail(const char *for_what);

void memory_for_json(void); /* from now on cJSON, too, allocates like this, in all of this process */
void memory_retry(void);    /* this process serves pages */

#endif
