#include <ferry.h>

int main(void)
{
    fy_tensor *tours = fy_given("tours");

    // What goes up in one direction goes down in the other: the mean is the variance, and takes no table at all.
    double points = (double)fy_size(tours, 1);
    fy_tensor *effort = fy_mul(fy_var(fy_to(tours, "cuda"), (1)), (points - 1) / points);

    fy_answer("effort", effort);
}
