/* two_streams.h: for tests of streams and of events, with two simulated cards. */
#ifndef TWO_STREAMS_H
#define TWO_STREAMS_H

#include "recorded.h"

#define TEST(name) static void name(void **state)

/* Setup: synchronizes all devices, and makes the default streams and the first card current. */
int quiet(void **state);
/* When the n-th copy or op since the last `since` started and ended, in ns. */
double start_of(int n);
double end_of(int n);

enum { MANY = 1 << 20 };

fy_tensor *pinned_ones(int64_t n);
fy_tensor *on_card(int64_t n);

#endif
