// Lesson 21, to watch: a box is copied to the card twice, and changed after each copy. What arrives?
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *box = fy_ones((256, 256), .pin_memory = true);
    fy_tensor *waited = fy_to(box, "cuda");
    fy_fill_(box, 2.0);
    printf("blocking copy of 65,536 ones:   ");
    fy_print(fy_sum(waited));

    fy_tensor *queued = fy_to(box, "cuda", .non_blocking = true);
    fy_fill_(box, 3.0);
    printf("queued copy of 65,536 twos:     ");
    fy_print(fy_sum(queued));
}
