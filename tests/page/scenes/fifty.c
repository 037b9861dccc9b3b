#include <ferry.h>

int main(void)
{
    fy_tensor *weight[48];
    FY_TIMES(i, 48) {
        weight[i] = fy_randn((64, 64), .device = i % 2 ? "cuda" : "cpu");
        fy_keep(weight[i]);
    }
    fy_tensor *input = fy_randn((64, 64));
    fy_tensor *moved = fy_cuda(input);
    fy_tensor *output = fy_matmul(moved, weight[7]);
    fy_print(fy_sum(output));
}
