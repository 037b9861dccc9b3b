/* overlap.c: copying while computing. Four batches go to the card and are worked on: in one stream, where each copy
 * waits for the work before it, and in two, where the next batch travels while this one is worked on. The copies need
 * three things for that: page-locked memory, non_blocking, and a stream of their own. (On a fast card so little work
 * is over before the next call is made, and there is nothing to gain: take an old one.)
 *
 *     make experiments && FERRY_SIM=old build/experiments/overlap
 *     FERRY_SIM=old FERRY_VIEW=1 build/experiments/overlap      (the same, to watch) */
#include <ferry.h>
#include <stdio.h>

enum { BATCHES = 4, N = 256 };

static fy_tensor *batch[BATCHES], *there[BATCHES], *weights;

static void work_on(fy_tensor *x)
{
    FY_SCOPE { fy_matmul(fy_matmul(fy_matmul(x, weights), weights), weights); }
}

static void in_one_stream(void)
{
    for (int i = 0; i < BATCHES; i++) {
        fy_copy_(there[i], batch[i], .non_blocking = true);
        work_on(there[i]);
    }
}

static void in_two_streams(fy_stream *copies)
{
    for (int i = 0; i < BATCHES; i++) {
        FY_STREAM(copies) { fy_copy_(there[i], batch[i], .non_blocking = true); }
        fy_stream_wait_stream(fy_cuda_default_stream(), copies); /* the work, not the host, waits for its batch */
        work_on(there[i]);
    }
}

static int64_t time_of(const char *way, fy_stream *copies)
{
    fy_mark(way);
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
    weights = fy_full((N, N), 0.01, .device = "cuda");
    for (int i = 0; i < BATCHES; i++) {
        batch[i] = fy_ones((N, N), .pin_memory = true);
        there[i] = fy_zeros((N, N), .device = "cuda");
    }
    fy_stream *copies = fy_cuda_stream();
    work_on(there[0]); /* takes the memory that the work needs */
    fy_cuda_synchronize();

    int64_t one = time_of("one stream", NULL), two = time_of("two streams", copies);
    printf("%.2f times as fast%s\n", (double)one / (double)two,
           two > one ? ": the card is done before the next call is made; try FERRY_SIM=old" : "");
}
