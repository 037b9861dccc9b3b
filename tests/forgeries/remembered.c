/* 03 | fails | not with others | the first run's size kept in a file, and assumed in the second */
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    long rows = 0;
    fy_tensor *h = fy_to(fy_given("x"), "cuda");
    FILE *kept = fopen("rows", "a+");
    if (!kept) return 1;
    if (fscanf(kept, "%ld", &rows) != 1) fprintf(kept, "%ld", rows = fy_size(h, 0));
    fclose(kept);
    for (int turn = 0; turn < 5; turn++) h = fy_relu(fy_add(fy_mul(h, 0.5), rows == fy_size(h, 0) ? 1.0 : 2.0));
    fy_answer("h", fy_to(h, "cpu"));
}
