/* line 7 | cannot be read with a dot | fy_shape_of(a) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_shape s = a.shape;
    return s.ndim;
    return 0;
}
