// Lesson 1, to watch: three tensors of different size, two memories, one bus.
#include <ferry.h>

int main(void)
{
    fy_tensor *rows = fy_randn((96, 32));                     // born in CPU RAM
    fy_tensor *moved = fy_to(rows, "cuda");                   // a copy crosses the bus
    fy_tensor *weights = fy_randn((32, 8), .device = "cuda"); // born in VRAM
    fy_tensor *result = fy_matmul(moved, weights);            // computed where both live
    fy_tensor *home = fy_cpu(result);                         // the result comes home

    fy_print(fy_sum(home));
}
