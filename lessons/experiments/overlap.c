/* overlap.c: copying while computing. Four batches are copied to the card, and a polynomial is computed of each: in
 * one stream, where each copy waits for the earlier work, and in two, where the next batch is copied during the work on
 * this one. The copies need three things for that: page-locked memory, non_blocking, and a stream of their own. And
 * both copy and work must take longer than the calls that queue them: on the default card a batch of 4 MiB takes 86 us
 * on the bus and 52 us of work, and its calls take the host less than 50 us.
 *
 *     make experiments && build/experiments/overlap
 *     FERRY_VIEW=1 build/experiments/overlap          (the same, to watch)
 *     FERRY_SIM=laptop build/experiments/overlap      (on another card) */
#include <ferry.h>
#include <stdio.h>

enum { BATCHES = 4, NUMEL = 1 << 20, TERMS = 5 };

static fy_tensor *batch[BATCHES], *there[BATCHES], *results[BATCHES];

/* Horner's rule: two operations a term. */
static void work_on(fy_tensor *x, fy_tensor *y)
{
    FY_TIMES (i, TERMS) fy_add_(fy_mul_(y, x), 1);
}

static void in_one_stream(void)
{
    FY_TIMES (i, BATCHES) {
        fy_copy_(there[i], batch[i], .non_blocking = true);
        work_on(there[i], results[i]);
    }
}

static void in_two_streams(fy_stream *copies)
{
    FY_TIMES (i, BATCHES) {
        FY_STREAM(copies) { fy_copy_(there[i], batch[i], .non_blocking = true); }
        fy_stream_wait_stream(fy_cuda_default_stream(), copies); /* the work, not the host, waits for its batch */
        work_on(there[i], results[i]);
    }
}

static int64_t time_of(const char *way, fy_stream *copies)
{
    char note[32];
    snprintf(note, sizeof note, "demo: %s", way); /* intended: `ferry explain` reports neither as waste */
    fy_mark(note);
    int64_t start = fy_now();
    if (copies) in_two_streams(copies);
    else in_one_stream();
    fy_cuda_synchronize();
    int64_t took = fy_now() - start;
    printf("%-12s %8.1f us\n", way, (double)took / 1e3);
    return took;
}

int main(void)
{
    for (int i = 0; i < BATCHES; i++) {
        batch[i] = fy_full((NUMEL), 0.5, .pin_memory = true);
        there[i] = fy_zeros((NUMEL), .device = "cuda");
        results[i] = fy_ones((NUMEL), .device = "cuda");
    }
    fy_stream *copies = fy_cuda_stream();
    fy_cuda_synchronize();

    int64_t one = time_of("one stream", NULL), two = time_of("two streams", copies);
    if (two < one) printf("two streams are %.2f times as fast as one\n", (double)one / (double)two);
    else printf("no gain: two streams took %.2f times as long as one\n", (double)two / (double)one);
}
