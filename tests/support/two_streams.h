/* two_streams.h: what the tests of streams and of events share. Two cards are simulated. */
#ifndef TWO_STREAMS_H
#define TWO_STREAMS_H

#include "recorded.h"

#define TEST(name) static void name(void **state)

/* Everything waited for, the default streams current, the first card the thread's. */
int quiet(void **state);
/* When the n-th copy or op since then began and ended. */
double start_of(int n);
double end_of(int n);

enum { MANY = 1 << 20 };

fy_tensor *pinned_ones(int64_t n);
fy_tensor *on_card(int64_t n);

#endif
