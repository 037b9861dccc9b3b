// Challenge, to watch: a product that takes a while, and a copy that has nothing to do with it.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *a = fy_randn((192, 192), .device = "cuda");
    fy_tensor *letters = fy_ones((192, 1024));
    fy_cuda_synchronize();

    int64_t begin = fy_now();
    fy_tensor *b = fy_matmul(a, a);
    fy_tensor *c = fy_matmul(b, a);
    fy_tensor *there = fy_to(letters, "cuda", .non_blocking = true);
    fy_tensor *sum = fy_sum(there);
    fy_cuda_synchronize();
    int64_t end = fy_now();

    printf("%ld ns\n", end - begin);
    fy_print(sum);
    fy_print(fy_sum(c));
}
