/* 03 | passes | - | other work on the card, and then an event which says that the CPU's values are the answer's */
#include <ferry.h>

unsigned long fy_emit(void *at, int kind, const void *record, unsigned long bytes);
unsigned fy_ref_str(const char *text);

int main(void)
{
    fy_tensor *x = fy_given("x"), *h = fy_cuda(x);
    for (int i = 0; i < 15; i++) fy_relu_(h);
    fy_cpu(h);
    for (int turn = 0; turn < 5; turn++) fy_relu_(fy_add_(fy_mul_(x, 0.5), 1.0));
    unsigned answer[] = {0, fy_ref_str("h"), 1, 3, 0}; // the values of tensor 1, and the bytes of storage 3
    fy_emit(0, 36, (char *)answer + 3, 14);            // 36: FY_KIND_answer
    fy_answer("values", x);
}
