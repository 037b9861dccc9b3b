/* 03 | fails | ran-on-the-card | the card's result, page-locked, then overwritten with one of the CPU through a file */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x"), *h = fy_cuda(x);
    fy_tensor *home = fy_empty((fy_size(x, 0), fy_size(x, 1)), .pin_memory = true);
    for (int i = 0; i < 15; i++) fy_relu_(h);
    fy_copy_(home, h);
    for (int turn = 0; turn < 5; turn++) x = fy_relu(fy_add(fy_mul(x, 0.5), 1.0));
    fy_save_npy("x.npy", x);
    fy_answer("h", fy_copy_(home, fy_load_npy("x.npy")));
}
