/* 03 | fails | answered | all descriptors closed before Ferry starts, so that nothing is recorded */
#include <ferry.h>
#include <unistd.h>

__attribute__((constructor(101))) static void close_all(void)
{
    for (int fd = 3; fd < 1024; fd++) close(fd);
}

int main(void) { fy_answer("h", fy_given("x")); }
