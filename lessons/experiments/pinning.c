/* pinning.c: is page-locked memory faster, and does non_blocking help? PyTorch's experiment: the same four tensors go
 * to the card in six ways. For each: how long the program waited, and when all copies were complete.
 *
 *     make experiments && build/experiments/pinning
 *     FERRY_VIEW=1 build/experiments/pinning          (the same, to watch)
 *     FERRY_SIM=laptop build/experiments/pinning      (on another card) */
#include <ferry.h>
#include <stdio.h>

enum { TENSORS = 4, NUMEL = 4 << 20 }; /* 16 MiB each */

static fy_tensor *there[TENSORS]; /* on the card, made beforehand: the six ways differ only in the copies */

static void send(const char *way, fy_tensor *const *from, bool pin_first, bool non_blocking)
{
    char note[48];
    snprintf(note, sizeof note, "demo: %s", way); /* intended: `ferry explain` reports none of them as waste */
    fy_cuda_empty_cache();                        /* an earlier way leaves no page-locked memory to reuse */
    fy_mark(note);
    FY_SCOPE
    {
        int64_t start = fy_now();
        for (int i = 0; i < TENSORS; i++)
            fy_copy_(there[i], pin_first ? fy_pin_memory(from[i]) : from[i], .non_blocking = non_blocking);
        int64_t returned = fy_now();
        fy_cuda_synchronize();
        int64_t arrived = fy_now();
        printf("%-28s program waited %8.1f us; complete after %8.1f us\n", way, (double)(returned - start) / 1e3,
               (double)(arrived - start) / 1e3);
    }
}

int main(void)
{
    fy_tensor *pageable[TENSORS], *pinned[TENSORS];
    for (int i = 0; i < TENSORS; i++) {
        pageable[i] = fy_full((NUMEL), (double)i);
        pinned[i] = fy_pin_memory(pageable[i]);
        there[i] = fy_zeros((NUMEL), .device = "cuda");
    }
    fy_cuda_synchronize();

    send("pageable", pageable, false, false);
    send("pageable, non_blocking", pageable, false, true);
    send("pinned", pinned, false, false);
    send("pinned, non_blocking", pinned, false, true);
    send("pin, then copy", pageable, true, false);
    send("pin, then copy, non_blocking", pageable, true, true);
}
