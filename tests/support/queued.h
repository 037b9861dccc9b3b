/* queued.h: queues work on the simulated card without waiting, for tests of its back end. */
#ifndef QUEUED_H
#define QUEUED_H

#include "device.h"
#include "event.h"
#include "op.h"
#include "round_card.h"
#include "run_work.h"

enum { BYTES = 64, N = BYTES / 4 };

/* Treated as page-locked; static, because work that is never waited for may still access it. */
extern unsigned char pinned[8][BYTES];
extern uint32_t queued_launch_id; /* the last launch id */
bool all_bytes_are(const void *p, unsigned char byte);
#define IS_POISON(p) all_bytes_are(p, 0xff)

fy_copy_work copy_in(fy_dev *d, int stream, fy_word dir, void *dst, const void *src, bool is_pinned);
#define COPY_D2H(d, stream, dst, src) copy_in(d, stream, FY_WORD_d2h, dst, src, true)
#define COPY_H2D(d, stream, dst, src) copy_in(d, stream, FY_WORD_h2d, dst, src, true)
#define COPY_D2D(d, stream, dst, src) copy_in(d, stream, FY_WORD_d2d, dst, src, false)

/* The byte on the card, read by a copy in stream 32, which has no other work. */
unsigned char first_byte(fy_dev *d, const void *p);
/* Device memory filled with this byte; no work is queued. */
void *alloc_filled(fy_dev *d, unsigned char byte);
fy_point point_in(fy_dev *d, int stream);
bool host_waits(fy_dev *d, fy_point p);
void stream_waits(fy_dev *waiter, int stream, fy_dev *d, fy_point p);
void sync_stream(fy_dev *d, int stream);
fy_operand floats(void *p);
/* out = a + b, N floats. */
fy_run_work add_work(int stream, void *a, void *b, void *out);
fy_run_work fill_in(int stream, void *out, double value);
void run_on_card(fy_dev *d, fy_run_work w);
float first_float(fy_dev *d, const void *p);

#endif
