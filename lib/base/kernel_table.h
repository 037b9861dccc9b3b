/* kernel_table.h: how lib finds the launchers of kernels/. */
#ifndef FERRY_KERNEL_TABLE_H
#define FERRY_KERNEL_TABLE_H

#include "run_work.h"

/* kernels/: one launcher an op. The simulator passes addresses that it mapped, the real card its own.
 * Fills grid, block, kernel. */
typedef struct fy_kernel {
    int op;
    void (*launch)(fy_run_work *w);
} fy_kernel;
const fy_kernel *fy_sim_kernel(int op);  /* from the objects made by g++ */
void fy_sim_dry(bool on);                /* from now on this thread's launches run nothing, and fill in the rest */
const char *fy_sim_kernel_fault(void);   /* what the last kernel of this thread did wrong, or NULL */
const fy_kernel *fy_cuda_kernel(int op); /* from the objects made by nvcc: in libferry-cuda.so alone */

/* For whoever opens a card: one of the kernels, and the oldest cards that there is code for (75: sm_75). */
typedef struct fy_cuda_built {
    const void *any;
    int oldest;
} fy_cuda_built;
fy_cuda_built fy_cuda_kernels(void);

/* Where this thread's launches on the real card go: cuda.c sets it before each. */
typedef struct fy_cuda_place {
    struct CUstream_st *stream;
    uint32_t *blame; /* page-locked: the number of the work whose assertion failed; 0: none has */
} fy_cuda_place;
extern __thread fy_cuda_place fy_cuda_launching;

#endif
