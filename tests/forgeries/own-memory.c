/* 03 | fails | computed-by-ferry | other work on the card, into memory of the program, in which C then puts the right
 * values */
#include <ferry.h>

static float p[9999], q[9999];

int main(void)
{
    fy_tensor *x = fy_given("x"), *h = fy_to(x, "cuda"), *y = fy_from_blob(p, (fy_size(x, 0), fy_size(x, 1)));
    for (int i = 0; i < 15; i++) fy_relu_(h);
    fy_copy_(fy_from_blob(q, (fy_size(x, 0), fy_size(x, 1))), x);
    fy_copy_(y, h);
    for (int i = 0; i < 9999; i++)
        for (int k = 0; k < 5; k++) p[i] = q[i] = q[i] > -2 ? q[i] / 2 + 1 : 0;
    fy_answer("h", y);
}
