/* graded.h: grades JSON lines, for tests of the grader and of lessons. */
#ifndef GRADED_H
#define GRADED_H

#include "grade.h"

/* false, with the reason in err: an unknown lesson, or lines that are not a log. */
bool grade_lines(const char *lesson, const char *lines, size_t size, uint64_t seed, const char *given, verdict *out,
                 char *err, size_t room);

#endif
