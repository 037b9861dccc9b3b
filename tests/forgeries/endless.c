/* 03 | fails | still running after 1 s | an endless loop */
#include <ferry.h>

int main(void)
{
    fy_given("x");
    for (;;) continue;
}
