/* table.cu: the table through which lib launches kernels. Compiled twice like all files here: fy_cuda_kernel finds
 * nvcc's launchers, fy_sim_kernel g++'s. */
#include "kernel.h"

#ifdef __CUDACC__
#define FIND fy_cuda_kernel
#define LAUNCHER_OF(op) fy_cuda_launch_##op
#else
#define FIND fy_sim_kernel
#define LAUNCHER_OF(op) fy_sim_launch_##op
#endif

#define X(op, ...) extern "C" void LAUNCHER_OF(op)(fy_run_work *w);
FY_OPS(X)
#undef X

static const fy_kernel table[] = {
#define X(op, ...) {FY_OP_##op, LAUNCHER_OF(op)},
    FY_OPS(X)
#undef X
};

extern "C" const fy_kernel *FIND(int op)
{
    return op >= 0 && op < FY_OP_COUNT ? &table[op] : NULL;
}

#ifdef __CUDACC__
static __global__ void nothing()
{
}

static void launch_nothing()
{
    LAUNCH(nothing, 1, 1)();
}

/* nvcc's list has 750 for sm_75, the oldest first: what was compiled for, with machine code for it. But for every card
 * (Makefile: EVERY_CARD) machine code for all is made from the code for the oldest. */
#ifdef FY_EVERY_CARD
#define MACHINE_CODE 750, 800, 860, 890, 900, 1000, 1200
#else
#define MACHINE_CODE __CUDA_ARCH_LIST__
#endif

extern "C" fy_cuda_built fy_cuda_kernels(void)
{
    static const int list[] = {__CUDA_ARCH_LIST__}, machine[] = {MACHINE_CODE};
    static int code[sizeof machine / sizeof *machine];
    const int n = sizeof machine / sizeof *machine;
    for (int i = 0; i < n; i++) code[i] = machine[i] / 10;
    return {(const void *)nothing, list[0] / 10, launch_nothing, code, n};
}
#endif
