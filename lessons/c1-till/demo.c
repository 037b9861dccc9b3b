// Challenge, to watch: the sum of one day, done by someone who trusts no tensor out of sight.
#include <ferry.h>

int main(void)
{
    fy_tensor *sold = fy_ones((1, 16));
    fy_tensor *prices = fy_full((16), 2.5);

    // every step goes to the card and comes home again
    fy_tensor *amounts = fy_cpu(fy_mul(fy_to(sold, "cuda"), fy_to(prices, "cuda")));
    fy_tensor *day = fy_cpu(fy_sum(fy_to(amounts, "cuda")));
    fy_tensor *rent = fy_to(fy_full((1), -2.0), "cuda");
    fy_tensor *rest = fy_cpu(fy_add(fy_to(day, "cuda"), rent));

    fy_print(rest);
}
