/* line 6 | semicolon is missing | every statement ends in ; */
#include <ferry.h>

int main(void)
{
    fy_tensor *b = fy_ones((2))

    // --- end ---

    /* two lines
     * of comment */
    fy_tensor *c = fy_relu(b);
    fy_print(c);
    return 0;
}
