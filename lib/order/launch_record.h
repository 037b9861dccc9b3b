/* launch_record.h: where a card's work came from, for errors that surface late; launch blocking; a card that failed. */
#ifndef FERRY_WORK_H
#define FERRY_WORK_H

#include "device.h"

uint32_t fy_work_id(void); /* the next number of a copy or an op */
/* The work with that number is the event `seq`, of this call. The last 65536 are remembered. */
void fy_work_note(uint32_t id, uint64_t seq, fy_site *at);
bool fy_work_find(uint32_t id, uint64_t *seq, fy_site **at);

/* A copy or an op was given to a stream of a card and has been told of: note it, and under FERRY_LAUNCH_BLOCKING
 * wait for it. False after an error, which is then at the line that caused it. */
bool fy_work_issued(fy_site *at, fy_dev *d, int stream, uint32_t id, uint64_t seq);

/* The card failed: what it could not do ("run add", "copy"), and fy_fault; where fy_fault.work is another than this
 * call's own work, the error surfaced late, and the report names the line that caused it. NULL. */
void *fy_fail_device(fy_site *at, const fy_dev *d, const char *what);
void *fy_fail_work(fy_site *at, const fy_dev *d, uint32_t own, const char *what);

#endif
