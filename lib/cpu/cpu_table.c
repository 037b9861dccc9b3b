/* cpu_table.c: the table of host ops. */
#include "cpu.h"
#include "op.h"
#include "run_work.h"

#define X(name, ...) void fy_host_##name(fy_run_work *w);
FY_OPS(X)
#undef X

fy_host_op fy_host_op_find(int op)
{
    static const fy_host_op table[FY_OP_COUNT] = {
#define X(name, ...) fy_host_##name,
        FY_OPS(X)
#undef X
    };
    return op >= 0 && op < FY_OP_COUNT ? table[op] : NULL;
}
