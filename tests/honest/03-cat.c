/* Lesson 3: the first row and the others are computed on their own, and put together again on the CPU. */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_to(fy_given("x"), "cuda");
    fy_tensor *first = fy_narrow(x, 0, 0, 1), *others = fy_narrow(x, 0, 1, fy_size(x, 0) - 1);
    for (int turn = 0; turn < 5; turn++) {
        first = fy_relu(fy_add(fy_mul(first, 0.5), 1.0));
        others = fy_relu(fy_add(fy_mul(others, 0.5), 1.0));
    }
    fy_answer("h", fy_cpu(fy_cat((first, others), 0)));
}
