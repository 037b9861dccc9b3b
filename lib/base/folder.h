/* folder.h: folders that no other user can write: for logs, locks, and programs that are run. */
#ifndef FERRY_FOLDER_H
#define FERRY_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Creates `path`, which is absolute, and its parents, with mode 0700. True if this user owns it, group and others
 * cannot write to it, and only this user and root could replace it; else false with the folder and the reason in
 * err. */
bool fy_folder_make_private(const char *path, char *err, size_t room);

#endif
