/* training-step.c: a step of a two-layer perceptron: what the forward pass saves, the backward pass, the update. */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_randn((8, 4), .device = "cuda");
    fy_tensor *classes = fy_randint((0, 3), (8), .device = "cuda");
    fy_tensor *w1 = fy_randn((6, 4), .device = "cuda", .requires_grad = true);
    fy_tensor *b1 = fy_zeros((6), .device = "cuda", .requires_grad = true);
    fy_tensor *w2 = fy_randn((3, 6), .device = "cuda", .requires_grad = true);
    fy_tensor *parameters[] = {w1, b1, w2};
    FY_TIMES(step, 2)
    {
        fy_tensor *hidden = fy_linear(x, w1, b1);
        fy_tensor *active = fy_relu(hidden);
        fy_tensor *scores = fy_linear(active, w2);
        fy_tensor *loss = fy_cross_entropy(scores, classes);
        fy_backward(loss);
        for (int i = 0; i < 3; i++) {
            FY_NO_GRAD fy_sub_(parameters[i], fy_grad(parameters[i]), 0.1);
            fy_set_grad(parameters[i], NULL);
        }
    }
    fy_print(w2);
    return 0;
}
