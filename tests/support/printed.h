/* printed.h: captures what a call writes to stdout or stderr. */
#ifndef PRINTED_H
#define PRINTED_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ferry.h"

const char *written_by(void (*write_it)(void *), void *context, int to);
const char *printed_by(void (*write_it)(void *), void *context);
const char *printed(fy_tensor *x);

#endif
