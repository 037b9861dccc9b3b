/* compile_check.h: builds a lesson's check.c into a shared object, which the grader loads (viewer/grade/own_check.h). */
#ifndef FERRY_COMPILE_CHECK_H
#define FERRY_COMPILE_CHECK_H

#include "paths.h"

/* name: of the check, "01-mine/check.c", in the folder of lessons; object: path of the file to make, in a folder that
 * exists. What is newer than all that it was made from, and than this program, is kept. False, with the reason in err:
 * of a check that does not compile, the compiler's words. */
bool compile_check(const home *h, const char *name, const char *object, char *err, size_t room);

#endif
