/* own_demo.h: where the example of a teacher's own lesson is built and runs. */
#ifndef FERRY_OWN_DEMO_H
#define FERRY_OWN_DEMO_H

#include "lesson.h"

/* build: a home for compile(), whose my/ is the lesson's folder; start_in: one for the run. In both, the parent folder
 * of my/ has a link lessons/ to the folder of lessons: the example is lessons/ID/demo.c there, as Ferry's own are, and
 * what it writes stays out of the teacher's folder. False with the reason in err. */
bool own_demo_homes(const home *h, const lesson *l, home *build, home *start_in, char *err, size_t room);

#endif
