/* threads.c: gives civetweb's threads room to live.
 *
 * civetweb asks for stacks of 100 KiB. glibc takes the thread-local variables of everything that is
 * linked out of that: OpenBLAS alone has 60 KiB, the kernels of the simulated card and CUDA's runtime
 * 24 more, and what is left overflows in the first getnameinfo. civetweb cannot be told otherwise, so
 * while a server runs, pthread_attr_setstacksize, found here before libc's, rounds up. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "serving.h"

#define ROOM ((size_t)2 << 20) /* of address space; what is not touched costs nothing */

static atomic_int servers;

void threads_need_room(int more) { atomic_fetch_add(&servers, more); }

__attribute__((visibility("default"))) int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size)
{
    typedef int setter(pthread_attr_t *, size_t);
    setter *set = NULL;
    *(void **)&set = dlsym(RTLD_NEXT, "pthread_attr_setstacksize");
    if (!set) return ENOSYS;
    return set(attr, atomic_load(&servers) > 0 && size < ROOM ? ROOM : size);
}
