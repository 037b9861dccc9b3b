#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_ones((512, 1024));
    fy_tensor *a = fy_to(x, "cuda:0");
    fy_tensor *b = fy_to(a, "cuda:1");
    fy_tensor *c = fy_relu(b);
    fy_print(fy_cpu(c));
}
