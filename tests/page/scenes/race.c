#include <ferry.h>

int main(void)
{
    fy_tensor *batch = fy_pin_memory(fy_ones((1024, 1024)));
    fy_stream *copies = fy_cuda_stream();
    fy_tensor *there;
    FY_STREAM(copies) { there = fy_to(batch, "cuda", .non_blocking = true); }
    fy_tensor *twice = fy_mul(there, 2);
    fy_cuda_synchronize();
    fy_print(fy_sum(twice));
}
