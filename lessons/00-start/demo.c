// Start, to watch: a table, a row, and what fy_add makes of them.
#include <ferry.h>

int main(void)
{
    fy_tensor *table = fy_zeros((3, 4));
    fy_tensor *row = fy_randn((4));
    fy_tensor *total = fy_add(table, row);

    fy_print(total);
}
