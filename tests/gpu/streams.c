/* Two streams, page-locked memory, events and a data race: the log must be the same on a real card as on the simulated
 * one, and so must what is printed. What may differ, how much a copy and kernels overlap, goes to stderr. Part of
 * `make gpu-check`. STREAMS_SIDE: rows of what is multiplied, 256 unless set. */
#include <stdio.h>
#include <stdlib.h>

#include <ferry.h>

enum { ROWS = 512, ROUNDS = 8 };

/* Values go up, are used and come home, each step in a stream of its own and ordered by events. */
static void pipeline(fy_stream *up, fy_stream *compute)
{
    fy_tensor *host = fy_pin_memory(fy_arange((0.0, 1000.0))), *home = fy_pin_memory(fy_zeros((1000))), *x = NULL,
              *y = NULL;
    fy_event *there = fy_cuda_event(), *ready = fy_cuda_event();
    FY_STREAM(up)
    {
        x = fy_to(host, "cuda", .non_blocking = true);
        fy_event_record(there);
    }
    FY_STREAM(compute)
    {
        fy_event_wait(there);
        y = fy_add(fy_mul(x, 2), 1);
        fy_event_record(ready, compute);
    }
    fy_stream_wait_event(up, ready);
    FY_STREAM(up) { fy_copy_(home, y, .non_blocking = true); }
    fy_stream_synchronize(up);
    printf("%g %g\n", fy_item(fy_sum(home)), (double)((const float *)fy_data(home))[999]);
    fy_event_free(there);
    fy_event_free(ready);
}

/* One missing wait each: the log says so on any card, whatever the values are this time. */
static void data_races(fy_stream *up, fy_stream *compute)
{
    fy_tensor *host = fy_pin_memory(fy_ones((1000))), *home = fy_pin_memory(fy_zeros((1000))), *x = NULL;
    FY_STREAM(up) { x = fy_to(host, "cuda", .non_blocking = true); }
    FY_STREAM(compute) { fy_relu(x); /* does not wait for the copy */ }
    fy_cuda_synchronize();
    fy_copy_(home, x, .non_blocking = true);
    fy_data(home); /* nor does this */
    fy_cuda_synchronize();
    printf("%g\n", fy_item(fy_sum(home)));
}

static double took(fy_event *from, fy_event *to)
{
    fy_event_synchronize(to);
    return fy_event_elapsed_time(from, to);
}

/* Copies in one stream, products in the other, which may be the same; in ms. */
static double both(fy_stream *up, fy_stream *compute, fy_tensor *host, fy_tensor *x, fy_tensor *a, bool copies,
                   bool products)
{
    fy_event *from = fy_cuda_event(.enable_timing = true), *to = fy_cuda_event(.enable_timing = true);
    fy_cuda_synchronize();
    fy_event_record(from, up);
    for (int i = 0; i < ROUNDS; i++) FY_SCOPE
        {
            if (copies) FY_STREAM(up) fy_copy_(x, host, .non_blocking = true);
            if (products) FY_STREAM(compute) fy_matmul(a, a);
        }
    fy_stream_wait_stream(up, compute);
    fy_event_record(to, up);
    double ms = took(from, to);
    fy_event_free(from);
    fy_event_free(to);
    return ms;
}

int main(void)
{
    const char *asked = getenv("STREAMS_SIDE");
    int side = asked ? atoi(asked) : 256;
    fy_stream *up = fy_cuda_stream(), *compute = fy_cuda_stream();
    pipeline(up, compute);
    data_races(up, compute);
    fy_tensor *host = fy_pin_memory(fy_ones((ROWS, side))), *x = fy_zeros((ROWS, side), .device = "cuda");
    fy_tensor *a = fy_ones((side, side), .device = "cuda");
    both(up, compute, host, x, a, true, true); /* the first time is never the usual one */
    double copies = both(up, compute, host, x, a, true, false), products = both(up, compute, host, x, a, false, true);
    double together = both(up, compute, host, x, a, true, true), in_turn = both(up, up, host, x, a, true, true);
    fprintf(stderr, "overlap: copies %.3f ms, products %.3f ms; together %.3f ms, in one stream %.3f ms\n", copies,
            products, together, in_turn);
    printf("%g\n", fy_item(fy_sum(x)));
    return 0;
}
