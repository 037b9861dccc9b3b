/* The till: what is sold and the prices cross the bus as one table, whose last row is the prices. */
#include <ferry.h>

int main(void)
{
    fy_tensor *sold = fy_given("sold"), *prices = fy_given("prices");
    int64_t days = fy_size(sold, 0);
    fy_tensor *both = fy_cuda(fy_cat((sold, fy_unsqueeze(prices, 0)), 0));
    fy_tensor *taken = fy_matmul(fy_narrow(both, 0, 0, days), fy_select(both, 0, days));
    fy_answer("left", fy_cpu(fy_relu(fy_sub(fy_mul(taken, 0.75), 2))));
}
