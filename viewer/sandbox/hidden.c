/* hidden.c: see hidden.h. In a namespace of its own, an empty file system that nobody but root may enter is mounted
 * over each folder. */
#define _GNU_SOURCE 1

#include "hidden.h"

#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>

bool hide_folders(const char *const *folders)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0) return false;
    for (; *folders; folders++)
        if (mount("none", *folders, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=0700") != 0) return false;
    return true;
}
