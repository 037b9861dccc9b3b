#include <ferry.h>

int main(void)
{
    fy_tensor *w = fy_randn((32, 32));
    fy_tensor *h = fy_randn((32, 32));
    h = fy_matmul(h, w);
    h = fy_relu(h);
    h = fy_matmul(h, w);
    fy_print(fy_sum(h));
}
