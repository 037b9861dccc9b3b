/* 03 | fails | log-is-possible | the answer comes from a view whose offset in the log lies outside any memory */
#include <ferry.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int fd;

__attribute__((constructor(101))) static void find_log(void) { fd = dup(atoi(getenv("FERRY_LOG_FD"))); }

int main(void)
{
    fy_tensor *x = fy_given("x"), *h = fy_to(x, "cuda");
    fy_tensor *view = fy_narrow(fy_zeros((20000), .device = "cuda"), 0, 12345, fy_size(x, 1));
    fy_fill_(view, 0.0);
    for (int turn = 0; turn < 5; turn++) h = fy_relu(fy_add(fy_mul(h, 0.5), 1.0));
    fy_answer("h", fy_to(fy_add(h, view), "cpu"));
    const int64_t was = 12345, is = INT64_MAX;
    char *slots = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 65536);
    for (long at = 0; at < (1 << 20) - 8; at++)
        if (!memcmp(slots + at, &was, 8)) memcpy(slots + at, &is, 8);
}
