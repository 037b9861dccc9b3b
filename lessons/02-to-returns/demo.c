// Lesson 2, to watch: which of these lines copy, and how many tensors are there?
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *here = fy_randn((64, 32));
    fy_tensor *there = fy_to(here, "cuda");
    fy_tensor *again = fy_to(there, "cuda");
    fy_tensor *total = fy_sum(again);
    fy_tensor *back = fy_cpu(total);

    printf("here is on %s, there is on %s\n", fy_device(here), fy_device(there));
    printf("there and again are %s\n", there == again ? "one tensor" : "two tensors");
    fy_print(back);
}
