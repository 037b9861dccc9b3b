/* measure_kernels.c: the kernels of tests/gpu/measure.c on the stand-in. */
#include <string.h>

#include "standin.h"
#include "measure.h"

void measure_nothing(cudaStream_t s) { standin_work(s); }

void measure_spin(int64_t cycles, cudaStream_t s)
{
    (void)cycles;
    standin_work(s);
}

void measure_copy(int words, void *to, const void *from, size_t bytes, cudaStream_t s)
{
    (void)words;
    memcpy(to, from, bytes);
    standin_work(s);
}
