// Lesson 4, to watch: the same ones, made in two ways; then two tensors of zeros, each like another tensor.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    // made in CPU RAM, then sent
    fy_tensor *here = fy_ones((128, 64));
    fy_tensor *sent = fy_to(here, "cuda");
    // made in VRAM
    fy_tensor *born = fy_ones((128, 64), .device = "cuda");

    // like which tensor?
    fy_tensor *like_here = fy_zeros_like(here);
    fy_tensor *like_born = fy_zeros_like(born);
    printf("like_here is on %s, like_born is on %s\n", fy_device(like_here), fy_device(like_born));

    // a mask: its operand is on the card
    fy_tensor *small = fy_lt(born, 2);
    fy_tensor *chosen = fy_where(small, sent, like_born);
    fy_print(fy_sum(chosen));
}
