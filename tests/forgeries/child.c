/* 03 | fails | answered | the work done and answered in a child process */
#include <ferry.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    fy_tensor *x = fy_given("x");
    if (fork()) return wait(NULL) < 0;
    for (int turn = 0; turn < 5; turn++) x = fy_relu(fy_add(fy_mul(x, 0.5), 1.0));
    fy_answer("h", x);
}
