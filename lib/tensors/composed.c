/* composed.c: see composed.h. */
#include "composed.h"

static _Thread_local fy_composed now;

fy_composed fy_compose(fy_composed inside)
{
    fy_composed before = now;
    now = inside;
    return before;
}

const fy_composed *fy_composed_now(void) { return &now; }
