/* kernel_table.h: the launchers of kernels/. */
#ifndef FERRY_KERNEL_TABLE_H
#define FERRY_KERNEL_TABLE_H

#include "run_work.h"

/* One launcher per op. The simulator passes mapped addresses, the real card its own. Sets grid, block, kernel. */
typedef struct fy_kernel {
    int op;
    void (*launch)(fy_run_work *w);
} fy_kernel;
const fy_kernel *fy_sim_kernel(int op);  /* compiled by g++ */
void fy_sim_dry_run(bool on);            /* dry run for this thread: launchers set their outputs and run no kernel */
const char *fy_sim_kernel_fault(void);   /* the fault of this thread's last kernel, or NULL */
const fy_kernel *fy_cuda_kernel(int op); /* compiled by nvcc; only in libferry-cuda.so */

/* To check a card: any one kernel, and the oldest architecture that there is code for (75: sm_75). */
typedef struct fy_cuda_built {
    const void *any;
    int oldest;
    void (*nothing)(void); /* launches a kernel that does nothing, as fy_cuda_launching says; NULL: there is none */
    const int *code;       /* architectures that there is machine code for: 75, 90 ... */
    int ncode;             /* how many; 0: not known */
} fy_cuda_built;
fy_cuda_built fy_cuda_kernels(void);

/* The target of this thread's launches on the real card; cuda.c sets it before each. */
typedef struct fy_cuda_launch_target {
    struct CUstream_st *stream;
    uint32_t *blame; /* pinned: id of the work whose assertion failed; 0: none */
} fy_cuda_launch_target;
extern __thread fy_cuda_launch_target fy_cuda_launching;

#endif
