/* cuda_library.h: the real card's back end is a library of its own, libferry-cuda.so: cuda.c, the kernels that nvcc
 * made, and the CUDA runtime. libferry.a is the same with it and without it. A program finds it beside itself or
 * where it is installed (its rpath, LD_LIBRARY_PATH) and loads it when a card may answer; built later, it is found
 * from then on, and nothing is linked anew. */
#ifndef FERRY_CUDA_LIBRARY_H
#define FERRY_CUDA_LIBRARY_H

#include "device.h"
#include "op.h"
#include "run_work.h"

/* What the two must agree on; and what the library calls in the program that loads it. */
typedef struct fy_cuda_host {
    char version[32];
    uint64_t layout; /* fy_cuda_layout */
    int64_t (*now)(void);
    bool (*log_is_on)(void);
    fy_dev *(*dev_at)(int number);
    struct fy_device_fault *(*fault)(void);
} fy_cuda_host;

/* The one function that it exports: its back end; NULL: it was built from other sources. */
typedef const fy_backend *fy_cuda_entry(const fy_cuda_host *host);
#define FY_CUDA_ENTRY "fy_cuda_open_library"

/* Changes with the structures that both read, and with the list of ops. */
static inline uint64_t fy_cuda_layout(void)
{
#define X(name, ...) #name ","
    static const char ops[] = FY_OPS(X);
#undef X
    uint64_t h = sizeof(fy_dev) * 1000003 + sizeof(fy_run_work) * 1009 + sizeof(fy_copy_work) + sizeof(fy_backend);
    for (const char *p = ops; *p; p++) h = (h ^ (uint64_t)(unsigned char)*p) * 0x100000001b3;
    return h;
}

/* Load it. NULL: `why` says what is missing, in a few words; with `anyway` also where no driver is to be seen. No
 * CUDA call is made: those would take their time, and some memory, of a program that may stay on the CPU. */
const fy_backend *fy_cuda_library(bool anyway, char *why, size_t room);

#endif
