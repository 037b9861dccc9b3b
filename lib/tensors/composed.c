/* composed.c: see composed.h. */
#include "composed.h"

_Thread_local fy_composed fy_composed_now;

fy_composed fy_compose(fy_composed inside)
{
    fy_composed before = fy_composed_now;
    fy_composed_now = inside;
    return before;
}
