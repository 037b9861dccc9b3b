/* choose.h: the next step of a program: a function by weight, then operands and options, until they
 * promise to fit; in a step that may be a mistake the first throw stands. */
#ifndef FUZZ_CHOOSE_H
#define FUZZ_CHOOSE_H

#include "program.h"

/* Put the next step into the program, unless it is there already. */
void choose_step(program *p);

#endif
