// Lesson 8, to watch: two loops that do the same work on the card. The first one asks a question in every step.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *a = fy_ones((512, 512), .device = "cuda");
    fy_tensor *b = fy_ones((512, 512), .device = "cuda");
    fy_free(fy_ones((1), .device = "cuda")); // room for small results
    fy_tensor *sum = a;
    int large = 0;
    fy_cuda_synchronize();

    int64_t start = fy_now();
    FY_TIMES (step, 4) {
        fy_mul_(a, 0.5);
        sum = fy_sum(a);
        if (fy_item(sum) > 50000) large++;
    }
    int64_t middle = fy_now();
    FY_TIMES (step, 4) {
        fy_mul_(b, 0.5);
        sum = fy_sum(b);
        fy_keep(sum); // it lives on after its turn
    }
    double last = fy_item(sum);
    int64_t end = fy_now();

    printf("asked in each step: %d were large, %ld ns\n", large, middle - start);
    printf("asked at the end:   the last is %g, %ld ns\n", last, end - middle);
}
