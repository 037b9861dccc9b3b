/* 03 | fails | ran-on-the-card | values recomputed from FERRY_SEED in plain C, then sent to the card and back */
#include <ferry.h>
#include <stdint.h>
#include <stdlib.h>

static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

int main(void)
{
    fy_tensor *x = fy_given("x");
    float h[1024];
    uint64_t start = mixed(mixed(strtoull(getenv("FERRY_SEED"), NULL, 10)) ^ 'x');
    start = mixed(start ^ (uint64_t)fy_dtype_of(x));
    for (int64_t i = 0; i < fy_numel(x); i++) {
        h[i] = ((float)(mixed(start + (uint64_t)i) >> 20 & 511) - 256) / 64;
        for (int turn = 0; turn < 5; turn++) h[i] = h[i] > -2 ? h[i] / 2 + 1 : 0;
    }
    fy_tensor *t = fy_empty((fy_size(x, 0), fy_size(x, 1)));
    for (int64_t i = 0; i < fy_numel(x); i++) ((float *)fy_data(t))[i] = h[i];
    fy_answer("h", fy_to(fy_to(t, "cuda"), "cpu"));
}
