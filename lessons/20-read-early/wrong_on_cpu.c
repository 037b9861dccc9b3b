// Lesson 20, your turn: two results come home, and the CPU adds them.
//
// Both copies are queued: the program goes on while they run, which is what we want. But the sum is wrong. Let
// the CPU wait where it has to, once, and nowhere else.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_cuda(fy_given("x"));

    // --- your code ---
    // The CPU alone never waits; but the card did nothing.
    fy_tensor *home = fy_cpu(x);
    fy_tensor *first = fy_relu(home);
    fy_tensor *second = fy_mul(home, home);
    fy_tensor *y = fy_add(first, second); // on the CPU
    // --- end ---

    fy_answer("y", y);
}
