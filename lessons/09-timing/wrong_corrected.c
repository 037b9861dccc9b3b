// Lesson 9, your turn: how long does the card need for the loop?
//
// The values of x are right, but the time is not: it is that of calls that only queue work.
// The warm-up before is still queued, too, when the clock is read for the first time.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *warm = fy_ones((512, 512), .device = "cuda");
    fy_tensor *x = fy_to(fy_given("x"), "cuda");
    FY_TIMES (i, 8) fy_mul_(warm, 0.5); // other work, which is not to be timed

    // --- your code ---
    // The wait itself takes time, and somebody subtracts it: then the time is not what the clock says.
    fy_cuda_synchronize();
    int64_t begin = fy_now();
    FY_TIMES (i, 8) fy_relu_(fy_add_(fy_mul_(x, 0.5), 0.25));
    fy_cuda_synchronize();
    int64_t end = fy_now() - 5000;
    // --- end ---

    printf("the loop took %ld ns\n", end - begin);
    fy_answer("x", x);
    fy_answer("took", fy_full((), end - begin));
}
