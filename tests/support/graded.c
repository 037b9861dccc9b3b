/* graded.c: see graded.h. */
#include "graded.h"

bool grade_lines(const char *lesson, const char *lines, size_t size, uint64_t seed, const char *given, verdict *out,
                 char *err, size_t room)
{
    trace run;
    *out = (verdict){0};
    if (!trace_of_lines(&run, lines, size, err, room)) return false;
    bool ok = grade_run(lesson, &run, seed, given, out, err, room);
    trace_free(&run);
    return ok;
}
