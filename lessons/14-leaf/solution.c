// Lesson 14, your turn: the gradient of w on the card, for two batches.
//
// The lesson provides w and the batches, in CPU RAM. All work is on the card, and no gradient
// is found there. Where did it go?
#include <ferry.h>

int main(void)
{
    fy_tensor *first = fy_to(fy_given("first"), "cuda");
    fy_tensor *second = fy_to(fy_given("second"), "cuda");
    fy_tensor *start = fy_given("w");

    // --- your code ---
    fy_tensor *w = fy_to(start, "cuda");
    fy_requires_grad_(w);
    // --- end ---

    // the gradients of both batches add up
    fy_backward(fy_mean(fy_relu(fy_matmul(first, w))));
    fy_backward(fy_mean(fy_relu(fy_matmul(second, w))));
    fy_answer("g", fy_grad(w));
}
