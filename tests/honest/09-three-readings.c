#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *warm = fy_ones((512, 512), .device = "cuda");
    fy_tensor *x = fy_to(fy_given("x"), "cuda");
    for (int i = 0; i < 8; i++) fy_mul_(warm, 0.5); // other work, which is not to be timed

    // A reading between the two tells how long queueing took.
    fy_cuda_synchronize();
    int64_t begin = fy_now();
    for (int i = 0; i < 8; i++) fy_relu_(fy_add_(fy_mul_(x, 0.5), 0.25));
    int64_t queued = fy_now();
    fy_cuda_synchronize();
    int64_t end = fy_now();
    printf("queueing took %ld ns\n", queued - begin);

    printf("the loop took %ld ns\n", end - begin);
    fy_answer("x", x);
    fy_answer("took", fy_full((), end - begin));
}
