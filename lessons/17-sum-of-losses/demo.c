// Lesson 17, to watch: a sum of losses. How many bytes does one number keep?
#include <ferry.h>

int main(void)
{
    fy_tensor *w = fy_randn((64, 32), .device = "cuda", .requires_grad = true);
    fy_tensor *total = fy_zeros((), .device = "cuda"); // one number

    FY_TIMES (batch, 3) { // each turn frees what it made, at its end
        fy_tensor *x = fy_randn((128, 64), .device = "cuda");
        fy_tensor *loss = fy_mean(fy_relu(fy_matmul(x, w)));
        // total = total + loss
        fy_set(&total, fy_add(total, loss));
        fy_log_scalar("bytes kept", fy_saved_bytes(total));
    }
}
