/* prove.h: does a lesson hold? For its author: the starter and each wrong answer must fail the check that lesson.json
 * says, the solution must pass with any seed, the example must answer the questions. */
#ifndef FERRY_PROVE_H
#define FERRY_PROVE_H

#include <stdio.h>

#include "lesson.h"

/* Builds and grades the lesson's programs in a folder of their own, and prints a line about each. seconds: the limit of
 * a program; 0: the default. */
bool prove(const home *h, const lesson *l, double seconds, FILE *to);

#endif
