/* line 6 | named by text, not by a number | .device = "cuda:0" */
#include <ferry.h>

int main(void)
{
    fy_stream *s = fy_cuda_stream(.device=1);
    fy_stream_synchronize(s);
    return 0;
}
