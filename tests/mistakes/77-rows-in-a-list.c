/* line 5 | a list holds numbers, not rows | fy_view(fy_tensor((1, 2, 3, 4)), (2, 2)) */
#include <ferry.h>
int main(void)
{
    fy_tensor *m = fy_tensor(((1, 2, 3, 4, 5, 6, 7, 8, 9), (3, 4)));
    fy_print(m);
}
