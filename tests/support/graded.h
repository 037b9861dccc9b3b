/* graded.h: a verdict over JSON lines, for tests of the grader and of lessons. */
#ifndef GRADED_H
#define GRADED_H

#include "grade.h"

/* False, with why in err: no such lesson, or lines that are not a log. */
bool grade_lines(const char *lesson, const char *lines, size_t size, uint64_t seed, const char *given, verdict *out,
                 char *err, size_t room);

#endif
