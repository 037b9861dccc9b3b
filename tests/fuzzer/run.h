/* run.h: one step in one world. There are two: in the first every device is the CPU; the second is the
 * program as written. What moves between devices in the second is copied in the first, so that tensors share
 * memory in one world if they do in the other. */
#ifndef FUZZ_RUN_H
#define FUZZ_RUN_H

#include "program.h"

enum { HOST_WORLD, CARD_WORLD };

typedef struct world {
    int which;
    fy_tensor *slot[MAX_SLOTS];
    fy_tensor *dead[MAX_SLOTS]; /* freed by the program: a use of it is a mistake to be told */
} world;

extern world worlds[2];
extern bool predicate_results[2];    /* of the last question, in each */
extern fy_site sites[MAX_API_CALLS]; /* the calls' places; set up once */

void set_sites(void);
bool is_live(int slot);
/* Where a slot lives in the program as written. */
bool is_on_card(int slot);
fy_tensor *operand(const world *w, const step *s, int i);
fy_arg argument(const world *w, const step *s, int i);
/* The step's result in that world: a new reference, in place a borrowed one, or NULL. */
fy_tensor *execute_step(world *w, const step *s, fy_tensor **second);

#endif
