/* own_check.h: the check.c of a teacher's own lesson, which is not linked into ferry: it is built when it is first
 * needed, and the process that grades loads it. */
#ifndef FERRY_OWN_CHECK_H
#define FERRY_OWN_CHECK_H

#include "grade.h"
#include "paths.h"

enum { OWN_CHECK_ROOM = PATH_ROOM + 128 };

/* Builds the lesson's check unless it is up to date. False, with the reason in err, for the teacher. */
bool own_check_build(const home *h, const char *id, char object[OWN_CHECK_ROOM], char *err, size_t room);
/* Loads what own_check_build has made; NULL, with the reason in err: it defines no lesson_check_NN of this id. It stays
 * loaded: only for a process that ends soon. */
const lesson_check *own_check_load(const char *object, const char *id, char *err, size_t room);

#endif
