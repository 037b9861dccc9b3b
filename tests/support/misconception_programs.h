/* misconception_programs.h: small programs that each show a misconception of misconceptions.c at the line that ends in
 * HERE, and their corrected versions. */
#ifndef MISCONCEPTION_PROGRAMS_H
#define MISCONCEPTION_PROGRAMS_H

#include "explained.h"

#define CARD "cuda"

fy_tensor *host_tensor(int64_t n); /* n elements in host memory, computed there */
fy_tensor *host_square(void);      /* 128 x 128 */

#define TWO_CARDS "h200:gpus=2"

/* name: the misconception, NULL at the end. wrong shows it, right does not. sim: FERRY_SIM, or NULL. */
extern const struct misconception_pair {
    const char *name;
    void (*wrong)(void), (*right)(void);
    const char *sim, *right_sim;
} misconception_pairs[];

#endif
