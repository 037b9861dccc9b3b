// Lesson 9, to watch: the clock is read three times around the same work. What has been timed?
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *x = fy_ones((512, 512), .device = "cuda");
    fy_tensor *y = fy_ones((512, 512), .device = "cuda");
    fy_cuda_synchronize(); // the card has nothing to do

    int64_t start = fy_now();
    FY_TIMES (i, 6) fy_mul_(x, 0.5);
    int64_t returned = fy_now();
    // asks, and does not wait: has the card done all that was queued?
    bool finished = fy_stream_query(fy_cuda_default_stream());
    fy_cuda_synchronize(); // waits
    int64_t done = fy_now();
    // the same work, with a wait after each operation
    FY_TIMES (i, 6) {
        fy_mul_(y, 0.5);
        fy_cuda_synchronize(); // waits
    }
    int64_t slow = fy_now();

    printf("until the last call returned: %ld ns, finished: %s\n", returned - start, finished ? "yes" : "no");
    printf("until the card was done:      %ld ns\n", done - start);
    printf("with a wait in each step:     %ld ns\n", slow - done);
}
