/* out_of_memory.c: the one place where Ferry gives up for want of memory. */
#include "out_of_memory.h"

#include <stdio.h>
#include <stdlib.h>

void fy_out_of_memory(const char *for_what)
{
    fprintf(stderr, "ferry: no memory for %s; close other programs, or raise ulimit -v\n", for_what);
    exit(1);
}
