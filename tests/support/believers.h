/* believers.h: small programs that each show a misconception of misconceptions.c at the line that ends in HERE, and
 * their corrected versions. */
#ifndef BELIEVERS_H
#define BELIEVERS_H

#include "explained.h"

#define CARD "cuda"

fy_tensor *home(int64_t n); /* n numbers in RAM */
fy_tensor *square(void);    /* 128 x 128 of them */

#define TWO "h200:gpus=2"

/* By the name of the misconception; NULL ends the table. sim: FERRY_SIM, or NULL. */
extern const struct pair {
    const char *name;
    void (*wrong)(void), (*right)(void);
    const char *sim, *right_sim;
} pairs[];

#endif
