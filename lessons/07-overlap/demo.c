// Lesson 7, to watch: the card works, and a copy is sent in three ways. Each is non_blocking.
#include <ferry.h>
#include <stdio.h>

static void send(const char *way, fy_stream *stream, fy_tensor *data, fy_tensor *there, fy_tensor *work)
{
    int64_t begin = fy_now();
    FY_TIMES (i, 4) fy_mul_(work, 0.5); // the card is busy from here on
    int64_t before = fy_now();
    FY_STREAM(stream) { fy_copy_(there, data, .non_blocking = true); }
    int64_t after = fy_now();
    fy_cuda_synchronize(); // waits until the card has finished everything
    int64_t end = fy_now();
    printf("%s: the call took %ld ns, all of it %ld ns\n", way, after - before, end - begin);
}

int main(void)
{
    fy_tensor *data = fy_ones((256, 512));
    fy_tensor *locked = fy_pin_memory(data);
    fy_tensor *there = fy_zeros((256, 512), .device = "cuda");
    fy_tensor *work = fy_ones((512, 512), .device = "cuda");
    fy_stream *usual = fy_cuda_default_stream(), *second = fy_cuda_stream();
    fy_cuda_synchronize();

    send("ordinary memory", usual, data, there, work);
    send("page-locked", usual, locked, there, work);
    send("page-locked, second stream", second, locked, there, work);
}
