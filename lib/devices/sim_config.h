/* sim_config.h: which cards are simulated, from FERRY_SIM and CUDA_VISIBLE_DEVICES. */
#ifndef FERRY_SIM_CONFIG_H
#define FERRY_SIM_CONFIG_H

#include "card_params.h"

enum { FY_MOST_SIMS = 8 };

typedef struct fy_sim_config {
    const fy_card *card;        /* of all cards, with overridden parameters */
    int64_t capacity;           /* bytes of VRAM of each */
    bool peers;                 /* peer access between all of them */
    int count;                  /* visible ones */
    int physical[FY_MOST_SIMS]; /* their numbers before CUDA_VISIBLE_DEVICES */
} fy_sim_config;

/* False: `why` names the invalid value and the fix. */
bool fy_sim_config_read(fy_sim_config *c, char *why, size_t room);

#endif
