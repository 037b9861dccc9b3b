/* table.cu: the one table through which lib launches kernels. It is compiled twice like all files here:
 * fy_cuda_kernel finds what nvcc made, fy_sim_kernel what g++ made. */
#include "kernel.h"

#define KERNELS(X) \
    X(fill, f32) X(fill, i64) X(arange, f32) X(arange, i64) X(randn, f32) \
    X(cast, f32) X(cast, i64) X(clone, f32) X(clone, i64) \
    X(add, f32) X(add, i64) X(mul, f32) X(mul, i64) X(relu, f32) X(relu, i64) \
    X(sum, f32) X(sum, i64) X(matmul, f32) X(matmul, i64)

#ifdef __CUDACC__
#define FIND fy_cuda_kernel
#define LAUNCHER_OF(op, type) fy_cuda_launch_##op##_##type
#else
#define FIND fy_sim_kernel
#define LAUNCHER_OF(op, type) fy_sim_launch_##op##_##type
#endif
#define DTYPE_f32 FY_FLOAT32
#define DTYPE_i64 FY_INT64

#define DECLARE(op, type) extern "C" void LAUNCHER_OF(op, type)(fy_run_work *w);
KERNELS(DECLARE)

#ifdef __CUDACC__
#define LAUNCHER_OF_OP(op) fy_cuda_launch_##op
#else
#define LAUNCHER_OF_OP(op) fy_sim_launch_##op
#endif
#define X(name, ...) extern "C" __attribute__((weak)) void LAUNCHER_OF_OP(name)(fy_run_work *w);
FY_OPS(X)
#undef X

/* The first ops, a launcher a type: until each has its one launcher. */
static void old(fy_run_work *w)
{
#define ROW(op_, type) if (w->op == FY_OP_##op_ && w->dtype == DTYPE_##type) LAUNCHER_OF(op_, type)(w);
    KERNELS(ROW)
}

static const fy_kernel table[] = {
#define X(name, ...) {FY_OP_##name, LAUNCHER_OF_OP(name)},
    FY_OPS(X)
#undef X
};

extern "C" const fy_kernel *FIND(int op)
{
    static fy_kernel first = {0, old};
    return table[op].launch ? &table[op] : &first;
}
