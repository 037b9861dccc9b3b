/* descriptors.c: see descriptors.h. */
#define _GNU_SOURCE 1 /* syscall */

#include "descriptors.h"

#include <sys/syscall.h>
#include <unistd.h>

void descriptors_close_except(const int *keep, int n)
{
    long limit_fd = sysconf(_SC_OPEN_MAX);
    if (limit_fd < 0 || limit_fd > 65536) limit_fd = 65536;
    for (int fd = 0, kept; fd < limit_fd; fd = kept + 1) {
        kept = (int)limit_fd; /* the lowest descriptor to keep that is >= fd, if there is one */
        for (int i = 0; i < n; i++)
            if (keep[i] >= fd && keep[i] < kept) kept = keep[i];
        if (kept == fd) continue;
#ifdef SYS_close_range
        unsigned last = kept == (int)limit_fd ? ~0U : (unsigned)kept - 1;
        if (syscall(SYS_close_range, (unsigned)fd, last, 0) == 0) continue;
#endif
        for (int i = fd; i < kept; i++) close(i);
    }
}
