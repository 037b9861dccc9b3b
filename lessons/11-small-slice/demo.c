// Lesson 11, to watch: a large tensor, one row of it, and two calls of fy_free. Which of them frees memory?
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *large = fy_ones((65536, 4), .device = "cuda");
    printf("large is made:      %7ld bytes in use\n", fy_cuda_memory_allocated("cuda"));
    fy_tensor *row = fy_narrow(large, 0, 7, 1);
    printf("a row of it:        %7ld bytes in use\n", fy_cuda_memory_allocated("cuda"));

    fy_free(large);
    printf("large is freed:     %7ld bytes in use\n", fy_cuda_memory_allocated("cuda"));
    fy_print(row); // all its values are there
    fy_free(row);
    printf("the row is freed:   %7ld bytes in use\n", fy_cuda_memory_allocated("cuda"));
}
