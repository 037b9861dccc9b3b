// Between cards, to watch: one tensor goes from the first card to the second, in two ways.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *x = fy_ones((256, 256), .device = "cuda:0");
    fy_free(fy_ones((1), .device = "cuda:1")); // the first use of the second card reserves memory, once
    printf("direct copies: %s\n", fy_cuda_can_device_access_peer(0, 1) ? "yes" : "no");
    fy_cuda_synchronize();

    int64_t start = fy_now();
    // home, and out again
    fy_tensor *home = fy_cpu(x);
    fy_tensor *long_way = fy_to(home, "cuda:1");
    int64_t between = fy_now();
    // from card to card
    fy_tensor *short_way = fy_to(x, "cuda:1");
    fy_cuda_synchronize();
    int64_t end = fy_now();

    printf("two calls: %ld ns, one call: %ld ns\n", between - start, end - between);
    fy_print(fy_sum(fy_sub(long_way, short_way)));
}
