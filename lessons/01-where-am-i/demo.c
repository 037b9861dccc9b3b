// Lesson 1, to watch: tensors of three sizes, two memories, one bus.
#include <ferry.h>

int main(void)
{
    // no word of a device
    fy_tensor *rows = fy_randn((96, 32));
    // a device and a tensor
    fy_tensor *moved = fy_to(rows, "cuda");
    // with a device
    fy_tensor *weights = fy_randn((32, 8), .device = "cuda");
    // where does this work?
    fy_tensor *result = fy_matmul(moved, weights);
    // and this?
    fy_tensor *back = fy_cpu(result);

    fy_print(fy_sum(back));
}
