/* cmd_calibrate.c: `ferry calibrate`: figures that were measured on a real card as a card's file for FERRY_SIM, on
 * stdout, and on stderr how far the model with them is from each figure. */
#include <stdio.h>

#include "calibrate.h"
#include "command.h"

int command_calibrate(const command *c, int argc, char **argv)
{
    options o;
    figures f;
    calibration made;
    char err[600];
    if (!options_read(&o, c, argc, argv, "", 1)) return USAGE_ERROR;
    if (!o.word[0]) return fprintf(stderr, "usage: ferry %s %s\n", c->name, c->arguments), USAGE_ERROR;
    if (!figures_read(&f, o.word[0], err, sizeof err)) return figures_free(&f), command_error(err), NOT_PASSED;
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(f.card, "stand_in")))
        command_error("these are the figures of a stand-in: they say nothing of a card");
    calibrate(&made, &f);
    calibration_write(&made, &f, o.word[0], stdout);
    calibration_compare(&made, &f, stderr);
    figures_free(&f);
    return fflush(stdout) == 0 && !ferror(stdout) ? FINE : NOT_PASSED;
}
