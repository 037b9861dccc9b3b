/* out_of_memory.c: ends the program if Ferry's own data structures cannot be allocated. */
#include "out_of_memory.h"

#include <stdio.h>
#include <stdlib.h>

void fy_out_of_memory(const char *for_what)
{
    fprintf(stderr, "ferry: out of memory for %s; close other programs, or raise ulimit -v\n", for_what);
    exit(1);
}
