/* Lesson 0: a row of ones, laid upon itself. */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x"), *row = fy_ones((4)), *ones = fy_stack((row, row, row), 0);
    fy_answer("y", fy_add(ones, x));
}
