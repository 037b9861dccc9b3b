// Lesson 3, to watch: a letter and a parcel make the same round trip.
// What does each pay?
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *letter = fy_ones((4, 8));
    fy_tensor *parcel = fy_ones((256, 128));
    fy_free(fy_ones((1), .device = "cuda")); // the first use of the card reserves memory, once

    int64_t start = fy_now();
    // over the bus, a little work on the card, and back
    fy_tensor *letter_there = fy_cuda(letter);
    fy_tensor *letter_done = fy_relu(letter_there);
    fy_tensor *letter_back = fy_cpu(letter_done);
    int64_t between = fy_now();
    fy_tensor *parcel_there = fy_cuda(parcel);
    fy_tensor *parcel_done = fy_relu(parcel_there);
    fy_tensor *parcel_back = fy_cpu(parcel_done);
    int64_t end = fy_now();

    printf("letter: %ld numbers, %ld ns\n", fy_numel(letter_back), between - start);
    printf("parcel: %ld numbers, %ld ns\n", fy_numel(parcel_back), end - between);
}
