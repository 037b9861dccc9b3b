/* choose.h: chooses the next step of a program: a function by weight, then operands and options until fits() accepts
 * them. A step that may fail takes the first ones drawn. */
#ifndef FUZZ_CHOOSE_H
#define FUZZ_CHOOSE_H

#include "program.h"

/* Appends the next step, unless it was planned with an earlier one. */
void choose_step(program *p);

#endif
