/* right_run.h: a correct run of lesson 3 as a handwritten log, for tests of the grader. */
#ifndef RIGHT_RUN_H
#define RIGHT_RUN_H

#include "graded.h"
#include "grading.h"
#include "handmade.h"
#include "log.h"

#define LESSON "03-round-trip"
#define GIVEN "x:float32:2x3"
enum { SEED = 7, COUNT = 6 };

/* Its parts, which tests omit or change. */
void hand_begin(handmade *h);
void hand_copy(handmade *h, int from, int to, const char *dir, int bytes);
void hand_op(handmade *h, const char *name, const char *device, int in, int out);
/* The remaining in-place operations of five iterations of three, after the first two. */
void hand_turns(handmade *h, int storage);
/* wrong_value: replaces element 4; NULL: correct values. */
void hand_answer(handmade *h, const char *name, int tensor, const char *device, const char *wrong_value);
void right_run(handmade *h);
verdict judge_lines(const handmade *h);
void assert_fails(handmade *h, const char *name, const char *words);

#endif
