/* grad_mode.c: whether this thread records a graph: FY_NO_GRAD. */
#include "grad_mode.h"

#include "frame.h"

static _Thread_local bool off;

bool fy_grad_set_enabled(bool on)
{
    bool was = !off;
    off = !on;
    return was;
}

fy_no_grad fy_no_grad_at(fy_site *at)
{
    return (fy_no_grad){true, fy_grad_set_enabled(false),
                        FY_REGION_OF_BLOCK(at, FY_WORD_no_grad, FY_ABSENT, FY_ABSENT)};
}

void fy_no_grad_end(fy_no_grad *block)
{
    fy_region_close(&block->depths);
    fy_grad_set_enabled(block->was_enabled);
}

void fy_grad_restore(const bool *was) { fy_grad_set_enabled(*was); }

bool fy_is_grad_enabled(void) { return !off; }
