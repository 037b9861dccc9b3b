/* two_streams.h: what the tests of streams and of events share. Two cards are simulated. */
#ifndef TWO_STREAMS_H
#define TWO_STREAMS_H

#include "recorded.h"

#define TEST(name) static void name(void **state)

/* Everything waited for, the default streams current, the first card the thread's. */
static inline int quiet(void **state)
{
    (void)state;
    fy_clear_error();
    for (int i = 1; i >= 0; i--) {
        fy_cuda_set_device(i);
        fy_cuda_set_stream(fy_cuda_default_stream());
        fy_cuda_synchronize();
    }
    return 0;
}

/* When the n-th copy or op since then began and ended. */
static inline double start_of(int n) { return number_of(event_of("complete", n), "start"); }
static inline double end_of(int n) { return number_of(event_of("complete", n), "end"); }

enum { MANY = 1 << 20 };
static inline fy_tensor *pinned(int64_t n) { return fy_pin_memory(fy_ones((n))); }
static inline fy_tensor *on_card(int64_t n) { return fy_ones((n), .device = "cuda"); }

#endif
