// Your turn: let the card compute y, twice x.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    fy_tensor *on_card = fy_to(x, "cuda");
    fy_tensor *y = fy_add(on_card, on_card);
    // --- end ---

    fy_answer("y", y);
}
