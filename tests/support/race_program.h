/* race_program.h: random programs of asynchronous operations, executed by Ferry and recorded as a schedule for
 * interleavings.h, with every operation's accesses and the data races that Ferry reported. */
#ifndef RACE_PROGRAM_H
#define RACE_PROGRAM_H

#include "clock.h"
#include "device.h"
#include "race_parts.h"
#include "storage.h"
#include "tensor.h"

/* ---- operations ---- */

void access_from_host(bool write);
void random_step(void);
void begin_race_run(void);
/* Waits for all work and compares all buffers with `expected`. */
void check_all_buffers(void);

#endif
