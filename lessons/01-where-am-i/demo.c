// Lesson 1, to watch: tensors of three sizes, two memories, one bus.
#include <ferry.h>

int main(void)
{
    // created in CPU RAM
    fy_tensor *rows = fy_randn((96, 32));
    // a copy crosses the bus
    fy_tensor *moved = fy_to(rows, "cuda");
    // created in VRAM
    fy_tensor *weights = fy_randn((32, 8), .device = "cuda");
    // computed where both live
    fy_tensor *result = fy_matmul(moved, weights);
    // the result is copied back
    fy_tensor *back = fy_cpu(result);

    fy_print(fy_sum(back));
}
