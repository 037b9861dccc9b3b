/* 03 | fails | answered | itself started again, with LD_PRELOAD: Ferry is linked in, and a second start is not recorded
 */
#include <ferry.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arg)
{
    (void)count;
    if (!getenv("LD_PRELOAD")) {
        setenv("LD_PRELOAD", "/lib/nothing.so", 1);
        execv("/proc/self/exe", arg);
    }
    fy_tensor *h = fy_given("x");
    for (int turn = 0; turn < 5; turn++) h = fy_relu(fy_add(fy_mul(h, 0.5), 1.0));
    fy_answer("h", h);
}
