/* calibrate.h: a card's model parameters from what was measured on it, and how far the model then is from each figure. */
#ifndef FERRY_CALIBRATE_H
#define FERRY_CALIBRATE_H

#include <stdio.h>

#include "card_params.h"
#include "figures.h"

enum { CALIBRATE_PARAMS = 32 };

typedef struct calibration {
    fy_card card;
    const fy_card *like;               /* has what was not measured */
    char from[CALIBRATE_PARAMS][160];  /* by index in fy_card_params: what it was computed from; "": not measured */
    bool impossible[CALIBRATE_PARAMS]; /* the figures give a value that no card has: not used */
} calibration;

void calibrate(calibration *c, const figures *f);
/* As FERRY_SIM=FILE reads it (card_file.c). */
void calibration_write(const calibration *c, const figures *f, const char *path, FILE *to);
/* A row for each figure that the model has a time for: measured, the model's, and their ratio. */
void calibration_compare(const calibration *c, const figures *f, FILE *to);

#endif
