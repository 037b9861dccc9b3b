// Myth 6, to watch: a leaf that is made on the card, and its gradient.
#include <ferry.h>

int main(void)
{
    fy_tensor *leaf = fy_ones((32), .device = "cuda", .requires_grad = true);
    fy_tensor *square = fy_mul(leaf, leaf);
    fy_tensor *sum = fy_sum(square);
    fy_backward(sum);
}
