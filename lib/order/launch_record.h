/* launch_record.h: which call launched which work, for errors that surface late; launch blocking; failed cards. */
#ifndef FERRY_LAUNCH_RECORD_H
#define FERRY_LAUNCH_RECORD_H

#include "device.h"

uint32_t fy_work_id(void); /* the next id of a copy or an op, from 1 */
/* Work `id` was logged as event `seq` and launched at this call. The last 65536 are kept; lock-free. */
void fy_launch_record_add(uint32_t id, uint64_t seq, fy_site *at);
bool fy_launch_record_find(uint32_t id, uint64_t *seq, fy_site **at);

/* A copy or an op was launched on a stream and logged: record it, and under FERRY_LAUNCH_BLOCKING wait for it. False
 * after an error, which is then reported at the line that caused it. */
bool fy_launch_record_issued(fy_site *at, fy_dev *d, int stream, uint32_t id, uint64_t seq);

/* Reports that the card failed; what: the infinitive of what it could not do ("run add", "copy"). If fy_fault.work is
 * not `own`, the error surfaced late, and the report names the line that launched that work. Returns NULL. */
void *fy_fail_device(fy_site *at, const fy_dev *d, const char *what);
void *fy_fail_launch(fy_site *at, const fy_dev *d, uint32_t own, const char *what);

#endif
