/* folder.h: folders for what nobody else may put there or change: logs, locks, programs that are run. */
#ifndef FY_FOLDER_H
#define FY_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Make `path`, an absolute one, and those above it, with mode 0700, and look: it is this user's, no group or other
 * may write to it, and nobody but this user and root can put another in its place. Else false, with which
 * folder is wrong, and why, in err. */
bool fy_folder_own(const char *path, char *err, size_t room);

#endif
