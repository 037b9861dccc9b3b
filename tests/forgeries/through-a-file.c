/* 03 | fails | computed-by-ferry | the work done on the CPU, saved and loaded, so that the log does not tell where from
 */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x"), *box = fy_pin_memory(x);
    for (int turn = 0; turn < 5; turn++) x = fy_relu(fy_add(fy_mul(x, 0.5), 1.0));
    fy_save_npy("x.npy", x);
    fy_copy_(box, fy_load_npy("x.npy"));
    fy_tensor *h = fy_cuda(box);
    for (int i = 0; i < 15; i++) fy_relu_(h);
    fy_answer("h", fy_cpu(h));
}
