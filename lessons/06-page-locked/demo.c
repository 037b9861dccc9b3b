// Lesson 6, to watch: the same bytes cross the bus three times, twice from page-locked memory.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *data = fy_randn((256, 256));
    fy_tensor *there = fy_zeros((256, 256), .device = "cuda");

    int64_t begin = fy_now();
    fy_copy_(there, data);
    int64_t sent = fy_now();
    // a second place in CPU RAM, which the card may read by itself
    fy_tensor *locked = fy_pin_memory(data);
    int64_t ready = fy_now();
    fy_copy_(there, locked);
    int64_t first = fy_now();
    fy_copy_(there, locked);
    int64_t second = fy_now();

    printf("sent from ordinary memory: %ld ns\n", sent - begin);
    printf("page-locked:               %ld ns\n", ready - sent);
    printf("sent from there:           %ld ns\n", first - ready);
    printf("sent again:                %ld ns\n", second - first);
}
