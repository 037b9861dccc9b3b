#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_cuda(fy_given("x"));

    // The square by fy_pow, and relu in place, in the memory of the square.
    fy_tensor *there = fy_pow(x, 2);
    fy_tensor *second = fy_cpu(there);
    fy_tensor *first = fy_cpu(fy_relu_(fy_copy_(there, x)));
    fy_free(there);

    fy_answer("first", first);
    fy_answer("second", second);
}
