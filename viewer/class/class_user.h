/* class_user.h: as which users submissions run, so that they cannot reach the grader's files, nor each other. */
#ifndef FERRY_CLASS_USER_H
#define FERRY_CLASS_USER_H

#include <stdbool.h>

#include "paths.h"

typedef struct class_users {
    unsigned first, count; /* the ids; first: 0: submissions run as the caller; count: 1: they share it */
    unsigned start;        /* where in them this class begins, by chance */
} class_users;

/* If this is root: ids that no account has, else that of "nobody". */
class_users class_users_find(void);
/* The id of the submission with this number in the class, which no other has; 0: the caller's. */
unsigned class_user(const class_users *u, int number);

typedef enum class_access { CLASS_CLOSED, CLASS_READABLE, CLASS_WRITABLE } class_access;

/* What these users may do with any of the files or their folders, which is the most that one may, where `hidden`
 * (child.h) is hidden from them. For the caller's own programs CLASS_WRITABLE. */
class_access class_users_access(const class_users *u, const char *const *hidden, const char *const *files, int count);
/* Can folders be hidden from a program here? */
bool class_users_can_hide(const char *const *folders);
/* Can they enter the folder? false: `closed` is the first of those above it, or itself, that they cannot enter. */
bool class_users_enter(const class_users *u, const char *folder, char closed[PATH_ROOM]);

#endif
