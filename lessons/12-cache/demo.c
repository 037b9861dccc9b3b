// Lesson 12, to watch: a tensor is freed, and another one is made. What does the card get back?
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *first = fy_ones((768, 1024), .device = "cuda");
    printf("first is made:   %8ld bytes in use, %8ld reserved\n", fy_cuda_memory_allocated("cuda"),
           fy_cuda_memory_reserved("cuda"));
    fy_free(first);
    printf("it is freed:     %8ld bytes in use, %8ld reserved\n", fy_cuda_memory_allocated("cuda"),
           fy_cuda_memory_reserved("cuda"));

    fy_tensor *second = fy_ones((1024, 1024), .device = "cuda");
    printf("second is made:  %8ld bytes in use, %8ld reserved\n", fy_cuda_memory_allocated("cuda"),
           fy_cuda_memory_reserved("cuda"));
    fy_free(second);
    printf("it is freed:     %8ld bytes in use, %8ld reserved\n", fy_cuda_memory_allocated("cuda"),
           fy_cuda_memory_reserved("cuda"));
}
