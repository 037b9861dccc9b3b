/* composed.h: calls of the program that consist of others, such as fy_call, fy_step and fy_backward. While one runs,
 * errors name tensors, since those of the inner calls are not its arguments, and results get the name given here. */
#ifndef FERRY_COMPOSED_H
#define FERRY_COMPOSED_H

#include <stdbool.h>

typedef struct fy_composed {
    bool on;
    const char *result;            /* interned; NULL: results get no name */
    const struct fy_tensor *input; /* the tensor that fy_call was given, as its argument 1; else NULL */
} fy_composed;

fy_composed fy_compose(fy_composed inside); /* for this thread; returns what was there before, to be put back */
extern _Thread_local fy_composed fy_composed_now;

#endif
