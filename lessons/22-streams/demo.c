// Lesson 22, to watch: a copy in a stream of its own, and work beside it. Who may read the copy, and when?
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *a = fy_ones((256, 256), .device = "cuda");
    fy_tensor *box = fy_ones((256, 256), .pin_memory = true);
    fy_tensor *b = NULL;
    fy_stream *other = fy_cuda_stream();

    FY_STREAM(other) { b = fy_to(box, "cuda", .non_blocking = true); }
    fy_tensor *c = fy_relu(a); // beside the copy
    fy_tensor *d = fy_add(b, c);
    printf("at once:       ");
    fy_print(fy_sum(d));

    fy_cuda_synchronize(); // the CPU waits for both streams
    fy_tensor *e = fy_add(b, c);
    printf("after a wait:  ");
    fy_print(fy_sum(e));
}
