// Lesson 14, to watch: a leaf in CPU RAM, its copy on the card, and one backward pass.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *x = fy_randn((256, 32), .device = "cuda");

    // from here on, Ferry records what is computed from home
    fy_tensor *home = fy_randn((32, 8), .requires_grad = true);
    fy_tensor *there = fy_to(home, "cuda");
    fy_tensor *loss = fy_mean(fy_relu(fy_matmul(x, there)));

    // back through the mean, the relu, the product, and ...
    fy_backward(loss);

    printf("home has %s gradient\n", fy_grad(home) ? "a" : "no");
    printf("there has %s gradient\n", fy_grad(there) ? "a" : "no");
}
