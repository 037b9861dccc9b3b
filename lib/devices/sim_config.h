/* sim_config.h: which cards are to be simulated: FERRY_SIM, and CUDA_VISIBLE_DEVICES. */
#ifndef FERRY_CHOOSE_H
#define FERRY_CHOOSE_H

#include "card_params.h"

enum { FY_MOST_SIMS = 8 };

typedef struct fy_choice {
    const fy_card *card;        /* all are alike; the figures as overridden */
    int64_t capacity;           /* bytes of VRAM of each */
    bool peers;                 /* do they see each other? */
    int count;                  /* those that are visible */
    int physical[FY_MOST_SIMS]; /* the number of each in the machine */
} fy_choice;

bool fy_choose_sims(fy_choice *c, char *why, size_t room); /* false: what in the environment is wrong, and the fix */

#endif
