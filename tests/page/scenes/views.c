#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_arange((24));
    fy_tensor *table = fy_view(x, (4, 6));
    fy_tensor *row = fy_select(table, 0, 1);
    fy_tensor *half = fy_slice(x, 0, 0, 12, 1);
    fy_zero_(row);
    fy_print(half);
}
