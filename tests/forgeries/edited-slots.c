/* 03 | fails | ran-on-the-card | work on the CPU, whose slots in the mapped log are then made those of a card */
#include <ferry.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int fd;

__attribute__((constructor(101))) static void find_log(void) { fd = dup(atoi(getenv("FERRY_LOG_FD"))); }

int main(void)
{
    fy_tensor *h = fy_given("x");
    for (int turn = 0; turn < 5; turn++) h = fy_relu(fy_add(fy_mul(h, 0.5), 1.0));
    fy_answer("h", fy_to(fy_to(h, "cuda"), "cpu"));
    unsigned char *slots = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 65536);
    for (int i = 0; i < 1000; i++) { // an op of the host and its complete share a record, with no device in it
        unsigned short *kind = (unsigned short *)(slots + 64 * i);
        if (*kind == (12 | 1 << 15)) *kind = 12;
    }
}
