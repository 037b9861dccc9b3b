/* picture_file.h: a step of a run as SVG or PNG, drawn by the page in a browser without a window. */
#ifndef FERRY_PICTURE_FILE_H
#define FERRY_PICTURE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "feed.h"
#include "paths.h"

/* kind: "svg" or "png"; step: from 1, 0: the last; browser: its path, NULL: the first Chromium in PATH. False: err says
 * what is missing or went wrong. */
bool picture_write(FILE *out, feed *f, const char *label, const char *kind, long step, const char *browser, char *err,
                   size_t room);
/* The first Chromium in PATH; false: there is none. */
bool picture_browser(char path[PATH_ROOM]);

#endif
