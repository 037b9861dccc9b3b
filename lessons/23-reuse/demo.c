// Lesson 23, to watch: a tensor is freed while a copy in another stream may still read it. Who gets its place?
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_stream *other = fy_cuda_stream();
    fy_tensor *back = NULL;
    fy_tensor *ones = fy_ones((256, 256), .device = "cuda");
    fy_cuda_synchronize(); // the ones are there, and every stream may read them

    FY_STREAM(other) { back = fy_to(ones, "cpu", .non_blocking = true); }
    fy_free(ones);
    fy_tensor *fives = fy_full((256, 256), 5.0, .device = "cuda");

    fy_cuda_synchronize(); // the copy is over
    printf("65,536 ones came back as:   ");
    fy_print(fy_sum(back));
    printf("65,536 fives on the card:   ");
    fy_print(fy_sum(fives));
}
