// Lesson 10, to watch: three tensors in VRAM are copied back to CPU RAM. How much of VRAM is free then?
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *a = fy_randn((256, 256), .device = "cuda");
    fy_tensor *b = fy_matmul(a, a);
    fy_tensor *c = fy_relu(b);
    printf("in use on the card:   %ld bytes\n", fy_cuda_memory_allocated("cuda"));

    fy_tensor *a_back = fy_cpu(a);
    fy_tensor *b_back = fy_cpu(b);
    fy_tensor *c_back = fy_cpu(c);
    printf("after three copies:   %ld bytes\n", fy_cuda_memory_allocated("cuda"));

    fy_free(b);
    printf("after one fy_free:    %ld bytes\n", fy_cuda_memory_allocated("cuda"));
    fy_print(fy_sum(fy_add(fy_add(a_back, b_back), c_back))); // the copies are still there
}
