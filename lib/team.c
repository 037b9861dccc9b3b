/* team.c: a few threads that share the work on large tensors. */
#include "team.h"

void fy_team_run(int64_t n, int64_t grain, fy_team_body body, void *context)
{
    (void)grain;
    body(0, n, context);
}

int fy_team_size(void) { return 1; }
