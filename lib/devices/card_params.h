/* card_params.h: the figures of a card by their names: in FERRY_SIM and `ferry whatif`, and in the session event. All
 * are whole numbers below 2^53, so that a log gives back exactly what the model was run with. */
#ifndef FERRY_FIGURE_H
#define FERRY_FIGURE_H

#include "device.h"

typedef enum fy_unit { FY_UNIT_BYTES, FY_UNIT_RATE, FY_UNIT_FLOPS, FY_UNIT_TIME, FY_UNIT_COUNT } fy_unit;

typedef struct fy_figure {
    const char *option; /* "bus" in FERRY_SIM */
    const char *name;   /* "bus_bandwidth" in the session event */
    size_t offset;      /* in fy_card */
    fy_unit unit;
    bool real;           /* a double there, else an int64_t */
    bool host;           /* has the host it too? */
    int64_t least, most; /* what may be asked for */
    const char *example; /* "bus=8GB/s" */
} fy_figure;

extern const fy_figure fy_figures[]; /* ends with a NULL option */

int64_t fy_figure_get(const fy_card *card, const fy_figure *f);
void fy_figure_set(fy_card *card, const fy_figure *f, int64_t value);
/* n characters, "8GB/s" or "1.5us", to a whole number; false if it is none, or has no unit where one is due. */
bool fy_figure_read(const char *text, size_t n, fy_unit unit, int64_t *value);
/* n characters of an option, "bus=8GB/s", into the card's figures; false after saying why not. */
bool fy_figure_option(fy_card *card, const char *option, size_t n, char *why, size_t room);

#endif
