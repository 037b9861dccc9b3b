// Which card, to watch: five tensors, two cards, and the word "cuda".
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *a = fy_ones((4), .device = "cuda");
    fy_cuda_set_device(1);
    fy_tensor *b = fy_ones((4), .device = "cuda");
    fy_tensor *c = fy_relu(a); // where is this computed?
    fy_cuda_set_device(0);

    FY_DEVICE("cuda:1")
    {
        fy_tensor *d = fy_ones((4));
        fy_tensor *e = fy_ones((4), .device = "cuda");
        printf("a %s, b %s, c %s, d %s, e %s\n", fy_device(a), fy_device(b), fy_device(c), fy_device(d), fy_device(e));
    }
}
