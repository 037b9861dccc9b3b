/* 03 | fails | log-is-possible | other work on the card, in place, and the right values written over the last ones */
#include <ferry.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int fd;

__attribute__((constructor(101))) static void find_log(void) { fd = dup(atoi(getenv("FERRY_LOG_FD"))); }

/* Wherever the log has the list or its beginning, at least so many. */
static void replace(char *log, long size, const double *was, const double *is, long n, long least)
{
    for (long at = 0; at <= size - 8 * n; at += 8) {
        long same = 0;
        while (same < n && !memcmp(log + at + 8 * same, was + same, 8)) same++;
        if (same >= least) memcpy(log + at, is, (size_t)(8 * same));
    }
}

int main(void)
{
    fy_tensor *x = fy_given("x"), *h = fy_to(x, "cuda"), *right = x;
    for (int turn = 0; turn < 5; turn++) fy_relu_(fy_add_(fy_mul_(h, 0.25), 2.0));
    for (int turn = 0; turn < 5; turn++) right = fy_relu(fy_add(fy_mul(right, 0.5), 1.0));
    h = fy_to(h, "cpu");
    fy_answer("h", h);
    long n = fy_numel(h), size = 1 << 20, arena = 65536 + (4L << 20) * 64 + 65536;
    double was[4096], is[4096];
    for (long i = 0; i < n; i++) was[i] = ((float *)fy_data(h))[i], is[i] = ((float *)fy_data(right))[i];
    replace(mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, arena), size, was, is, n, 4);
    double least[2] = {fy_item(fy_min(h)), fy_item(fy_min(right))},
           most[2] = {fy_item(fy_max(h)), fy_item(fy_max(right))};
    char *slots = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 65536);
    replace(slots, size, least, least + 1, 1, 1);
    replace(slots, size, most, most + 1, 1, 1);
}
