// Lesson 12, your turn: two steps that need much VRAM for a short time, on a card that you share.
//
// The values are right, and everything large is freed. But other programs on this card see that it is nearly
// full: from their point of view, nothing was returned. You may never hold more than 20 MiB of the card, and at
// the end no more than 2 MiB.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_cuda(fy_given("x")); // one column, of float64: 8 bytes each
    fy_tensor *many = fy_ones((1, 65536), .dtype = FY_FLOAT64, .device = "cuda");
    fy_tensor *more = fy_ones((1, 81920), .dtype = FY_FLOAT64, .device = "cuda");

    // --- your code ---
    // The segments are still in use when the cache is emptied: there is nothing to return.
    fy_tensor *wide = fy_matmul(x, many);
    fy_tensor *first = fy_mean(wide, (1));
    fy_cuda_empty_cache();
    fy_free(wide);
    fy_tensor *wider = fy_matmul(x, more);
    fy_tensor *second = fy_mean(wider, (1));
    fy_cuda_empty_cache();
    fy_free(wider);
    // --- end ---

    fy_answer("y", fy_add(first, second));
}
