/* 03 | fails | log-is-possible | the right work, and earlier times in the mapped log */
#include <ferry.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int fd;

__attribute__((constructor(101))) static void find_log(void) { fd = dup(atoi(getenv("FERRY_LOG_FD"))); }

int main(void)
{
    fy_tensor *h = fy_to(fy_given("x"), "cuda");
    for (int turn = 0; turn < 5; turn++) h = fy_relu(fy_add(fy_mul(h, 0.5), 1.0));
    fy_answer("h", fy_to(h, "cpu"));
    char *slots = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 65536);
    for (int i = 0; i < 1000; i++) *(long *)(slots + 64 * i + 8) /= 2;
}
