// Lesson 2, to watch: one tensor becomes two; a third name costs nothing.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *here = fy_randn((64, 32));    // created in CPU RAM
    fy_tensor *there = fy_to(here, "cuda");  // a copy; here stays
    fy_tensor *again = fy_to(there, "cuda"); // nothing to do: no event
    fy_tensor *total = fy_sum(again);        // runs on the card
    fy_tensor *back = fy_cpu(total);         // one number is copied back

    printf("here is on %s, there is on %s\n", fy_device(here), fy_device(there));
    printf("there and again are %s\n", there == again ? "one tensor" : "two tensors");
    fy_print(back);
}
