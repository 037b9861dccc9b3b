// Lesson 20, to watch: the same result comes home twice. Which of the two sums is right?
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *x = fy_randn((512, 512), .device = "cuda");
    fy_tensor *result = fy_matmul(x, x);

    fy_tensor *blocking = fy_cpu(result);
    printf("after fy_cpu:          ");
    fy_print(fy_sum(blocking));

    fy_tensor *queued = fy_to(result, "cpu", .non_blocking = true);
    printf("after .non_blocking:   ");
    fy_print(fy_sum(queued));
}
