/* cuda_library.h: the real card's back end is a shared library, libferry-cuda.so: cuda.c, the kernels compiled by nvcc,
 * and the CUDA runtime. libferry.a does not depend on it. A program loads it at run time if there may be a card, from
 * its own folder or from where it is installed (rpath, LD_LIBRARY_PATH); built later, it is used without relinking. */
#ifndef FERRY_CUDA_LIBRARY_H
#define FERRY_CUDA_LIBRARY_H

#include "device.h"
#include "op.h"
#include "run_work.h"

/* For the version check, and the functions of the program that the library calls. */
typedef struct fy_cuda_host {
    char version[32];
    uint64_t layout; /* fy_cuda_layout */
    int64_t (*now)(void);
    bool (*log_is_on)(void);
    fy_dev *(*dev_at)(int number);
    struct fy_device_fault *(*fault)(void);
} fy_cuda_host;

/* Its one exported function: returns the back end, or NULL if it was built from other sources. */
typedef const fy_backend *fy_cuda_entry(const fy_cuda_host *host);
#define FY_CUDA_ENTRY "fy_cuda_open_library"

/* A hash of the shared structures' sizes and of the list of ops. */
static inline uint64_t fy_cuda_layout(void)
{
#define X(name, ...) #name ","
    static const char ops[] = FY_OPS(X);
#undef X
    uint64_t h = sizeof(fy_dev) * 1000003 + sizeof(fy_run_work) * 1009 + sizeof(fy_copy_work) + sizeof(fy_backend);
    for (const char *p = ops; *p; p++) h = (h ^ (uint64_t)(unsigned char)*p) * 0x100000001b3;
    return h;
}

/* Loads the library; NULL: `why` is a short reason. anyway: try it even if no driver is found. Makes no CUDA call: that
 * would cost time and memory in programs that stay on the CPU. */
const fy_backend *fy_cuda_library(bool anyway, char *why, size_t room);

#endif
