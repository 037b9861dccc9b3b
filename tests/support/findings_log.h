/* findings_log.h: writes logs of a few events, and finds their findings. Storage n has tensor n as its handle. */
#ifndef FINDINGS_LOG_H
#define FINDINGS_LOG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings.h"
#include "handmade.h"

void log_begin(handmade *h);

#define AT "'file':'p.c','line':%d,'fn':'main',"

/* alloc and tensor events with the same id; log_drop: drop and free events. */
void log_alloc(handmade *h, int line, int id, const char *device, const char *mem, int bytes);
void log_drop(handmade *h, int line, int id);

extern int logged_launch_id; /* the last launch id */
void log_copy(handmade *h, int line, int src, const char *from, int dst, const char *to, int bytes, const char *dir,
              const char *more);
void log_op(handmade *h, int line, const char *device, int stream, int in, int out);
void log_complete(handmade *h, int start, int end, const char *engine);
void log_host_read(handmade *h, int line, int id);
void log_data_race(handmade *h, int line, const char *type, int a, int b);
void log_oom(handmade *h, int line, int asked, int allocated, int reserved, int room, int largest);
void log_error(handmade *h, int line, const char *code);
void log_end(handmade *h);
findings findings_of_log(const handmade *h);
const finding *one_of(const findings *f, const char *rule);

/* Further fields of a copy. */
#define PAGEABLE_D2H "'async':false,'was_async':false,'route':'staged','why':'user'"
#define PINNED "'stream':2,'async':true,'was_async':true,'route':'direct','why':'user'"
#define STAGED "'stream':2,'async':true,'was_async':false,'route':'staged','why':'user'"

#endif
