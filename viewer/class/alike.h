/* alike.h: submissions with the same program, whatever its comments, its spaces and the names of its variables. */
#ifndef FERRY_ALIKE_H
#define FERRY_ALIKE_H

#include <stdio.h>

#include "submissions.h"

/* The program without comments, spaces and what changes nothing (program_tokens.h), its variables numbered in their
 * order. The caller frees it. */
char *alike_form(const char *program);
/* Is the program the starter of its lesson, in that form? */
bool alike_is_starter(const home *h, const submission *s);
/* A line for each group, and one for those that are as the lesson's solution. Unchanged starters are left out. Returns
 * the number of lines. */
int alike_print(FILE *to, const home *h, const submissions *all);

#endif
