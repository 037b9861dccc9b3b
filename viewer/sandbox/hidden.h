/* hidden.h: folders that a program of another user is not to see. */
#ifndef FERRY_HIDDEN_H
#define FERRY_HIDDEN_H

#include <stdbool.h>

/* For this process, which is root's, and for what it starts, each of these folders is empty and closed from now on; the
 * list ends with NULL. False with errno where mounts of its own cannot be had. Async-signal-safe. */
bool hide_folders(const char *const *folders);

#endif
