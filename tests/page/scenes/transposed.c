#include <ferry.h>

int main(void)
{
    fy_tensor *m = fy_view(fy_arange((12)), (3, 4));
    fy_tensor *turned = fy_t(m);
    fy_tensor *one = fy_ones((1, 4));
    fy_tensor *wide = fy_expand(one, (3, 4));
    fy_print(turned);
    fy_print(wide);
}
