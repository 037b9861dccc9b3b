/* 03 | fails | ran-on-the-card | all descriptors closed: Ferry has mapped its log before main */
#include <ferry.h>
#include <unistd.h>

int main(void)
{
    for (int fd = 3; fd < 1024; fd++) close(fd);
    fy_tensor *h = fy_given("x");
    for (int turn = 0; turn < 5; turn++) h = fy_relu(fy_add(fy_mul(h, 0.5), 1.0));
    fy_answer("h", h);
}
