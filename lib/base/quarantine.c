/* quarantine.c: a ring of the pointers that were freed last. */
#include "quarantine.h"

#include <stdlib.h>

#include "lock.h"

enum { KEPT = 256 };

FY_LOCK(lock) /* everything below */
static void *ring[KEPT];
static unsigned next;

void fy_quarantine(void *freed)
{
    fy_lock_take(&lock);
    void *oldest = ring[next];
    ring[next] = freed;
    next = (next + 1) % KEPT;
    fy_lock_give(&lock);
    free(oldest);
}
