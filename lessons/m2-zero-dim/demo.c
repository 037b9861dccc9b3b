// Myth 2, to watch: a plain number, and a tensor without dimensions.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *rows = fy_randn((48, 32), .device = "cuda");
    fy_tensor *half = fy_mul(rows, 0.5); // a plain number of C
    fy_tensor *sum = fy_sum(half);       // a 0-dim tensor, made on the card
    fy_tensor *product = fy_mul(half, sum);

    printf("half is on %s, product is on %s\n", fy_device(half), fy_device(product));
}
