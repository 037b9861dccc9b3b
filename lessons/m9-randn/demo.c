// Myth 9, to watch: random numbers, made in CPU RAM and used on the card.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *noise = fy_randn((64, 32));
    fy_tensor *there = fy_cuda(noise);
    fy_tensor *done = fy_relu(there);

    printf("noise is on %s, done is on %s\n", fy_device(noise), fy_device(done));
}
