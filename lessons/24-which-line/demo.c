// Which line, to watch: one of these lines asks for a row that does not exist. Which one says so?
#include <ferry.h>

int main(void)
{
    fy_tensor *shelf = fy_randn((8, 4), .device = "cuda"); // rows 0 to 7
    fy_tensor *wanted = fy_tensor((2, 5, 8), .device = "cuda");

    fy_tensor *books = fy_index_select(shelf, 0, wanted);
    fy_tensor *halves = fy_mul(books, 0.5);
    fy_tensor *total = fy_sum(halves);
    fy_print(total);
}
