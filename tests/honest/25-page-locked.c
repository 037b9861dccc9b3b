#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");
    fy_tensor *w = fy_full((fy_size(x, 1)), 0.5, .device = "cuda");

    // x goes to both cards, from page-locked memory.
    x = fy_pin_memory(x);
    fy_tensor *high = fy_relu(fy_to(x, "cuda:1", .non_blocking = true));

    fy_tensor *low = fy_mul(fy_to(x, "cuda"), w); // on the first card
    fy_answer("high", high);
    fy_answer("low", low);
}
