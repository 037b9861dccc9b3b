/* line 6 | semicolon is missing | every statement ends in ; */
#include <ferry.h>

int main(void)
{
    fy_tensor *b = fy_ones((2)) // born; here
    // --- end ---
    fy_print(b);
    return 0;
}
