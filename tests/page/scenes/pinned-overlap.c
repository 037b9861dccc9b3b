#include <ferry.h>

int main(void)
{
    fy_tensor *first = fy_pin_memory(fy_ones((1024, 1024)));
    fy_tensor *second = fy_pin_memory(fy_ones((1024, 1024)));
    fy_stream *copies = fy_cuda_stream();
    fy_tensor *a = fy_to(first, "cuda", .non_blocking = true);
    fy_tensor *product = fy_matmul(a, a);
    fy_tensor *b;
    FY_STREAM(copies) { b = fy_to(second, "cuda", .non_blocking = true); }
    fy_stream_wait_stream(fy_cuda_current_stream(), copies);
    fy_tensor *sum = fy_add(product, b);
    fy_cuda_synchronize();
    fy_print(fy_sum(sum));
}
