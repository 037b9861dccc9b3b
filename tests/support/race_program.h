/* race_program.h: random programs of asynchronous operations, done by Ferry and at the same time written down as a
 * course for interleavings.h, with what every operation touches and what Ferry told of it. */
#ifndef RACE_PROGRAM_H
#define RACE_PROGRAM_H

#include "clock.h"
#include "device.h"
#include "race_parts.h"
#include "storage.h"
#include "tensor.h"

/* ---- operations ---- */

void host(bool write);
void step_of_program(void);
void begin_trial(void);
/* What is left in the buffers in the end. */
void look_at_all(void);

#endif
