/* 03 | fails | cut off or overwritten | the log cut off after the work */
#include <ferry.h>
#include <stdlib.h>
#include <unistd.h>

static int fd;

__attribute__((constructor(101))) static void find_log(void) { fd = dup(atoi(getenv("FERRY_LOG_FD"))); }

int main(void)
{
    fy_answer("h", fy_given("x"));
    if (ftruncate(fd, 0)) return 1;
}
