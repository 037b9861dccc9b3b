// Lesson 20, your turn: two results come home, and the CPU adds them.
//
// Both copies are queued: the program goes on while they run, which is what we want. But the sum is wrong. Let
// the CPU wait where it has to, once, and nowhere else.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_cuda(fy_given("x"));

    // --- your code ---
    // Asks whether the copies are done, and goes on whatever the answer is.
    fy_tensor *positive = fy_relu(x);
    fy_tensor *first = fy_to(positive, "cpu", .non_blocking = true);
    fy_tensor *square = fy_mul(x, x);
    fy_tensor *second = fy_to(square, "cpu", .non_blocking = true);
    fy_stream_query(fy_cuda_current_stream());
    fy_tensor *y = fy_add(first, second); // on the CPU
    // --- end ---

    fy_answer("y", y);
}
