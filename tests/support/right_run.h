/* right_run.h: a right run of lesson 3 as a log written by hand, for tests of the grader. */
#ifndef RIGHT_RUN_H
#define RIGHT_RUN_H

#include "graded.h"
#include "grading.h"
#include "handmade.h"
#include "log.h"

#define LESSON "03-round-trip"
#define GIVEN "x:float32:2x3"
enum { SEED = 7, COUNT = 6 };

/* Its pieces, which a test may leave out or spoil. */
void hand_begin(handmade *h);
void hand_copy(handmade *h, int from, int to, const char *way, int bytes);
void hand_op(handmade *h, const char *name, const char *device, int in, int out);
/* What is left of five turns of three operations, after two of them: written over itself. */
void hand_turns(handmade *h, int storage);
/* spoilt: what stands in place of element 4; NULL: nothing. */
void hand_answer(handmade *h, const char *name, int tensor, const char *device, const char *spoilt);
void right_run(handmade *h);
verdict judge_lines(const handmade *h);
void assert_fails(handmade *h, const char *name, const char *words);

#endif
