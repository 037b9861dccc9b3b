/* grad_mode.c: whether this thread records a graph: FY_NO_GRAD. */
#include "grad_mode.h"

static _Thread_local bool off;

bool fy_grad_set_enabled(bool on)
{
    bool was = !off;
    off = !on;
    return was;
}

fy_no_grad fy_no_grad_begin(void) { return (fy_no_grad){true, fy_grad_set_enabled(false)}; }
void fy_no_grad_end(fy_no_grad *block) { fy_grad_set_enabled(block->was_enabled); }

bool fy_is_grad_enabled(void) { return !off; }
