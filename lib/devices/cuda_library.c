/* cuda_library.c: finds the library of the real card (cuda_library.h). */
#include "cuda_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "event.h"

#ifndef FERRY_VERSION
#define FERRY_VERSION "0.1.0"
#endif

/* NVIDIA's driver shows itself by one of these: on Linux, under WSL2, on a Jetson. The Makefile looks for the same. */
static bool driver_is_there(void)
{
    static const char *const signs[] = {"/proc/driver/nvidia/version", "/dev/nvidiactl",
                                        "/usr/lib/wsl/lib/libcuda.so.1", "/dev/nvmap"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (access(signs[i], F_OK) == 0) return true;
    return false;
}

static const fy_backend *no(char *why, size_t room, const char *reason)
{
    snprintf(why, room, "%s", reason);
    return NULL;
}

/* It stays loaded: the runtime in it has handlers for the end of the process. */
const fy_backend *fy_cuda_library(bool anyway, char *why, size_t room)
{
    static const char name[] = "libferry-cuda.so";
    static fy_cuda_host host = {FERRY_VERSION, 0, fy_clock_now, fy_log_is_on, fy_dev_at, fy_fault_location};
    if (!anyway && !driver_is_there()) return no(why, room, "no driver");
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *wrong = library ? NULL : dlerror();
    if (wrong && strncmp(wrong, name, sizeof name - 1) == 0) /* one that was found is named with its folder */
        return no(why, room, "the kernels for a real card are not built; `make all` builds them, with nvcc");
    if (wrong) return no(why, room, wrong);
    fy_cuda_entry *entry = (fy_cuda_entry *)(uintptr_t)dlsym(library, FY_CUDA_ENTRY);
    host.layout = fy_cuda_layout();
    const fy_backend *backend = entry ? entry(&host) : NULL;
    return backend ? backend : no(why, room, "the kernels for a real card are of another build; type `make all`");
}
