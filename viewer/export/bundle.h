/* bundle.h: the page's modules as one script, for a page in one file: a browser loads no module from a file. */
#ifndef FERRY_BUNDLE_H
#define FERRY_BUNDLE_H

#include <stdbool.h>

#include "text.h"

/* Appends the module `entry` ("/main.js"), after all that it imports. False: err says which import is not understood. */
bool bundle_modules(const char *entry, fy_text *out, char *err, size_t room);

#endif
