/* cuda_library.c: loads the real card's back end (cuda_library.h). */
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

/* Files of NVIDIA's driver: on Linux, under WSL2, on a Jetson. The Makefile checks the same ones. */
static bool driver_is_there(void)
{
    static const char *const signs[] = {"/proc/driver/nvidia/version", "/dev/nvidiactl",
                                        "/usr/lib/wsl/lib/libcuda.so.1", "/dev/nvmap"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (access(signs[i], F_OK) == 0) return true;
    return false;
}

static const fy_backend *unavailable(char *why, size_t room, const char *reason)
{
    snprintf(why, room, "%s", reason);
    return NULL;
}

/* It stays loaded: its CUDA runtime registers exit handlers. */
const fy_backend *fy_cuda_library(bool anyway, char *why, size_t room)
{
    static const char name[] = "libferry-cuda.so";
    static fy_cuda_host host = {FERRY_VERSION, 0, fy_clock_now, fy_log_is_on, fy_dev_at, fy_fault_location};
    if (!anyway && !driver_is_there()) return unavailable(why, room, "no NVIDIA driver was found");
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *error = library ? NULL : dlerror();
    if (error && strncmp(error, name, sizeof name - 1) == 0) /* not found; else the message begins with a path */
        return unavailable(why, room, "the kernels for a real card are not built; `make all` builds them, with nvcc");
    if (error) return unavailable(why, room, error);
    fy_cuda_entry *entry = (fy_cuda_entry *)(uintptr_t)dlsym(library, FY_CUDA_ENTRY);
    host.layout = fy_cuda_layout();
    const fy_backend *backend = entry ? entry(&host) : NULL;
    return backend
               ? backend
               : unavailable(why, room, "the kernels for a real card are from another build of Ferry; run `make all`");
}
