// Challenge, to watch: what is left lying around when nobody tidies up.
#include <ferry.h>

int main(void)
{
    fy_tensor *tours = fy_randn((3, 64), .device = "cuda");
    fy_tensor *most = fy_zeros((), .device = "cuda");

    for (int i = 0; i < 3; i++) {
        fy_tensor *heights = fy_select(tours, 0, i);
        fy_tensor *apart = fy_sub(fy_unsqueeze(heights, 1), heights); // from each point to each other one
        fy_tensor *size = fy_abs(apart);
        fy_add_(most, fy_max(size));
    }
    fy_print(most);
}
