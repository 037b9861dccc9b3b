// Which card, your turn: two results from x, each computed on a card of its own.
//
// low belongs on the first card, cuda:0, and high on the second, cuda:1. w is on the first card
// already. Each card gets x over the bus once. The second card must not stand in the way of the first.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");
    fy_tensor *w = fy_full((fy_size(x, 1)), 0.5, .device = "cuda");

    // --- your code ---
    // The first card's work comes first, so that it finds its card. But nobody puts the current card back.
    fy_tensor *low = fy_mul(fy_to(x, "cuda"), w);
    fy_cuda_set_device(1);
    fy_tensor *high = fy_relu(fy_to(x, "cuda"));
    // --- end ---

    fy_answer("high", high);
    fy_answer("low", low);
}
