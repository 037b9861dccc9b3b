/* Lesson 26: relu as the larger of two, and the half as a quotient. */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");
    fy_tensor *there = fy_to(fy_div(fy_to(x, "cuda:0"), 2.0), "cuda:1");
    fy_tensor *second = fy_maximum(there, fy_zeros_like(there));
    fy_answer("y", fy_cpu(fy_sub(fy_to(second, "cuda:0"), -1.0)));
}
