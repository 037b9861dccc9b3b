/* kernels.c: what the stand-in's card launches: the simulated card's kernels, those of the program that loaded this
 * library, or those that are linked with it (the Makefile says which). */
#include <stdio.h>

#include "kernel_table.h"
#include "op.h"
#include "standin.h"

static void launch(fy_run_work *w)
{
    fy_sim_kernel(w->op)->launch(w);
    standin_work(fy_cuda_launching.stream);
    const char *fault = fy_sim_kernel_fault();
    if (!fault) return;
    fprintf(stderr, "stand-in: %s\n", fault); /* as CUDA prints an assertion that failed */
    *fy_cuda_launching.blame = w->id;
    standin_break(cudaErrorAssert);
}

const fy_kernel *fy_cuda_kernel(int op)
{
    static __thread fy_kernel k;
    const fy_kernel *of = fy_sim_kernel(op);
    if (of) k = (fy_kernel){of->op, launch};
    return of ? &k : NULL;
}

fy_cuda_built fy_cuda_kernels(void) { return (fy_cuda_built){.any = "any", .oldest = 75}; }
