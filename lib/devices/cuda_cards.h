/* cuda_cards.h: part of cuda.c: which cards this build has machine code for, and when their kernels are loaded.
 *
 * Machine code fits cards of its major version from its minor version on; PTX is compiled by the driver of any newer
 * card, all kernels in about 40 s. */
#ifndef FERRY_CUDA_CARDS_H
#define FERRY_CUDA_CARDS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "kernel_table.h"

/* sm: 90 for sm_90. A build that does not say what it has is taken to have it. */
static bool has_machine_code(int sm)
{
    fy_cuda_built built = fy_cuda_kernels();
    for (int i = 0; i < built.ncode; i++)
        if (built.code[i] / 10 == sm / 10 && built.code[i] <= sm) return true;
    return built.ncode == 0;
}

/* Of NVML, the driver's library behind nvidia-smi: unlike the runtime it reads no variable of ours, and it creates no
 * context. */
typedef struct nvml {
    int (*init)(void);
    int (*count)(unsigned *n);
    int (*handle)(unsigned i, void **card);
    int (*capability)(void *card, int *major, int *minor);
    int (*shutdown)(void);
} nvml;

static bool is_compiled_by_driver(const nvml *n, unsigned i)
{
    void *card;
    int major, minor;
    if (n->handle(i, &card) != 0 || n->capability(card, &major, &minor) != 0) return false;
    int sm = major * 10 + minor;
    return sm >= fy_cuda_kernels().oldest && !has_machine_code(sm);
}

static bool needs_driver_to_compile(void *library)
{
    nvml n;
    unsigned cards = 0;
    bool needs = false;
    n.init = (int (*)(void))(uintptr_t)dlsym(library, "nvmlInit_v2");
    n.count = (int (*)(unsigned *))(uintptr_t)dlsym(library, "nvmlDeviceGetCount_v2");
    n.handle = (int (*)(unsigned, void **))(uintptr_t)dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    n.capability = (int (*)(void *, int *, int *))(uintptr_t)dlsym(library, "nvmlDeviceGetCudaComputeCapability");
    n.shutdown = (int (*)(void))(uintptr_t)dlsym(library, "nvmlShutdown");
    if (!n.init || !n.count || !n.handle || !n.capability || !n.shutdown || n.init() != 0) return false;
    if (n.count(&cards) != 0) cards = 0;
    for (unsigned i = 0; i < cards && !needs; i++) needs = is_compiled_by_driver(&n, i);
    n.shutdown();
    return needs;
}

/* Early, or a kernel's first launch would include its loading; but late where a driver has to compile what is loaded.
 * CUDA reads the variable as soon as cards are counted, so this comes before. */
static void choose_loading(void)
{
    void *library = getenv("CUDA_MODULE_LOADING") ? NULL : dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    bool late = library && needs_driver_to_compile(library);
    if (library) dlclose(library);
    setenv("CUDA_MODULE_LOADING", late ? "LAZY" : "EAGER", 0);
}

#endif
