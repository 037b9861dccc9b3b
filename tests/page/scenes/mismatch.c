#include <ferry.h>

int main(void)
{
    fy_tensor *mat1 = fy_randn((64, 64));
    fy_tensor *mat2 = fy_randn((64, 64), .device = "cuda");
    fy_cuda_synchronize();
    fy_tensor *product = fy_matmul(mat1, mat2);
    fy_print(product);
}
