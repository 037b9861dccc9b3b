// To watch: a copy to the card, work there, and a copy back.
#include <ferry.h>

int main(void)
{
    // created in CPU RAM
    fy_tensor *numbers = fy_randn((8));
    // a copy crosses the bus
    fy_tensor *there = fy_to(numbers, "cuda");
    // computed on the card
    fy_tensor *tripled = fy_mul(there, 3);
    // the result is copied back
    fy_tensor *back = fy_cpu(tripled);

    fy_print(back);
}
