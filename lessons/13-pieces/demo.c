// Lesson 13, to watch: four tensors fill the card, two of them are freed. Does a new one fit?
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *north = fy_ones((2304, 1024), .device = "cuda");
    fy_tensor *east = fy_ones((2304, 1024), .device = "cuda");
    fy_tensor *south = fy_ones((2304, 1024), .device = "cuda");
    fy_tensor *west = fy_ones((2304, 1024), .device = "cuda");
    fy_free(north);
    fy_free(south);
    printf("%ld bytes in use, %ld reserved\n", fy_cuda_memory_allocated("cuda"), fy_cuda_memory_reserved("cuda"));

    fy_tensor *large = fy_ones((3840, 1024), .device = "cuda");
    fy_print(fy_sum(large));
    fy_print(fy_sum(fy_add(east, west)));
}
