#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");
    int64_t rows = fy_size(x, 0) / 4, columns = fy_size(x, 1);
    fy_tensor *there[4], *total = fy_zeros((rows, columns), .device = "cuda");
    for (int part = 0; part < 4; part++) there[part] = fy_zeros_like(total);
    fy_cuda_synchronize(); // the card has nothing to do now

    // A copy and three operations for each row: thousands of events, each of which may run beside each.
    fy_tensor *locked = fy_pin_memory(x);
    fy_stream *copies = fy_cuda_stream();
    for (int part = 0; part < 4; part++) {
        for (int64_t r = 0; r < rows; r++) {
            fy_tensor *to = fy_narrow(there[part], 0, r, 1), *from = fy_narrow(locked, 0, part * rows + r, 1);
            FY_STREAM(copies) { fy_copy_(to, from, .non_blocking = true); }
        }
        fy_stream_wait_stream(fy_cuda_default_stream(), copies);
        for (int64_t r = 0; r < rows; r++) fy_relu_(fy_add_(fy_mul_(fy_narrow(there[part], 0, r, 1), 0.5), 1));
        fy_add_(total, there[part]);
    }

    fy_answer("y", fy_sum(total, (0)));
}
