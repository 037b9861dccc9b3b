/* line 2 | no header 'torch.h' | #include <ferry.h> */
#include <torch.h>

int main(void)
{
    return 0;
}
