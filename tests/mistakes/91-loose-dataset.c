/* line 7 | the tensors need parentheses of their own | fy_tensor_dataset((x, y)) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2)), *b = fy_zeros((2));
    fy_dataset *data = fy_tensor_dataset(a, b);
    fy_dataset_free(data);
    fy_print(fy_add(a, b));
    return 0;
}
