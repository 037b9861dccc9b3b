/* scarce.h: memory that runs out at the n-th allocation of Ferry's own code, cJSON's among them: there alone, or from
 * there on. The test is linked with --wrap for each of these functions (Makefile), which works under ASan as well.
 * What the C library and OpenBLAS allocate for themselves is not counted. */
#ifndef SCARCE_H
#define SCARCE_H

#include <dirent.h>
#include <stdbool.h>

typedef struct scarcity {
    _Atomic long *asked; /* so often so far; NULL: nobody counts */
    long fails;          /* the first that fails, from 1; 0: none does */
    bool for_good;       /* and all later ones */
} scarcity;

extern scarcity scarce;
DIR *__real_opendir(const char *path); /* which does not count */

#endif
