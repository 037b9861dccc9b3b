/* threads.c: larger stacks for civetweb's threads.
 *
 * civetweb requests stacks of 100 KiB. glibc places the thread-local variables of all linked code in them:
 * 60 KiB for OpenBLAS, 24 KiB for the simulated card's kernels and CUDA's runtime, and the rest overflows in
 * the first getnameinfo. civetweb has no option for it, so this file interposes pthread_attr_setstacksize,
 * which rounds up while a server runs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "serving.h"

#define STACK_SIZE ((size_t)2 << 20) /* of address space; untouched pages are not allocated */

static atomic_int servers;

void threads_raise_stack_size(int more) { atomic_fetch_add(&servers, more); }

__attribute__((visibility("default"))) int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size)
{
    typedef int setter(pthread_attr_t *, size_t);
    setter *set = NULL;
    *(void **)&set = dlsym(RTLD_NEXT, "pthread_attr_setstacksize");
    if (!set) return ENOSYS;
    return set(attr, atomic_load(&servers) > 0 && size < STACK_SIZE ? STACK_SIZE : size);
}
