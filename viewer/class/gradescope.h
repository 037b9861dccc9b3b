/* gradescope.h: what a student has handed in, as the results.json that Gradescope's autograders leave: a test a check,
 * with its points. */
#ifndef FERRY_GRADESCOPE_H
#define FERRY_GRADESCOPE_H

#include "grade_class.h"

typedef struct gradescope {
    cJSON *tests;
    fy_text words; /* a line a lesson */
    int lessons;
    double score, of, seconds;
} gradescope;

void gradescope_open(gradescope *g);
void gradescope_judged(gradescope *g, const lesson *l, const points_table *p, const outcome *out,
                       const predictions *predicted);
/* A lesson without a verdict, and why: the test `name` has failed, and no check of the program earns anything. */
void gradescope_ungraded(gradescope *g, const lesson *l, const points_table *p, const char *name, const char *why,
                         const predictions *predicted);
void gradescope_say(gradescope *g, const char *line);   /* to the student, above the tests */
bool gradescope_write(gradescope *g, const char *path); /* errno after false */
void gradescope_close(gradescope *g);

#endif
