/* show.h: prints steps as C source. */
#ifndef FUZZ_SHOW_H
#define FUZZ_SHOW_H

#include <stdio.h>

#include "program.h"

/* "t3 = fy_add(t1, 2.5);" */
void show_step(const program *p, int i, FILE *out);

#endif
