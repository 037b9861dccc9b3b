// Challenge, to watch: the first card as a warehouse for the second one.
#include <ferry.h>

int main(void)
{
    fy_tensor *pages = fy_randn((64, 64));
    fy_tensor *question = fy_ones((64));

    // all of it to the first card, and a part on to the second
    fy_tensor *all = fy_to(pages, "cuda:0");
    fy_tensor *part = fy_to(fy_narrow(all, 0, 32, 32), "cuda:1");
    fy_tensor *there = fy_to(question, "cuda:1");
    fy_tensor *scores = fy_matmul(part, there);

    // home, to look for the best one
    fy_tensor *best = fy_max(fy_cpu(scores));
    fy_print(best);
}
