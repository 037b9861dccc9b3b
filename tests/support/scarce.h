/* scarce.h: makes the n-th allocation of Ferry's own code, including cJSON's, fail: only that one, or all from there
 * on. The test is linked with --wrap for the allocation functions (Makefile), which also works under ASan. Allocations
 * inside the C library and OpenBLAS are not counted. */
#ifndef SCARCE_H
#define SCARCE_H

#include <dirent.h>
#include <stdbool.h>

typedef struct scarcity {
    _Atomic long *asked; /* allocations so far; NULL: not counted */
    long fails;          /* the number of the first one that fails, from 1; 0: none */
    bool for_good;       /* all later ones fail too */
} scarcity;

extern scarcity scarce;
DIR *__real_opendir(const char *path); /* not counted */

#endif
