/* scratch.h: the folder in which submissions are built and run, for as long as the process lives. */
#ifndef FERRY_SCRATCH_H
#define FERRY_SCRATCH_H

#include "paths.h"

/* Makes it below TMPDIR, after removing those of this user that a killed process has left there. Returns a descriptor
 * that holds it; -1 with errno set, and path is what could not be made. */
int scratch_make(char path[PATH_ROOM]);
void scratch_remove(const char *path, int held);

#endif
