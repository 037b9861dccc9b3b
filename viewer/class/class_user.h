/* class_user.h: as which users submissions run, so that they cannot reach the grader's files, nor each other. */
#ifndef FERRY_CLASS_USER_H
#define FERRY_CLASS_USER_H

#include <stdbool.h>

#include "paths.h"

enum { MOST_JOBS = 64 }; /* submissions at once */

typedef struct class_users {
    unsigned first; /* the id of the first; 0: submissions run as the caller */
    bool apart;     /* each of MOST_JOBS jobs has an id of its own, from the first on; else they share it */
} class_users;

/* If this is root: ids that no account has, else that of "nobody". */
class_users class_users_find(void);
/* The id for one of the jobs that run at once, from 0 on; 0: the caller's. */
unsigned class_user(const class_users *u, int job);

typedef enum class_access { CLASS_CLOSED, CLASS_READABLE, CLASS_WRITABLE } class_access;

/* What these users may do with any of the files or their folders, which is the most that one may, where `hidden`
 * (child.h) is hidden from them. For the caller's own programs CLASS_WRITABLE. */
class_access class_users_access(const class_users *u, const char *const *hidden, const char *const *files, int count);
/* Can folders be hidden from a program here? */
bool class_users_can_hide(const char *const *folders);
/* Can they enter the folder? false: `closed` is the first of those above it, or itself, that they cannot enter. */
bool class_users_enter(const class_users *u, const char *folder, char closed[PATH_ROOM]);

#endif
